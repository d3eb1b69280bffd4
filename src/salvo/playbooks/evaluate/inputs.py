"""What is evaluated: the frozen AI output and what stood around it, normalised and fingerprinted."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

from salvo.engine.jsonio.canonical import escape_surrogates_in, jcs, sha256
from salvo.errors import InputError


class Span(NamedTuple):
    """A part of the AI output: code points of the normalised text, `end` exclusive."""

    start: int
    end: int


@dataclass(frozen=True)
class Inputs:
    """The texts, normalised: ends stripped, line ends made LF, nothing else. None is "not given"."""

    ai_output: str
    source_document: str | None = None
    prompt: str | None = None
    system_instructions: str | None = None
    raw_hashes: Mapping[str, str] | None = None
    """The sha256 of each text as it was given; None where that is not known any more."""

    @classmethod
    def of(
        cls,
        ai_output: str | bytes,
        source_document: str | bytes | None = None,
        prompt: str | bytes | None = None,
        system_instructions: str | bytes | None = None,
    ) -> Inputs:
        """From what was given: text, or the bytes of a file. An empty AI output is refused, an empty other is none."""
        given = {
            "ai_output": ai_output,
            "source_document": source_document,
            "prompt": prompt,
            "system_instructions": system_instructions,
        }
        texts = {name: _normalised(_text(name, content)) or None for name, content in given.items() if content}
        if not texts.get("ai_output"):
            raise InputError(
                "The AI output is empty: there is nothing to evaluate.",
                hint="Give the text that the AI wrote, as a file or on standard input.",
            )
        hashes = {name: sha256(_bytes(content)) for name, content in given.items() if content is not None}
        return cls(**texts, raw_hashes=hashes)  # type: ignore[arg-type]  # ai_output was just seen to be a text

    @property
    def texts(self) -> dict[str, str | None]:
        """Each named input, null where absent."""
        return {part.name: getattr(self, part.name) for part in fields(self) if part.name != "raw_hashes"}

    @cached_property
    def fingerprint(self) -> str:
        """RFC 8785 over the named inputs, null where absent."""
        return sha256(jcs(escape_surrogates_in(self.texts)))

    def line_of(self, offset: int) -> int:
        """The line of the AI output that an offset is in, from 1."""
        return bisect_left(self._line_ends, offset) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.ai_output)]


NAMES: Mapping[str, str] = {
    "ai_output": "The AI output",
    "source_document": "The source document",
    "prompt": "The prompt",
    "system_instructions": "The system instructions",
}


def _text(name: str, content: str | bytes) -> str:
    if isinstance(content, str):
        return content
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InputError(
            f"{NAMES[name]} is not UTF-8: byte {fault.start} (0x{content[fault.start]:02x}) does not belong there.",
            hint="Save it as UTF-8 and try again.",
        ) from fault


def _normalised(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content


def of_document(document: Mapping[str, Any]) -> Inputs:
    """From what a store kept: texts that were normalised when they came in."""
    return Inputs(**{part.name: document.get(part.name) for part in fields(Inputs)})  # type: ignore[arg-type]  # as stored
