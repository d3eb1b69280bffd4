"""Read a YAML file as plain JSON data, with the position of everything in it.

This is YAML 1.2: `yes`, `12:30`, `2026-03-15` and `007` are text. The tag !include stands for the content of another
file, and !file for its text. Size, depth, and what aliases and includes expand to are bounded, because a file may come
from someone else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from yaml.composer import ComposerError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.scenarios.spec.source_text import (
    SourcePosition,
    UnreadableError,
    file_in_project,
    line_and_column,
    read_text,
)

if TYPE_CHECKING:
    from salvo.scenarios.spec.schema import Cell

MAX_VALUES = 20_000
MAX_DEPTH = 64
MAX_EXPANDED = 5_000_000
"""The cost of all values once aliases and includes are expanded. A character costs 1; other costs are below."""
_VALUE_COST = 100
_INCLUDE_COST = 10_000

_TAG = "tag:yaml.org,2002:"
_INCLUDE = "!include"
_FILE = "!file"
_FILE_TAGS = (_INCLUDE, _FILE)
_TEXT_SUFFIXES = (".md", ".txt")
_YAML_SUFFIXES = (".yaml", ".yml", ".json")


class YamlProblem(NamedTuple):
    path: FieldPath
    position: SourcePosition
    message: str
    unusable: bool = True
    """Whether the value at the path could not be read, so that other errors about it mean nothing."""


@dataclass
class YamlDocument:
    data: Any = None
    problems: list[YamlProblem] = field(default_factory=list)
    key_positions: dict[FieldPath, SourcePosition] = field(default_factory=dict)
    included_positions: dict[FieldPath, SourcePosition] = field(default_factory=dict)
    """The positions of values that are in another file than their key."""
    file_stems: dict[FieldPath, str] = field(default_factory=dict)
    """The names, without the suffix, of the files whose text is a value."""
    is_expanded: bool = True
    """Whether there is a scenario; False if cases and matrix could not be expanded."""
    cell: Cell | None = None
    """Which cell it is, if the file has cases or a matrix."""

    def key_position(self, path: FieldPath) -> SourcePosition:
        """Return where a field begins, or where it would belong if it is missing."""
        return self.key_positions[path] if path in self.key_positions else self.key_position(path[:-1])

    def position(self, path: FieldPath) -> SourcePosition:
        """Return where a value is, also if it is in an included file."""
        if path in self.included_positions:
            return self.included_positions[path]
        return self.key_positions[path] if path in self.key_positions else self.position(path[:-1])

    def note(self, path: FieldPath) -> str:  # noqa: ARG002 - a document of a cell has notes on some paths
        """Return what to add to an error about the type of a value."""
        return ""


def read_yaml(file: Path, root: Path) -> YamlDocument:
    """Return what the file holds, and every problem in it. Includes must be inside the root.

    If nothing in the file can be read, the data is None and there is one problem, at the empty path.
    """
    try:
        return _DocumentBuilder(root.resolve()).build(file)
    except UnreadableError as error:
        problem = YamlProblem((), error.position, error.message)
        return YamlDocument(problems=[problem], key_positions={(): error.position})


# --- From text to YAML nodes


class _Composer(yaml.SafeLoader):
    """Composes nodes, and stops at the maximum depth and number of values: the parser is slow."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012 - instead of those of YAML 1.1
    _depth = 0
    _values = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        self._depth += 1
        self._values += 1
        if self._depth > MAX_DEPTH or self._values > MAX_VALUES:
            problem = "nested deeper" if self._depth > MAX_DEPTH else "too many values"
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call] # types-pyyaml leaves it untyped
            raise ComposerError(None, None, problem, mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def _add_resolver(name: str, pattern: str, first_characters: str) -> None:
    _Composer.add_implicit_resolver(f"{_TAG}{name}", re.compile(rf"(?:{pattern})\Z"), list(first_characters) or [""])


_DIGITS = r"(?:0|[1-9][0-9]*)"
_add_resolver("bool", "true|True|TRUE|false|False|FALSE", "tTfF")
_add_resolver("null", "null|Null|NULL|~", "nN~")
_add_resolver("null", "", "")
_add_resolver("int", rf"[-+]?{_DIGITS}|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789")
_add_resolver("float", rf"[-+]?(?:{_DIGITS}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", "-+.0123456789")
_add_resolver("merge", "<<", "<")


def _compose(text: str, file: Path) -> Node:
    try:
        loader = _Composer(text)
    except ReaderError as error:
        position = SourcePosition(file, *line_and_column(text[: error.position]))
        character = f"U+{ord(text[error.position]):04X}"
        raise UnreadableError(position, f"holds the character {character}; remove it") from None
    try:
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark or loader.get_mark()
        position = SourcePosition(file, mark.line + 1, mark.column + 1)
        raise UnreadableError(position, _describe_yaml_error(error)) from None
    except (ValueError, OverflowError):
        # The scanner does not check the number in "\UFFFFFFFF" or in a directive before it converts it.
        mark = loader.get_mark()
        position = SourcePosition(file, mark.line + 1, mark.column + 1)
        raise UnreadableError(position, "is not YAML: an escape or a number that does not exist") from None
    if node is None:
        raise UnreadableError(SourcePosition(file), "is empty")
    return node


_COMMON_ERRORS = {
    "but found another document": "holds several documents (---); write a file for each",
    "nested deeper": f"is nested deeper than {MAX_DEPTH} levels",
    "too many values": f"holds more than {MAX_VALUES:,} values",
    "found character '\\t'": "is indented with a tab; YAML takes spaces",
    "mapping values are not allowed here": "is not YAML: a second colon in a line; put a value with a colon in quotes",
    "found undefined alias": "is not YAML: an undefined alias; put a value that begins with * in quotes",
    "expected <block end>": "is not YAML: the indentation differs from the lines above",
    "could not find expected ':'": "is not YAML: a line without `key:`, or a text that continues without indentation",
}
"""How the parser begins its message about a common mistake, and ours for it."""


def _describe_yaml_error(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "it cannot be read"
    for start, message in _COMMON_ERRORS.items():
        if problem.startswith(start):
            return message
    if problem.endswith("that cannot start any token"):
        return f"is not YAML: {problem}; put the value in quotes"
    context = f", {error.context} of line {error.context_mark.line + 1}" if error.context and error.context_mark else ""
    return f"is not YAML: {problem}{context}"


# --- From YAML nodes to data


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


_SCALARS: Mapping[str, Callable[[str], Any]] = {
    f"{_TAG}null": lambda _: None,
    f"{_TAG}bool": lambda text: {"true": True, "false": False}[text.lower()],
    f"{_TAG}int": lambda text: int(text, 0),
    f"{_TAG}float": _finite_float,
}


class _Source(NamedTuple):
    """The chain of files that include each other, of which a node is in the last."""

    files: tuple[Path, ...]

    @property
    def file(self) -> Path:
        return self.files[-1]

    def position(self, node: Node) -> SourcePosition:
        return SourcePosition(self.file, node.start_mark.line + 1, node.start_mark.column + 1)


class _DocumentBuilder:
    """Builds data from nodes. An alias is built again wherever it occurs, so that every value has its own position."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._document = YamlDocument()
        self._cost = 0
        self._open_nodes: list[int] = []
        self._nodes: dict[Path, Node] = {}

    def build(self, file: Path) -> YamlDocument:
        node = _compose(read_text(file), file)
        # Both names of the file, so that it cannot include itself through a link.
        source = _Source((file.resolve(), file))
        self._document.key_positions[()] = source.position(node)
        self._document.data = self._build(node, (), source)
        return self._document

    def _report(self, message: str, path: FieldPath, position: SourcePosition, *, unusable: bool = True) -> None:
        self._document.problems.append(YamlProblem(path, position, message, unusable))

    def _add_cost(self, cost: int, position: SourcePosition) -> None:
        self._cost += cost
        if self._cost > MAX_EXPANDED:
            raise UnreadableError(position, "is too large once its aliases and includes are expanded")

    def _build(self, node: Node, path: FieldPath, source: _Source) -> Any:
        position = source.position(node)
        if id(node) in self._open_nodes:
            self._report("an alias to a value that contains it", path, position)
            return None
        if len(self._open_nodes) >= MAX_DEPTH:
            raise UnreadableError(position, f"is nested deeper than {MAX_DEPTH} levels once its aliases are expanded")
        self._open_nodes.append(id(node))
        try:
            if node.tag in _FILE_TAGS:
                return self._include(node, path, source)
            if isinstance(node, ScalarNode):
                return self._scalar(node, path, position)
            self._add_cost(_VALUE_COST, position)
            if isinstance(node, SequenceNode) and node.tag == f"{_TAG}seq":
                for index, item in enumerate(node.value):
                    self._document.key_positions[*path, index] = source.position(item)
                return [self._build(item, (*path, index), source) for index, item in enumerate(node.value)]
            if isinstance(node, MappingNode) and node.tag == f"{_TAG}map":
                return self._mapping(node, path, source)
            self._report(_unknown_tag(node), path, position)
            return None
        finally:
            self._open_nodes.pop()

    def _mapping(self, node: MappingNode, path: FieldPath, source: _Source) -> dict[str, Any]:
        data = self._merged([value for key, value in node.value if key.tag == f"{_TAG}merge"], path, source)
        lines: dict[str, int] = {}
        for key_node, value in node.value:
            position = source.position(key_node)
            if key_node.tag == f"{_TAG}merge":
                continue
            if not isinstance(key_node, ScalarNode) or key_node.tag in _FILE_TAGS:
                self._report("a key must be text", path, position, unusable=False)
                continue
            self._add_cost(_VALUE_COST + len(key_node.value), position)
            key = self._without_surrogates(key_node.value, path, position)
            if key in lines:
                self._report(f"occurs twice; the first is in line {lines[key]}", (*path, key), position)
                continue
            lines[key] = position.line
            self._document.key_positions[*path, key] = position
            self._document.included_positions.pop((*path, key), None)
            data[key] = self._build(value, (*path, key), source)
        return data

    def _merged(self, merges: list[Node], path: FieldPath, source: _Source) -> dict[str, Any]:
        """Return what `<<` brings in. The first mapping of several takes precedence."""
        nodes = [part for node in merges for part in (node.value if isinstance(node, SequenceNode) else [node])]
        data: dict[str, Any] = {}
        position = self._document.included_positions.get(path)
        for node in reversed(nodes):
            content = self._build(node, path, source)
            if isinstance(content, dict):
                data |= content
            else:
                self._report("<< takes a mapping, or a list of them", path, source.position(node), unusable=False)
        # A file that is merged into a mapping does not change where the mapping itself is.
        self._document.included_positions.pop(path, None)
        if position:
            self._document.included_positions[path] = position
        return data

    def _scalar(self, node: ScalarNode, path: FieldPath, position: SourcePosition) -> Any:
        self._add_cost(_VALUE_COST + len(node.value), position)
        if node.tag in (f"{_TAG}str", "!"):
            return self._without_surrogates(node.value, path, position)
        convert = _SCALARS.get(node.tag)
        if convert is None:
            self._report(_unknown_tag(node), path, position)
            return None
        try:
            return convert(node.value)
        except (ValueError, KeyError, OverflowError):
            self._report(f"cannot be read as {node.tag.removeprefix(_TAG)}", path, position)
            return None

    def _without_surrogates(self, text: str, path: FieldPath, position: SourcePosition) -> str:
        """Return the text with pairs of JSON escapes, such as \\ud83d\\ude00, joined to one character."""
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self._report("holds half of a surrogate pair, which is not a character", path, position)
            return ""

    def _include(self, node: Node, path: FieldPath, source: _Source) -> Any:
        position = source.position(node)
        self._add_cost(_INCLUDE_COST, position)
        try:
            file = self._included_file(node, source)
            if node.tag == _FILE or file.suffix in _TEXT_SUFFIXES:
                text = read_text(file)
                self._add_cost(len(text), position)
                self._document.file_stems[path] = file.stem
                return text
            if file not in self._nodes:
                self._nodes[file] = _compose(read_text(file), file)
        except UnreadableError as error:
            if error.in_content:
                self._report(error.message, path, error.position)
            else:
                self._report(f"{node.tag} {getattr(node, 'value', '')}: {error.message}", path, position)
            return None
        included = _Source((*source.files, file))
        self._document.included_positions[path] = included.position(self._nodes[file])
        return self._build(self._nodes[file], path, included)

    def _included_file(self, node: Node, source: _Source) -> Path:
        position = source.position(node)
        if not isinstance(node, ScalarNode) or not node.value.strip():
            raise UnreadableError(position, f"{node.tag} takes the name of a file")
        file = file_in_project(node.value, position, self._root, (*_YAML_SUFFIXES, *_TEXT_SUFFIXES), "included")
        if file in source.files:
            raise UnreadableError(position, "includes itself", in_content=False)
        return file


def _unknown_tag(node: Node) -> str:
    return f"the tag {node.tag.replace(_TAG, '!!')} is not known; there are !include and !file"
