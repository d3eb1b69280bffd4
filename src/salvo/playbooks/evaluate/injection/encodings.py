"""Find text in an encoding that a person does not read: base64, hexadecimal, escapes, shifted letters and others.

Only what decodes to readable words counts. Hashes, keys, identifiers and addresses do not.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from salvo.playbooks.evaluate.inputs import Span

MIN_WORDS = 3
_MAX_DECODED = 4000
"""Characters of a run that are decoded: enough to see whether it is readable."""


class Disguise(NamedTuple):
    plain: str
    """The sentence without its disguise."""
    always: bool
    """Nobody writes like this by accident, whatever it says."""


class EncodedSegment(NamedTuple):
    span: Span
    decoded: str
    """What it says, as far as it was decoded."""
    is_in_address: bool
    """It is a part of a web address, where spaces have to be encoded."""


def encoded_runs(text: str) -> Iterator[EncodedSegment]:
    """Yield each run of characters that decodes to readable words."""
    for pattern, needs, decode in _RUNS:
        if any(part in text for part in needs):
            for match in pattern.finditer(text):
                decoded = decode(match[0][:_MAX_DECODED])
                if decoded is not None and _is_prose(decoded):
                    yield EncodedSegment(Span(*match.span()), decoded, _is_in_address(text, match.start()))


def _is_in_address(text: str, start: int) -> bool:
    before = text[max(0, start - 300) : start + 30].split()
    return bool(before) and any(sign in before[-1] for sign in ("://", "www.", "mailto:", "]("))


def disguise(sentence: str, words: list[str]) -> Disguise | None:
    """Return how the plain sentence reads without its disguise, or None if it has none that is known."""
    if len(words) >= MIN_WORDS:
        shift = _letter_shift(words)
        if shift is not None:
            return Disguise(_shifted(sentence, shift), always=True)
        if _is_reversed(words):
            return Disguise(sentence[::-1], always=True)
    if len(sentence) > 2 * _MIN_SPACED and _SPACED.search(sentence):
        return Disguise(re.sub(r"(?<=\b\w)[ ._-](?=\w\b)", "", sentence), always=True)
    if _DIGITS_USED.search(sentence) and len(_DIGIT_IN_WORD.findall(sentence)) >= MIN_WORDS:
        return Disguise(sentence.translate(_DIGITS), always=False)
    return None


def _is_prose(text: str) -> bool:
    """Return whether these are readable words, in any language with Latin letters."""
    words = _WORD.findall(text)
    if len(words) < MIN_WORDS:
        return False
    printable = sum(character.isprintable() or character.isspace() for character in text)
    letters = sum(map(len, words))
    return printable >= 0.97 * len(text) and letters >= 0.6 * len(text) and letters <= 12 * len(words)


def _decoded_bytes(content: bytes) -> str | None:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        # A run that was cut may end within a character.
        return content[: error.start].decode("utf-8") if error.start > len(content) - 4 else None


def _from_base64(run: str) -> str | None:
    compact = re.sub(r"[\s>]+", "", run).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _decoded_bytes(base64.b64decode(compact[: len(compact) // 4 * 4]))
    except (binascii.Error, ValueError):
        return None


def _from_base32(run: str) -> str | None:
    compact = re.sub(r"[\s>]+", "", run).rstrip("=").upper()
    try:
        return _decoded_bytes(base64.b32decode(compact[: len(compact) // 8 * 8]))
    except (binascii.Error, ValueError):
        return None


def _from_base64_or_32(run: str) -> str | None:
    decoded = _from_base32(run) if _BASE32.fullmatch(run) else None
    return decoded if decoded and _is_prose(decoded) else _from_base64(run)


def _from_hex(run: str) -> str | None:
    compact = re.sub(r"0x|\\x|[^0-9a-fA-F]", "", run)
    return _decoded_bytes(bytes.fromhex(compact[: len(compact) // 2 * 2]))


def _from_binary(run: str) -> str | None:
    compact = re.sub(r"[^01]", "", run)
    return _decoded_bytes(bytes(int(compact[at : at + 8], 2) for at in range(0, len(compact) - 7, 8)))


def _from_codes(run: str) -> str | None:
    codes = [int(code) for code in re.findall(r"\d+", run)]
    return "".join(map(chr, codes)) if all(code in (9, 10, 13) or 32 <= code < 256 for code in codes) else None


def _from_percent(run: str) -> str | None:
    return _PERCENT.sub(lambda match: bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace"), run)


def _from_escapes(run: str) -> str | None:
    return _ESCAPE.sub(lambda match: chr(min(int(match["code"], 16), 0x10FFFF)), run)


def _from_entities(run: str) -> str | None:
    return html.unescape(run)


# Quantifiers are possessive, so that a megabyte of what a run consists of takes linear time.
_BASE32 = re.compile(r"[A-Z2-7=\s>]+")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})++")
_ESCAPE = re.compile(r"\\[uUx]\{?(?P<code>[0-9a-fA-F]{2,8})\}?")
_SOME_ESCAPES = r"(?:\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{2,6}\}|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]{2})"
_RUNS: tuple[tuple[re.Pattern[str], tuple[str, ...], Callable[[str], str | None]], ...] = (
    (
        re.compile(
            r"(?<![\w+/=%-])[A-Za-z0-9+/_-]{24,}+={0,6}+(?:[\s>]{1,8}[A-Za-z0-9+/_-]{8,}+={0,6}+(?![\w.,;:]))*+"
        ),
        ("",),
        _from_base64_or_32,
    ),
    (
        re.compile(r"(?<!\w)(?:0x)?[0-9a-fA-F]{2}(?:[ :,\n>-]{1,4}(?:0x)?[0-9a-fA-F]{2}(?!\w)){8,}+"),
        ("",),
        _from_hex,
    ),
    (re.compile(r"(?<!\w)[0-9a-fA-F]{32,}+(?!\w)"), ("",), _from_hex),
    (re.compile(r"(?<!\w)[01]{8}(?:[ \n>,]{0,4}[01]{8}){5,}+(?!\w)"), ("0",), _from_binary),
    (re.compile(r"(?<![\w.])\d{2,3}(?:[ ,;\n>]{1,4}\d{2,3}(?!\w)){12,}+"), ("0", "1"), _from_codes),
    (re.compile(r"(?:[\w.~!*'()-]{0,30}+%[0-9a-fA-F]{2}){4,}+[\w.~-]{0,30}+"), ("%",), _from_percent),
    (re.compile(rf"(?:{_SOME_ESCAPES}[ -\[\]-~]{{0,2}}){{6,}}+"), ("\\u", "\\x", "\\U"), _from_escapes),
    (re.compile(r"(?:&#(?:x[0-9a-fA-F]{1,6}|\d{1,7});[\w .,]{0,3}){6,}+"), ("&#",), _from_entities),
)

_WORD = re.compile(r"[^\W\d_]{2,}")
_FREQUENT_WORDS = """
the and this that with for not are you your must pass check checks every please text document evaluator instructions
ignore previous all result verdict assumes law before were review section client
"""
_FREQUENT = frozenset(_FREQUENT_WORDS.split())
"""Words that most instructions have, in English: enough to see that letters were shifted or reversed."""
_MIN_SPACED = 24
_REAL_WORDS = frozenset({"era", "ton", "wal"})
_SPACED = re.compile(rf"(?:(?<!\w)[a-z][ ._-]{{1,3}}+){{{_MIN_SPACED}}}")
_DIGITS_USED = re.compile(r"[a-z][013457]|[013457][a-z]")
_DIGIT_IN_WORD = re.compile(r"(?=[a-z0-9]*[a-z])(?=[a-z0-9]*[013457])(?<![\w.,-])[a-z]*[013457]+[a-z][a-z013457]*\b")
_DIGITS = str.maketrans("013457@$", "oieastas")


@cache
def _shifted_words() -> dict[str, int]:
    table: dict[str, int] = {}
    for shift in range(1, 26):
        for word in _FREQUENT:
            if len(word) > 2:
                table.setdefault(_shifted(word, 26 - shift), shift)
    return {word: shift for word, shift in table.items() if word not in _FREQUENT}


def _letter_shift(words: list[str]) -> int | None:
    """Return by how many letters the words were shifted (13 in rot13), if they were."""
    table = _shifted_words()
    counts: dict[int, int] = {}
    for word in words:
        shift = table.get(word)
        if shift is not None:
            counts[shift] = counts.get(shift, 0) + 1
    if not counts:
        return None
    shift = max(counts, key=lambda letter: counts[letter])
    return shift if counts[shift] >= 2 and counts[shift] * 6 >= len(words) and _FREQUENT.isdisjoint(words) else None


def _shifted(text: str, shift: int) -> str:
    return "".join(chr((ord(letter) - 97 + shift) % 26 + 97) if "a" <= letter <= "z" else letter for letter in text)


def _is_reversed(words: list[str]) -> bool:
    backwards = sum(word[::-1] in _FREQUENT and word not in _REAL_WORDS for word in words)
    return backwards >= 2 and backwards * 6 >= len(words) and _FREQUENT.isdisjoint(words)
