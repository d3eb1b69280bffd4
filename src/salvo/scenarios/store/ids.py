"""The ids of runs and batches: which texts are valid, and which stored id a user means.

A user gives a whole id, any unique beginning of one, `latest`, or `latest~1` for the one before that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from salvo.engine.text.formatting import pluralize
from salvo.errors import AmbiguousIdError, UnknownIdError

LATEST = "latest"
SCORE_PREFIX = "score-"
"""Every id of a scoring begins with it, so that it is never mistaken for that of a batch."""
JUDGING_PREFIX = "judging-"
"""With the id of a batch behind it, it names the judgings of its runs."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_RUN_ID = re.compile(r"(?P<batch>.+)-(?P<number>\d{4,})")
_LATEST = re.compile(rf"{LATEST}(?:~(?P<back>\d{{1,9}}))?")
_CANDIDATES = 5


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def is_run_id(text: str) -> bool:
    return is_id(text) and _RUN_ID.fullmatch(text) is not None


def make_run_id(batch_id: str, number: int) -> str:
    return f"{batch_id}-{number:04d}"


def split_run_id(text: str) -> tuple[str, int]:
    """Return batch and number, by which runs are sorted: the 10,000th comes after the 9,999th."""
    batch_id, _, number = text.rpartition("-")
    return batch_id, int(number)


def steps_before_latest(text: str) -> int | None:
    """Return 0 for `latest` and 2 for `latest~2`; None for every other text."""
    match = _LATEST.fullmatch(text)
    return int(match["back"] or 0) if match else None


def checked_id(text: str, what: str) -> str:
    """Return an id if it is valid. It becomes part of a path, and may come from anywhere."""
    if not is_id(text):
        raise UnknownIdError(f"{text!r} is not the id of a {what}.", hint=f"`salvo report` lists every {what}.")
    return text


def describe_work(held_id: str) -> str:
    """Return what the process does that holds an id of a batch, a scoring or judgings."""
    if held_id.startswith(JUDGING_PREFIX):
        return f"The runs of the batch {held_id.removeprefix(JUDGING_PREFIX)} are being judged again"
    if held_id.startswith(SCORE_PREFIX):
        return f"The runs of {held_id} are being scored"
    return f"The runs of the batch {held_id} are being made"


def nth_newest(newest_first: Sequence[str], back: int, what: str) -> str:
    """Return the id that `latest~back` means, of these ids."""
    if back < len(newest_first):
        return newest_first[back]
    raise too_few(len(newest_first), back, what)


def too_few(stored: int, back: int, what: str) -> UnknownIdError:
    """Return the error that `latest~back` does not exist."""
    if not stored:
        return UnknownIdError(f"No {what} is stored yet.", hint="Create one with `salvo run`.")
    many = pluralize(stored, what, f"{what}es" if what.endswith("ch") else f"{what}s")
    return UnknownIdError(
        f"There is no {LATEST}~{back}: only {many} {'is' if stored == 1 else 'are'} stored.",
        hint=f"The oldest is {LATEST}~{stored - 1}." if stored > 1 else f"Use {LATEST}.",
    )


def only_match(text: str, what: str, ids: list[str]) -> str:
    """Return the id that equals the text, or the only one that begins with it."""
    if text in ids:
        return text
    if not ids:
        raise too_few(0, 0, what)
    matching = [item for item in ids if item.startswith(text)] if text else []
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise AmbiguousIdError(
            f"{len(matching)} of the stored ids begin with {text!r}.", hint=f"Which {what}? {_join(matching)}"
        )
    near = get_close_matches(text, ids, _CANDIDATES) or ids[: -_CANDIDATES - 1 : -1]
    raise UnknownIdError(f"No {what} has an id that begins with {text!r}.", hint=f"The nearest: {_join(near)}")


def _join(ids: list[str]) -> str:
    more = len(ids) - _CANDIDATES
    return ", ".join(ids[:_CANDIDATES]) + (f" and {more} more." if more > 0 else ".")
