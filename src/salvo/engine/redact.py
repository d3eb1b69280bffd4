"""Nothing secret reaches a disk, a log or an error message: everything on its way there passes a Redactor.

Redacting twice changes nothing, and JSON stays JSON, also where it stands as text inside JSON.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pydantic_core import from_json

from salvo.errors import UsageError

PLACEHOLDER = "[redacted]"

SHORTEST_SECRET = 8
"""Shorter values of secret-looking variables ("true", "1234") stand in too many innocent places."""

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:api_?key|key|token|secret|password|passwd|passphrase|credentials?|auth)s?(?:_|$)",
    re.IGNORECASE,
)

_CREDENTIAL_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie"}
)

# A key starts a word, or follows an escape such as \n where JSON stands as text inside JSON.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4}))"

# Every token character; and a run that is plainly words ("bearer instruments"), which is no token.
_TOKEN = r"[A-Za-z0-9._~+/=-]"  # noqa: S105 - a pattern for tokens, not one
_WORDS = rf"(?:[A-Z]?[a-z]{{0,18}}[./=-]?)+(?!{_TOKEN})"


class _KeyShape(NamedTuple):
    """What a kind of key looks like. Without one of its markers in a text, the pattern need not be tried.

    Each pattern is a fixed prefix and one greedy run, so that no text, however hostile, makes it slow.
    """

    markers: tuple[str, ...]
    pattern: str


_KEY_SHAPES = (
    _KeyShape(("sk-",), rf"{_START}sk-[A-Za-z0-9_-]{{8,}}"),  # OpenAI, Anthropic, OpenRouter, DeepSeek
    _KeyShape(("earer ", "EARER "), rf"(?i:{_START}bearer[ ]+)(?!{_WORDS}){_TOKEN}{{8,}}"),
    _KeyShape(("uthorization", "UTHORIZATION"), r"(?i:authorization[\\\"': =]{1,8}basic[ ]+)[A-Za-z0-9+/=]{4,}"),
    _KeyShape(("AKIA", "ASIA"), rf"{_START}A(?:KI|SI)A[0-9A-Z]{{16}}"),  # AWS
    _KeyShape(("AIza",), rf"{_START}AIza[0-9A-Za-z_-]{{30,}}"),  # Google
    _KeyShape(("ya29.",), rf"{_START}ya29\.[0-9A-Za-z_-]{{16,}}"),
    _KeyShape(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"{_START}gh[pousr]_[A-Za-z0-9]{{16,}}"),  # GitHub
    _KeyShape(("github_pat_",), rf"{_START}github_pat_[A-Za-z0-9_]{{16,}}"),
    _KeyShape(("glpat-",), rf"{_START}glpat-[A-Za-z0-9_-]{{16,}}"),  # GitLab
    _KeyShape(("xox",), rf"{_START}xox[abeoprs]-[A-Za-z0-9-]{{10,}}"),  # Slack
    _KeyShape(("sk_", "rk_", "whsec_"), rf"{_START}(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{{10,}}"),  # Stripe
    _KeyShape(("hf_",), rf"{_START}hf_[A-Za-z0-9]{{16,}}"),  # Hugging Face
    _KeyShape(("gsk_",), rf"{_START}gsk_[A-Za-z0-9]{{16,}}"),  # Groq
    _KeyShape(("xai-", "pplx-"), rf"{_START}(?:xai|pplx)-[A-Za-z0-9]{{16,}}"),
    _KeyShape(("r8_", "npm_"), rf"{_START}(?:r8|npm)_[A-Za-z0-9]{{16,}}"),  # Replicate, npm
    _KeyShape(("pypi-",), rf"{_START}pypi-[A-Za-z0-9_-]{{16,}}"),
    _KeyShape(("SG.",), rf"{_START}SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}"),  # SendGrid
    _KeyShape(("eyJ",), r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),  # JWT
    _KeyShape(("://",), r"(?<=://)[^/\s:@\"\\\[\]]{1,256}:[^/\s@\"\\\[\]]{1,256}(?=@)"),  # user:password@ of a URL
    _KeyShape(
        ("PRIVATE KEY-----",),
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!----))*"
        r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?",
    ),
)

_SHAPES = tuple((shape.markers, re.compile(shape.pattern)) for shape in _KEY_SHAPES)


_PLAIN_RUN = re.compile(r"[A-Za-z0-9_-]+")
_NESTINGS = 3


def secrets_of(environ: Mapping[str, str]) -> list[str]:
    """The values of the variables whose names look secret."""
    return [value for name, value in environ.items() if _SECRET_NAME.search(name)]


class Redactor:
    """Replaces what looks like a key, what is known to be secret, and what the user's own patterns match."""

    def __init__(self, secrets: Iterable[str] = (), patterns: Iterable[str] = ()) -> None:
        self._spellings = _spellings(secrets)
        self._patterns = [_compiled(pattern) for pattern in patterns]
        self._markers = [marker for markers, _ in _SHAPES for marker in markers]
        self._markers += {_plainest_run(spelling) for spelling in self._spellings}

    def text(self, text: str) -> str:
        """The text without its secrets."""
        # Only what stands between placeholders is looked at, again until nothing changes. So the text that is
        # left shrinks with every replacement: the loop ends, and redacting twice is redacting once.
        while (redacted := PLACEHOLDER.join(map(self._once, text.split(PLACEHOLDER)))) != text:
            text = redacted
        return text

    def json(self, value: Any) -> Any:
        """The JSON value without its secrets; the very same object where there was nothing to hide."""
        return self._walk(value)

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers, those that carry credentials without their value."""
        return {
            name: PLACEHOLDER if name.lower() in _CREDENTIAL_HEADERS else self.text(value)
            for name, value in headers.items()
        }

    def may_touch(self, serialised: str) -> bool:
        """A quick look at a JSON value's text before the long walk: False if there can be no secret in it."""
        return bool(self._patterns) or any(marker in serialised for marker in self._markers)

    def _once(self, text: str) -> str:
        for spelling in self._spellings:
            text = text.replace(spelling, PLACEHOLDER)
        for markers, shape in _SHAPES:
            if any(marker in text for marker in markers):
                text = shape.sub(PLACEHOLDER, text)
        for pattern in self._patterns:
            # A pattern that also matches nothing at all ("x*") must not put placeholders everywhere.
            text = pattern.sub(lambda match: PLACEHOLDER if match.group() else "", text)
        return text

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            clean = [self._walk(item) for item in value]
            return value if all(map(operator.is_, value, clean)) else clean
        if value is None or isinstance(value, bool):
            return value
        number = repr(value)
        return value if self.text(number) == number else PLACEHOLDER

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        for name, item in value.items():
            clean_name = self.text(name)
            while clean_name in clean:  # two secret names must not become one field
                clean_name += "'"
            clean[clean_name] = self._walk(item)
        same = list(value) == list(clean) and all(map(operator.is_, value.values(), clean.values()))
        return value if same else clean

    def _string(self, text: str) -> str:
        """A string is redacted as text, unless it is JSON itself: then inside, so that it stays JSON."""
        if not text.lstrip().startswith(("{", "[")):
            return self.text(text)
        try:
            nested = from_json(text)
        except ValueError:
            return self.text(text)
        clean = self._walk(nested)
        return text if clean is nested else json.dumps(clean, ensure_ascii=False)


def _spellings(secrets: Iterable[str]) -> list[str]:
    """Each secret as it is and as it looks inside JSON that stands as text in JSON; the longest first.

    The longest first, because a secret may contain another one.
    """
    found = {form for secret in secrets for form in (secret, secret.strip()) if len(form) >= SHORTEST_SECRET}
    found = {form for form in found if form.strip()}
    for _ in range(_NESTINGS):
        found |= {json.dumps(form, ensure_ascii=ascii_only)[1:-1] for form in found for ascii_only in (True, False)}
    return sorted(found, key=lambda form: (-len(form), form))


def _plainest_run(spelling: str) -> str:
    """The longest part of a secret that no JSON writer ever escapes."""
    return max(_PLAIN_RUN.findall(spelling), key=len, default="")


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as fault:
        raise UsageError(
            f"The redaction pattern {pattern!r} is not a regular expression: {fault}.",
            hint="Patterns are Python regular expressions; escape special characters with a backslash.",
        ) from fault
