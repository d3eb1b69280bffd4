"""A YAML file as plain JSON data, with the place of everything in it.

What a stranger's file may cost is bounded: its size, its depth, and what its aliases and includes expand to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from salvo.scenarios.spec.yaml_source import (
    DEEPEST,
    SCALARS,
    TAG,
    SourcePosition,
    UnreadableYamlError,
    composed,
    text_of,
)

LARGEST_DOCUMENT = 5_000_000
"""What everything together may cost once aliases and includes are expanded: a character is 1, the rest is more."""

_VALUE_COST = 100
_INCLUDE_COST = 10_000

_INCLUDE = "!include"
_TEXT_SUFFIXES = (".md", ".txt")
_YAML_SUFFIXES = (".yaml", ".yml", ".json")

Steps: TypeAlias = tuple[str | int, ...]
"""The way to a value: ("assertions", 0, "weight")."""


class SourceProblem(NamedTuple):
    """What is wrong at a place; the rest of the file can still be read."""

    steps: Steps
    place: SourcePosition
    message: str
    spoils: bool = True
    """Whether the value that the steps lead to could not be read for it."""


@dataclass
class Document:
    data: Any
    faults: list[SourceProblem] = field(default_factory=list)
    keys: dict[Steps, SourcePosition] = field(default_factory=dict)
    included: dict[Steps, SourcePosition] = field(default_factory=dict)
    """Where the values stand that are not in the file of their key."""

    def place_of_key(self, steps: Steps) -> SourcePosition:
        """Where a field begins; of what is not there, where it would belong."""
        return self.keys[steps] if steps in self.keys else self.place_of_key(steps[:-1])

    def place(self, steps: Steps) -> SourcePosition:
        if steps in self.included:
            return self.included[steps]
        return self.keys[steps] if steps in self.keys else self.place(steps[:-1])


def read_document(file: Path, root: Path) -> Document:
    """What the file says. UnreadableError where it says nothing; includes stay inside the root."""
    return _Builder(root.resolve()).document(file)


class _Source(NamedTuple):
    """The file a node stands in, behind those that included it; the first of them also under its true name."""

    chain: tuple[Path, ...]

    @property
    def file(self) -> Path:
        return self.chain[-1]

    def place(self, node: Node) -> SourcePosition:
        return SourcePosition(self.file, node.start_mark.line + 1, node.start_mark.column + 1)


class _Builder:
    """Makes data of nodes. An alias is built again wherever it stands, so that every value has its own place."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._document = Document(None)
        self._spent = 0
        self._open: list[int] = []
        self._read: dict[Path, Node] = {}

    def document(self, file: Path) -> Document:
        node = composed(text_of(file), file)
        source = _Source((file.resolve(), file))
        self._document.keys[()] = source.place(node)
        self._document.data = self._build(node, (), source)
        return self._document

    def _fault(self, message: str, steps: Steps, place: SourcePosition, *, spoils: bool = True) -> None:
        self._document.faults.append(SourceProblem(steps, place, message, spoils))

    def _spend(self, cost: int, place: SourcePosition) -> None:
        self._spent += cost
        if self._spent > LARGEST_DOCUMENT:
            raise UnreadableYamlError(place, "is too large once its aliases and includes are expanded")

    def _build(self, node: Node, steps: Steps, source: _Source) -> Any:
        place = source.place(node)
        if id(node) in self._open:
            self._fault("an alias to what it stands in", steps, place)
            return None
        if len(self._open) >= DEEPEST:
            raise UnreadableYamlError(place, f"is nested deeper than {DEEPEST} levels once its aliases are expanded")
        self._open.append(id(node))
        try:
            if node.tag == _INCLUDE:
                return self._included(node, steps, source)
            if isinstance(node, ScalarNode):
                return self._scalar(node, steps, place)
            self._spend(_VALUE_COST, place)
            if isinstance(node, SequenceNode) and node.tag == f"{TAG}seq":
                return self._sequence(node, steps, source)
            if isinstance(node, MappingNode) and node.tag == f"{TAG}map":
                return self._mapping(node, steps, source)
            self._fault(_unknown_tag(node), steps, place)
            return None
        finally:
            self._open.pop()

    def _sequence(self, node: SequenceNode, steps: Steps, source: _Source) -> list[Any]:
        for index, item in enumerate(node.value):
            self._document.keys[*steps, index] = source.place(item)
        return [self._build(item, (*steps, index), source) for index, item in enumerate(node.value)]

    def _mapping(self, node: MappingNode, steps: Steps, source: _Source) -> dict[str, Any]:
        merges = [value for key, value in node.value if key.tag == f"{TAG}merge"]
        built = self._merged(merges, steps, source)
        lines: dict[str, int] = {}
        for key_node, value in node.value:
            place = source.place(key_node)
            if key_node.tag == f"{TAG}merge":
                continue
            if not isinstance(key_node, ScalarNode) or key_node.tag == _INCLUDE:
                self._fault("a key must be text", steps, place, spoils=False)
                continue
            self._spend(_VALUE_COST + len(key_node.value), place)
            key = self._well_formed(key_node.value, steps, place)
            if key in lines:
                self._fault(f"stands twice; the first is in line {lines[key]}", (*steps, key), place)
                continue
            lines[key] = place.line
            self._document.keys[*steps, key] = place
            self._document.included.pop((*steps, key), None)
            built[key] = self._build(value, (*steps, key), source)
        return built

    def _merged(self, nodes: list[Node], steps: Steps, source: _Source) -> dict[str, Any]:
        """What `<<` brings in. The first one named has the last word, and the mapping itself one after that."""
        flat = [part for node in nodes for part in (node.value if isinstance(node, SequenceNode) else [node])]
        built: dict[str, Any] = {}
        own = self._document.included.get(steps)
        for node in reversed(flat):
            content = self._build(node, steps, source)
            if isinstance(content, dict):
                built |= content
            else:
                self._fault("<< takes a mapping, or a list of them", steps, source.place(node), spoils=False)
        # The mapping stands where it stood, whatever was merged into it.
        self._document.included.pop(steps, None)
        if own:
            self._document.included[steps] = own
        return built

    def _scalar(self, node: ScalarNode, steps: Steps, place: SourcePosition) -> Any:
        self._spend(_VALUE_COST + len(node.value), place)
        if node.tag in (f"{TAG}str", "!"):
            return self._well_formed(node.value, steps, place)
        read = SCALARS.get(node.tag)
        if read is None:
            self._fault(_unknown_tag(node), steps, place)
            return None
        try:
            return read(node.value)
        except (ValueError, KeyError, OverflowError):
            self._fault(f"cannot be read as {node.tag.removeprefix(TAG)}", steps, place)
            return None

    def _well_formed(self, text: str, steps: Steps, place: SourcePosition) -> str:
        """JSON escapes such as \\ud83d\\ude00 come as halves; together they are a character, alone they are none."""
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self._fault("holds half of a surrogate pair, which is no character", steps, place)
            return ""

    def _included(self, node: Node, steps: Steps, source: _Source) -> Any:
        place = source.place(node)
        self._spend(_INCLUDE_COST, place)
        try:
            file = self._file_to_include(node, source)
            if file.suffix in _TEXT_SUFFIXES:
                text = text_of(file)
                self._spend(len(text), place)
                return text
            inner = self._read.get(file) or composed(text_of(file), file)
        except UnreadableYamlError as fault:
            message = fault.message if fault.inside else f"{_INCLUDE} {getattr(node, 'value', '')}: {fault.message}"
            self._fault(message, steps, fault.place if fault.inside else place)
            return None
        self._read[file] = inner
        within = _Source((*source.chain, file))
        self._document.included[steps] = within.place(inner)
        return self._build(inner, steps, within)

    def _file_to_include(self, node: Node, source: _Source) -> Path:
        place = source.place(node)
        if not isinstance(node, ScalarNode) or not node.value.strip():
            raise UnreadableYamlError(place, f"{_INCLUDE} takes the name of a file")
        try:
            file: Path = (source.file.parent / node.value).resolve()
        except (OSError, ValueError, RuntimeError):
            raise UnreadableYamlError(place, f"{_INCLUDE} takes the name of a file") from None
        if not file.is_relative_to(self._root):
            raise UnreadableYamlError(place, "is outside the project", inside=False)
        if file.suffix not in (*_YAML_SUFFIXES, *_TEXT_SUFFIXES):
            suffixes = ", ".join((*_YAML_SUFFIXES, *_TEXT_SUFFIXES))
            raise UnreadableYamlError(place, f"only files that end in {suffixes} can be included", inside=False)
        if file in source.chain:
            raise UnreadableYamlError(place, "includes itself", inside=False)
        return file


def _unknown_tag(node: Node) -> str:
    return f"the tag {node.tag.replace(TAG, '!!')} is not known; there is !include"
