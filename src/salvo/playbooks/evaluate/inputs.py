"""The texts of an evaluation: the frozen AI output and its context, normalised and fingerprinted."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import PurePath
from typing import Any, NamedTuple

from salvo.engine.jsonio import surrogates
from salvo.engine.jsonio.canonical import escape_surrogates_in, jcs, sha256
from salvo.engine.runtime.redact import find_keys
from salvo.engine.sandbox.outline.items import OutlineItem, from_rows, to_rows
from salvo.engine.sandbox.outline.text import text_outline
from salvo.errors import InputError
from salvo.playbooks.evaluate.positions import DocumentPosition, PositionFinder

_TEXT_SUFFIXES = (".txt", ".md")


def key_warning(name: str, text: str) -> str | None:
    """Return a warning if a text seems to hold credentials: texts are evaluated as they are, not redacted."""
    findings = find_keys(_with_line_feeds(text))
    if not findings:
        return None
    keys = "; ".join(map(str, findings[:_MAX_KEYS]))
    others = f"; and {len(findings) - _MAX_KEYS} more" if len(findings) > _MAX_KEYS else ""
    return f"{name} may contain {keys}{others}. Texts are not redacted: remove it if it is real."


def key_warnings(texts: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return a warning for each input that seems to hold credentials. Blocks, because texts may be long."""
    warnings = (key_warning(NAMES[name], text) for name, text in texts.items() if text)
    return tuple(warning for warning in warnings if warning)


_MAX_KEYS = 3
"""Findings that a warning lists."""


TEXT_ESCAPE = 2
"""The version of the rule by which texts that UTF-8 cannot hold are fingerprinted."""


class Span(NamedTuple):
    """A part of the AI output: code points of the normalised text, `end` exclusive."""

    start: int
    end: int


class SourceFile(NamedTuple):
    """What a report says about the file that a text was read from."""

    sha256: str
    """Of its bytes."""
    notices: tuple[str, ...] = ()
    """What was assumed when it was read, and what of it is not part of the text."""
    name: str = ""
    """Without its folder; empty if it is not known."""
    pages: int | None = None
    """None if the format has no pages, or it is not known."""
    outline: tuple[OutlineItem, ...] = ()
    """Its headings, paragraphs, lists, tables and pages, if its format states them: offsets into its text."""


def _outline(file: SourceFile | None, text: str, normalised: str) -> tuple[OutlineItem, ...]:
    """Return what the file of the AI output states about its structure: offsets into the normalised text.

    The paragraphs of a text file are counted. A single paragraph is not worth naming.
    """
    if file is None:
        return ()
    suffix = PurePath(file.name).suffix.lower()
    if file.outline or suffix not in _TEXT_SUFFIXES:
        return file.outline if normalised == text else ()
    outline = text_outline(normalised, markdown=suffix == ".md")
    return outline if len(outline) > 1 else ()


@dataclass(frozen=True)
class Inputs:
    """The texts, normalised: ends stripped, line ends changed to LF, nothing else. None means "not given"."""

    ai_output: str
    source_document: str | None = None
    prompt: str | None = None
    system_instructions: str | None = None
    raw_hashes: Mapping[str, str] | None = None
    """The sha256 of each text before normalisation, or of the file that it is from; None if it is no longer known."""
    text_escape: int = TEXT_ESCAPE
    """How lone surrogates were escaped for the fingerprint: 1 in evaluations of earlier versions."""
    notices: tuple[str, ...] = ()
    """What was assumed when the files were read, and what of them is not part of the texts."""
    outline: tuple[OutlineItem, ...] = ()
    """The structure of the file that the AI output was read from. It is beside the text, and not part of what is judged
    or fingerprinted."""

    @classmethod
    def from_texts(
        cls,
        ai_output: str,
        source_document: str | None = None,
        prompt: str | None = None,
        system_instructions: str | None = None,
        *,
        files: Mapping[str, SourceFile] | None = None,
    ) -> Inputs:
        """Normalise texts. An empty AI output is an error, another empty input is absent.

        `files` are those that texts were read from, by the name of the input.
        """
        files = files or {}
        contents = dict(zip(NAMES, (ai_output, source_document, prompt, system_instructions), strict=True))
        texts = {name: _normalised_text(content) or None for name, content in contents.items() if content}
        if not texts.get("ai_output"):
            raise InputError(
                "The AI output is empty: there is nothing to evaluate.",
                hint="Give the text that the AI wrote, as a file or on standard input.",
            )
        hashes = {
            name: files[name].sha256 if name in files else sha256(content.encode("utf-8", "surrogatepass"))
            for name, content in contents.items()
            if content is not None
        }
        notices = tuple(notice for name in NAMES if name in files for notice in files[name].notices)
        outline = _outline(files.get("ai_output"), ai_output, texts["ai_output"] or "")
        return cls(**texts, raw_hashes=hashes, notices=notices, outline=outline)  # type: ignore[arg-type]  # ai_output was checked above

    @classmethod
    def from_stored(cls, document: Mapping[str, Any]) -> Inputs:
        """Return the inputs of a store, which were normalised before."""
        stored = {part.name: document.get(part.name) for part in fields(cls)}
        escape = TEXT_ESCAPE if "text_escape" in document else 1
        notices = tuple(map(str, document.get("notices") or ())) if isinstance(document.get("notices"), list) else ()
        outline = from_rows(document.get("outline") or (), len(document["ai_output"]))
        return cls(**{**stored, "text_escape": escape, "notices": notices, "outline": outline})  # type: ignore[arg-type]  # as stored

    @property
    def document(self) -> dict[str, Any]:
        """Return what a store keeps."""
        document = {part.name: getattr(self, part.name) for part in fields(self)}
        outline = to_rows(document.pop("outline"))
        return {**document, "outline": outline} if outline else document

    @property
    def texts(self) -> dict[str, str | None]:
        """Return every input by name, None if it is absent."""
        return {name: getattr(self, name) for name in NAMES}

    @cached_property
    def fingerprint(self) -> str:
        """Return the hash of the named inputs in canonical form (RFC 8785), null for absent ones.

        If a text had to be escaped, the version of the escaping is hashed too, so that the fingerprint is different
        from every one of an earlier version, in which a lone surrogate and its escaped form were the same.
        """
        if self.text_escape == 1:
            return sha256(jcs(escape_surrogates_in(self.texts)))
        escaped = surrogates.escape_in(self.texts)
        return sha256(jcs(escaped if escaped == self.texts else {**escaped, "text_escape": self.text_escape}))

    def line_number(self, offset: int) -> int:
        """Return the line of the AI output that contains the offset, from 1."""
        return bisect_left(self._line_ends, offset) + 1

    def position(self, offset: int) -> DocumentPosition | None:
        """Return where an offset of the AI output is in its document; None if its file does not state it."""
        return self._positions.find(offset) if self.outline else None

    @cached_property
    def _positions(self) -> PositionFinder:
        return PositionFinder(self.ai_output, self.outline)

    @cached_property
    def _line_ends(self) -> list[int]:
        return [line_end.start() for line_end in re.finditer("\n", self.ai_output)]


NAMES: Mapping[str, str] = {
    "ai_output": "The AI output",
    "source_document": "The source document",
    "prompt": "The prompt",
    "system_instructions": "The system instructions",
}


def _normalised_text(content: str) -> str:
    return surrogates.join_pairs(_with_line_feeds(content).strip())


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
