"""A file's text as YAML nodes, or the one reason why it has none.

YAML as people read it today (1.2): `yes`, `12:30` and `2026-03-15` are text, and so is `007`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from yaml.composer import ComposerError
from yaml.nodes import Node
from yaml.reader import ReaderError

LARGEST_FILE = 1_000_000
MOST_VALUES = 20_000
DEEPEST = 64
TAG = "tag:yaml.org,2002:"


class SourcePosition(NamedTuple):
    file: Path
    line: int = 1
    column: int = 1


class UnreadableYamlError(Exception):
    """Nothing more can be said about the file than this. Never leaves the loader."""

    def __init__(self, place: SourcePosition, message: str, *, inside: bool = True) -> None:
        super().__init__(message)
        self.place = place
        self.message = message
        self.inside = inside
        """Whether the fault is in the file's content, and not that there is none."""


class _Composer(yaml.SafeLoader):
    """Nodes with their places, no deeper and no more than anyone means: the parser takes its time for each."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012 - its own ones, not those of YAML 1.1
    _depth = 0
    _values = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        self._depth += 1
        self._values += 1
        if self._depth > DEEPEST or self._values > MOST_VALUES:
            bound = f"nested deeper than {DEEPEST} levels" if self._depth > DEEPEST else f"over {MOST_VALUES:,} values"
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise ComposerError(None, None, bound, mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def _resolve(name: str, pattern: str, first: str) -> None:
    _Composer.add_implicit_resolver(f"{TAG}{name}", re.compile(rf"(?:{pattern})\Z"), list(first))


_WHOLE = r"(?:0|[1-9][0-9]*)"
_resolve("bool", "true|True|TRUE|false|False|FALSE", "tTfF")
_resolve("null", "null|Null|NULL|~", "nN~")
_Composer.add_implicit_resolver(f"{TAG}null", re.compile(r"\Z"), [""])
_resolve("int", rf"[-+]?{_WHOLE}|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789")
_resolve("float", rf"[-+]?(?:{_WHOLE}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", "-+.0123456789")
_resolve("merge", "<<", "<")


def text_of(file: Path) -> str:
    place = SourcePosition(file)
    try:
        if file.is_dir():
            raise UnreadableYamlError(place, "is a folder, not a file", inside=False)
        with file.open("rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise UnreadableYamlError(place, "there is no such file", inside=False) from None
    except OSError as fault:
        raise UnreadableYamlError(place, f"cannot be read: {fault.strerror or fault}", inside=False) from None
    if len(content) > LARGEST_FILE:
        raise UnreadableYamlError(place, f"is larger than {LARGEST_FILE:,} bytes, which no scenario is", inside=False)
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as fault:
        line, column = _line_and_column(content[: fault.start].decode("utf-8"))
        what = f"is not UTF-8: byte 0x{content[fault.start]:02x} at offset {fault.start}; save the file as UTF-8"
        raise UnreadableYamlError(SourcePosition(file, line, column), what) from None


def _line_and_column(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def composed(text: str, file: Path) -> Node:
    try:
        loader = _Composer(text)
    except ReaderError as fault:
        place = SourcePosition(file, *_line_and_column(text[: fault.position]))
        raise UnreadableYamlError(place, f"holds the character U+{ord(text[fault.position]):04X}; remove it") from None
    try:
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark or loader.get_mark()
        raise UnreadableYamlError(SourcePosition(file, mark.line + 1, mark.column + 1), _told(fault)) from None
    except (ValueError, OverflowError):
        # The scanner turns "\UFFFFFFFF" into a character, and a directive's digits into a number, without a look.
        mark = loader.get_mark()
        message = "is not YAML: an escape or a number that does not exist"
        raise UnreadableYamlError(SourcePosition(file, mark.line + 1, mark.column + 1), message) from None
    if node is None:
        raise UnreadableYamlError(SourcePosition(file), "is empty")
    return node


_SAID_BETTER = {
    "but found another document": "holds several documents (---); write a file for each",
    "nested deeper": f"is nested deeper than {DEEPEST} levels",
    "over ": f"holds more than {MOST_VALUES:,} values, which no scenario does",
    "found character '\\t'": "is indented with a tab; YAML takes spaces",
    "mapping values are not allowed here": "a second colon in one line; a value that holds one must stand in quotes",
    "found undefined alias": "an alias that nothing defines; a value that begins with * must stand in quotes",
    "expected <block end>": "the indentation is not that of the lines above it",
    "could not find expected ':'": "a line without `key:`, or a text that goes on without indentation",
}
"""What the parser says about the commonest slips, in words for those who made them."""


def _told(fault: yaml.MarkedYAMLError) -> str:
    problem = fault.problem or "it cannot be read"
    for start, better in _SAID_BETTER.items():
        if problem.startswith(start):
            return better if better.startswith(("holds", "is ")) else f"is not YAML: {better}"
    if problem.endswith("that cannot start any token"):
        return f"is not YAML: {problem}; put the value in quotes"
    since = f", {fault.context} of line {fault.context_mark.line + 1}" if fault.context and fault.context_mark else ""
    return f"is not YAML: {problem}{since}"


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


SCALARS: Mapping[str, Callable[[str], Any]] = {
    f"{TAG}null": lambda _: None,
    f"{TAG}bool": lambda text: {"true": True, "false": False}[text.lower()],
    f"{TAG}int": lambda text: int(text, 0),
    f"{TAG}float": _number,
}
