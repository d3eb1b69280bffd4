"""Remove secrets from everything that is stored, logged or put into an error message.

Redacting twice changes nothing, and JSON stays JSON, also where it is text inside JSON.
"""

from __future__ import annotations

import json
import operator
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from salvo.engine.jsonio.canonical import stable_text
from salvo.engine.runtime.credentials import looks_secret
from salvo.errors import InputError, UsageError

PLACEHOLDER = "[redacted]"

SHORTEST_SECRET = 8
"""Shorter values of secret-looking variables ("true", "1234") occur in too many harmless places."""

_CUT = "…"
"""What a message has where a long text was cut, which may have been in the middle of a secret."""
_ESCAPED_CUT = r"\u2026"
_SHORTEST_PART = 4
"""Characters of a secret beside a cut that are redacted, too."""
_LONGEST_CUT_TEXT = 20_000
"""A text with a cut is a message. In a longer one, the cuts are those of somebody else."""

# These headers come with every reply and never contain a secret, so they are not searched.
_PLAIN_HEADERS = frozenset({"content-type", "anthropic-version", "request-id", "x-request-id", "retry-after"})

CREDENTIAL_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie"}
)
_CREDENTIAL_FIELDS = ("authorization", "api-key", "cookie")

# A key starts a word, or follows an escape such as \n in JSON that is text inside JSON.
_ESCAPED = r"(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4})"
_START = rf"(?:(?<![A-Za-z0-9])|{_ESCAPED})"

# The characters of a token; and runs of plain words ("bearer instruments"), which are not tokens.
_TOKEN = r"[A-Za-z0-9._~+/=-]"  # noqa: S105 - a pattern for tokens, not one
_WORD = r"(?:[A-Z]?[a-z]{1,18}|[A-Z]{1,19})"
_WORDS = rf"{_WORD}(?:[./=-]{_WORD})*+[./=-]*+(?!{_TOKEN})"

# The ends of a short private value: next to no letter or digit, apart from an escape such as \n.
_WORD_START = rf"(?:(?<![^\W_])|{_ESCAPED})"
_WORD_END = r"(?![^\W_])"

# Between a header's name and its value, also in JSON and in code.
_COLON = r"[\\\"' ]{0,8}:[\\\"' ]{0,8}"


class _KeyShape(NamedTuple):
    """A kind of key. The pattern is tried only in a text that contains one of the markers.

    Each pattern is a bounded prefix and greedy runs that cannot be split in two ways or begin inside one another, and
    it matches a whole run. So no text, however hostile, makes it slow.
    """

    kind: str
    markers: tuple[str, ...]
    pattern: str


_KEY_SHAPES = (
    _KeyShape("an API key (sk-…)", ("sk-",), rf"{_START}sk-[A-Za-z0-9_-]{{8,}}"),
    _KeyShape("a bearer token", ("earer ", "EARER "), rf"(?i:{_START}bearer[ ]+)(?!{_WORDS}){_TOKEN}{{8,}}"),
    _KeyShape(
        "a password for HTTP",
        ("uthorization", "UTHORIZATION"),
        r"(?i:authorization[\\\"': =]{1,8}basic[ ]+)[A-Za-z0-9+/=]{4,}",
    ),
    _KeyShape(
        "a credential header",
        ("uthorization", "UTHORIZATION", "pi-key", "pi-Key", "PI-Key", "PI-KEY"),
        rf"(?i:{_START}(?:(?:proxy-)?authorization|(?:x-)?(?:goog-)?api-key){_COLON}(?:[a-z]{{1,16}}[ ])?)"
        rf"(?!{_WORDS}){_TOKEN}{{8,}}",
    ),
    _KeyShape(
        "a cookie", ("ookie", "OOKIE"), rf"(?i:{_START}(?:set-)?cookie{_COLON})[A-Za-z0-9_.-]{{1,64}}={_TOKEN}{{4,}}"
    ),
    _KeyShape("an AWS access key", ("AKIA", "ASIA"), rf"{_START}A(?:KI|SI)A[0-9A-Z]{{16,}}"),
    _KeyShape("a Google API key", ("AIza",), rf"{_START}AIza[0-9A-Za-z_-]{{30,}}"),
    _KeyShape("a Google access token", ("ya29.",), rf"{_START}ya29\.[0-9A-Za-z_-]{{16,}}"),
    _KeyShape("a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"{_START}gh[pousr]_[A-Za-z0-9]{{16,}}"),
    _KeyShape("a GitHub token", ("github_pat_",), rf"{_START}github_pat_[A-Za-z0-9_]{{16,}}"),
    _KeyShape("a GitLab token", ("glpat-",), rf"{_START}glpat-[A-Za-z0-9_-]{{16,}}"),
    _KeyShape("a Slack token", ("xox",), rf"{_START}xox[abeoprs]-[A-Za-z0-9-]{{10,}}"),
    _KeyShape("a Stripe key", ("sk_", "rk_", "whsec_"), rf"{_START}(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{{10,}}"),
    _KeyShape("a Hugging Face token", ("hf_",), rf"{_START}hf_[A-Za-z0-9]{{16,}}"),
    _KeyShape("a Groq key", ("gsk_",), rf"{_START}gsk_[A-Za-z0-9]{{16,}}"),
    _KeyShape("an API key (xai-… or pplx-…)", ("xai-", "pplx-"), rf"{_START}(?:xai|pplx)-[A-Za-z0-9]{{16,}}"),
    _KeyShape("a Replicate or npm token", ("r8_", "npm_"), rf"{_START}(?:r8|npm)_[A-Za-z0-9]{{16,}}"),
    _KeyShape("a PyPI token", ("pypi-",), rf"{_START}pypi-[A-Za-z0-9_-]{{16,}}"),
    _KeyShape("a SendGrid key", ("SG.",), rf"{_START}SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}"),
    _KeyShape(
        "a JSON Web Token",
        ("eyJ",),
        rf"(?:(?<![A-Za-z0-9_-])|{_ESCAPED})eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}",
    ),
    _KeyShape(
        "a password in a URL",
        ("://", r":\/\/"),
        r"(?:(?<=://)|(?<=:\\/\\/))[^/\s:@\"\\\[\]]{0,256}:[^/\s\"\\\[\]]{1,256}(?=@)",
    ),
    _KeyShape(
        "a private key",
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]++|-(?!----))*+"
        r"(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
)

# Escapes in JSON that is text inside JSON.
_NESTED_ESCAPES = (r"\\u", r"\\/")

_COMMON_PARTS = ("k_", "gh", "pi-", "PI-K", r"\\")
"""Parts that several markers share. A text without the part has none of these markers."""

_PLAIN_RUN = re.compile(r"[A-Za-z0-9_.:@-]+")
_NESTINGS = 3
_MAX_DEPTH = 25_000

_Walk: TypeAlias = Generator[Any, Any, Any]
"""A generator that yields the parts of a value, receives each part redacted, and returns the redacted value."""


def environment_secrets(environ: Mapping[str, str]) -> list[str]:
    """Return the values of the variables whose names look secret."""
    return [value for name, value in environ.items() if looks_secret(name)]


class KeyFinding(NamedTuple):
    """What looks like a key in a text; line and column count from 1."""

    kind: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.kind} at line {self.line}, column {self.column}"


def find_keys(text: str) -> list[KeyFinding]:
    """Return what looks like a key, at most one per position, in the order of the text, and never its value."""
    kinds: dict[int, str] = {}
    for shape in _KEY_SHAPES:
        if any(marker in text for marker in shape.markers):
            for match in re.finditer(shape.pattern, text):
                kinds.setdefault(match.start(), shape.kind)
    findings, line, line_start, position = [], 1, 0, 0
    for start in sorted(kinds):
        line += text.count("\n", position, start)
        line_start = max(line_start, text.rfind("\n", position, start) + 1)
        position = start
        findings.append(KeyFinding(kinds[start], line, start - line_start + 1))
    return findings


def _grouped(markers: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Return the markers by a part that each of a group contains. Most texts contain few of these parts."""
    groups: dict[str, list[str]] = {}
    for marker in markers:
        part = next((part for part in _COMMON_PARTS if part in marker), marker)
        groups.setdefault(part, []).append(marker)
    return list(groups.items())


class Redactor:
    """Replaces what looks like a key, known secrets, private values, and matches of the user's patterns."""

    def __init__(self, secrets: Iterable[str] = (), patterns: Iterable[str] = ()) -> None:
        spellings = _spellings(secrets)
        # Each rule has a marker, and replaces secrets by placeholders in a text that contains the marker.
        self._rules: list[tuple[str, Callable[[str], str]]] = [
            *((form, operator.methodcaller("replace", form, PLACEHOLDER)) for form in spellings),
            # `re` compiles a key shape at its first use; most of them never occur.
            *(
                (marker, partial(re.sub, shape.pattern, PLACEHOLDER))
                for shape in _KEY_SHAPES
                for marker in shape.markers
            ),
            # A pattern such as "x*" matches nothing everywhere, which stays nothing.
            *(("", partial(_compiled(pattern).sub, lambda m: m.group() and PLACEHOLDER)) for pattern in patterns),
        ]
        self._set_cut_secrets([(form, PLACEHOLDER) for form in spellings])
        # Of each secret the longest part that no JSON writer escapes.
        markers = {max(_PLAIN_RUN.findall(form), key=len, default="") for form in spellings}
        self._markers = markers.union(_NESTED_ESCAPES, (marker for marker, _ in self._rules[len(spellings) :]))
        self._marker_groups = _grouped(self._markers)
        self._placeholders = re.compile(f"({re.escape(PLACEHOLDER)})")

    def _set_cut_secrets(self, secrets: list[tuple[str, str]]) -> None:
        """Set the secrets, each with its placeholder, of which a message that was cut may have a part."""
        self._cut_secrets = secrets
        parts = {part for form, _ in secrets for part in (form[:_SHORTEST_PART], form[-_SHORTEST_PART:])}
        # As above: what no JSON writer escapes.
        self._cut_markers = {max(_PLAIN_RUN.findall(part), key=len, default="") for part in parts}

    def with_private(self, private: Mapping[str, Iterable[str]]) -> Redactor:
        """Return a redactor that also replaces these values, each by a placeholder with its name."""
        return _PrivateRedactor(self, private)

    def text(self, text: str) -> str:
        # Each rule sees only the text between placeholders, and all rules run again until nothing changes. The rest
        # shrinks with every replacement, so the loop ends, and redacting twice changes nothing.
        while (redacted := self._once(text)) != text:
            text = redacted
        return text

    def json(self, value: Any) -> Any:
        """Return the JSON value without its secrets; the same object where there are none."""
        # Most values have none, and searching their text is much faster than the walk.
        return self._walked(value) if self.may_touch(stable_text(value)) else value

    def _walked(self, value: Any) -> Any:
        # No recursion, because deeply nested JSON must be storable too.
        walks = [self._walk(value)]
        clean: Any = None
        while walks:
            try:
                part = walks[-1].send(clean)
            except StopIteration as finished:
                walks.pop()
                clean = finished.value
            else:
                if len(walks) == _MAX_DEPTH:
                    raise InputError("This value cannot be stored: it is nested too deeply, or it contains itself.")
                walks.append(self._walk(part))
                clean = None
        return clean

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers, with placeholders for credentials."""
        return {name: value if name in _PLAIN_HEADERS else self._header(name, value) for name, value in headers.items()}

    def _header(self, name: str, value: str) -> str:
        return PLACEHOLDER if name.lower() in CREDENTIAL_HEADERS else self.text(value)

    def may_touch(self, serialised: str) -> bool:
        """Return False where the text of a JSON value surely contains no secret. This is much faster than the walk."""
        for part, markers in self._marker_groups:
            if part in serialised and any(marker in serialised for marker in markers):
                return True
        if _CUT not in serialised and _ESCAPED_CUT not in serialised:
            return False
        return any(marker in serialised for marker in self._cut_markers)

    def _once(self, text: str) -> str:
        for marker, hide in self._rules:
            if marker in text:
                parts = self._placeholders.split(text)
                parts[::2] = map(hide, parts[::2])
                text = "".join(parts)
        return self._without_parts(text) if _CUT in text and len(text) <= _LONGEST_CUT_TEXT else text

    def _without_parts(self, text: str) -> str:
        """Return the text without the parts of secrets that are left where it was cut."""
        first, *others = text.split(_CUT)
        pieces = [first]
        for piece in others:
            pieces[-1] = self._without_beginning(pieces[-1])
            pieces.append(self._without_end(piece))
        return _CUT.join(pieces)

    def _without_beginning(self, text: str) -> str:
        """Return the text without the beginning of a secret at its end."""
        for form, placeholder in self._cut_secrets:
            start = text.find(form[:_SHORTEST_PART], max(0, len(text) - len(form) + 1))
            while start >= 0:
                if form.startswith(text[start:]):
                    return text[:start] + placeholder
                start = text.find(form[:_SHORTEST_PART], start + 1)
        return text

    def _without_end(self, text: str) -> str:
        """Return the text without the end of a secret at its beginning."""
        for form, placeholder in self._cut_secrets:
            end = text.rfind(form[-_SHORTEST_PART:], 0, len(form) - 1)
            while end >= 0:
                if form.endswith(text[: end + _SHORTEST_PART]):
                    return placeholder + text[end + _SHORTEST_PART :]
                end = text.rfind(form[-_SHORTEST_PART:], 0, end + _SHORTEST_PART - 1)
        return text

    def _walk(self, value: Any) -> _Walk:
        if isinstance(value, str):
            return (yield from self._string(value))
        if isinstance(value, dict):
            return (yield from self._object(value))
        if isinstance(value, list):
            return (yield from self._list(value))
        return value if value is None or isinstance(value, bool) else self._number(value)

    def _list(self, value: list[Any]) -> _Walk:
        clean = list(value)
        for index, item in enumerate(value):
            clean[index] = yield item
        return value if all(map(operator.is_, value, clean)) else clean

    def _object(self, value: dict[str, Any]) -> _Walk:
        clean: dict[str, Any] = {}
        duplicates: Counter[str] = Counter()
        for name, item in value.items():
            clean_name = yield name
            while clean_name in clean:  # two secret names must not become one field
                duplicates[clean_name] += 1
                numbered = f"{clean_name}{duplicates[clean_name] + 1}"
                clean_name = numbered if self.text(numbered) == numbered else clean_name + PLACEHOLDER
            clean[clean_name] = PLACEHOLDER if self._is_credential(name, item) else (yield item)
        same = list(value) == list(clean) and all(map(operator.is_, value.values(), clean.values()))
        return value if same else clean

    def _string(self, text: str) -> _Walk:
        """Redact a string as text; if it is JSON, redact the values inside, so that it stays JSON."""
        if not text.lstrip().startswith(("{", "[", '"')):
            return self.text(text)
        try:
            nested = json.loads(text)
            clean = yield nested
            # In the form of our own writer: a stored result that is written again must not change.
            redacted = text if clean is nested else json.dumps(clean, ensure_ascii=False, separators=(",", ":"))
        except (ValueError, RecursionError):
            redacted = self.text(text)
            return text if redacted == text else (yield redacted)  # without the secret it may be JSON
        # A secret may be JSON itself, or be under a duplicate name, which the parser drops.
        return redacted if self.text(redacted) == redacted else json.dumps(PLACEHOLDER)

    def _number(self, value: Any) -> Any:
        try:
            number = repr(value)
        except ValueError:  # an integer of thousands of digits
            return value
        return value if self.text(number) == number else PLACEHOLDER

    def _is_credential(self, name: Any, value: Any) -> bool:
        """Return whether the field is a header whose value would be hidden in a line of text."""
        if not isinstance(name, str) or not name.lower().endswith(_CREDENTIAL_FIELDS):
            return False
        header = f"{name}: {value}"
        return isinstance(value, str) and value != PLACEHOLDER and self.text(header) != header


class _PrivateRedactor(Redactor):
    """Replaces private values as well. A value that is shorter than a secret is replaced only as a whole word."""

    def __init__(self, redactor: Redactor, private: Mapping[str, Iterable[str]]) -> None:
        vars(self).update(vars(redactor))
        rules: list[tuple[str, Callable[[str], str]]] = []
        placeholders = [PLACEHOLDER]
        cut_secrets = []
        for name, values in private.items():
            placeholder = private_placeholder(name)
            placeholders.append(placeholder)
            for form in _spellings(values, shortest=1):
                is_long = len(form) >= SHORTEST_SECRET
                pattern = re.escape(form) if is_long else rf"{_WORD_START}{re.escape(form)}{_WORD_END}"
                rules.append((form, partial(re.compile(pattern).sub, placeholder)))
                if is_long:
                    cut_secrets.append((form, placeholder))
        # The longest first, as one value may contain another.
        rules.sort(key=lambda rule: -len(rule[0]))
        self._rules = [*rules, *self._rules]
        self._set_cut_secrets([*cut_secrets, *self._cut_secrets])
        self._markers = {*self._markers, *(max(_PLAIN_RUN.findall(form), key=len, default="") for form, _ in rules)}
        self._marker_groups = _grouped(self._markers)
        self._placeholders = re.compile(f"({'|'.join(map(re.escape, placeholders))})")


def private_placeholder(name: str) -> str:
    """Return what stands for a private value: what is judged can then tell the values of two columns apart."""
    return f"{PLACEHOLDER[:-1]}: {re.sub(r'[^A-Za-z0-9_ -]', '_', name)}]"


def _spellings(secrets: Iterable[str], *, shortest: int = SHORTEST_SECRET) -> list[str]:
    """Return each secret as it is and inside nested JSON text; the longest first, as one may contain another."""
    forms = {form for secret in secrets for form in (secret, secret.strip(), secret.strip().strip("\"'"))}
    spellings = {form for form in forms if len(form) >= shortest and form.strip()}
    for _ in range(_NESTINGS):
        escaped = {
            json.dumps(form, ensure_ascii=only_ascii)[1:-1] for form in spellings for only_ascii in (True, False)
        }
        spellings |= escaped | {form.replace("/", r"\/") for form in escaped}  # some writers escape slashes
    return sorted(spellings, key=lambda form: (-len(form), form))


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"The redaction pattern {pattern!r} is not a regular expression: {error}.",
            hint="Patterns are Python regular expressions; escape special characters with a backslash.",
        ) from error
