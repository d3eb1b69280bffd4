"""The rate limits that providers state in the headers of their replies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from salvo.records import record

_KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
_FIELDS = ("limit", "remaining", "reset")

RATE_HEADERS = (
    *(f"x-ratelimit-{field}-{kind}" for kind in ("requests", "tokens") for field in _FIELDS),
    *(f"anthropic-ratelimit-{kind}-{field}" for kind in _KINDS for field in _FIELDS),
)
"""Those of OpenAI, which most compatible servers use too, and of Anthropic."""

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@record
class Headroom:
    """The limit that is closest to being reached."""

    share: float
    """The part of it that is left, from 0 to 1."""
    reset_seconds: float | None
    """In how many seconds all of it is available again."""


def read_headroom(headers: Mapping[str, str], now: datetime) -> Headroom | None:
    """Return the limit with the smallest part left; None where the headers state none that can be read."""
    limits = [
        *(_read(headers, {field: f"x-ratelimit-{field}-{kind}" for field in _FIELDS}, now) for kind in _KINDS[:2]),
        *(_read(headers, {field: f"anthropic-ratelimit-{kind}-{field}" for field in _FIELDS}, now) for kind in _KINDS),
    ]
    return min((limit for limit in limits if limit is not None), key=lambda limit: limit.share, default=None)


def _read(headers: Mapping[str, str], names: Mapping[str, str], now: datetime) -> Headroom | None:
    limit, remaining = (_count(headers.get(names[field], "")) for field in ("limit", "remaining"))
    if not limit or remaining is None:
        return None
    return Headroom(min(1.0, remaining / limit), _seconds(headers.get(names["reset"], ""), now))


def _count(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else None


def _seconds(text: str, now: datetime) -> float | None:
    """Return the seconds until a reset, which is given as 6m0s, as 20ms, as a number or as a time."""
    if re.fullmatch(rf"(?:{_DURATION.pattern}){{1,5}}", text):
        return sum(float(number) * _SECONDS[unit] for number, unit in _DURATION.findall(text))
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", text):
        return float(text)
    try:
        until = datetime.fromisoformat(text)
    except ValueError:
        return None
    return max(0.0, (until - now).total_seconds()) if until.tzinfo is not None else None
