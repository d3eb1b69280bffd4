"""What a part of a document may look like. One description serves two: the sentences for a person, and JSON Schema.

Since both come from the same table they cannot drift apart: what the published schema refuses is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple, Protocol

from salvo.engine.runtime import safe_regex
from salvo.engine.text.messages import nearest, shown
from salvo.playbooks.playbook.problems import Level, PlaybookProblem, Steps, error, json_path, warning

_SHOWN = 60
"""Characters of a value in a message."""
_TYPO = 0.8
"""How near a field must be to a known one to be taken for it: other fields are welcome."""
_STRANGERS = 20
"""Unknown fields of one object that are looked at for typing errors."""


class Shape(Protocol):
    def problems(self, value: Any, at: Steps) -> Iterator[PlaybookProblem]:
        """What is wrong with the value, and with what is in it."""
        ...

    def schema(self) -> dict[str, Any]:
        """As JSON Schema."""
        ...


@dataclass(frozen=True, slots=True)
class Anything:
    def problems(self, value: Any, at: Steps) -> Iterator[PlaybookProblem]:  # noqa: ARG002 - as every shape
        yield from ()

    def schema(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True, slots=True)
class Text:
    """Not empty, and not only white space."""

    def problems(self, value: Any, at: Steps) -> Iterator[PlaybookProblem]:
        if not isinstance(value, str):
            quotes = "; put it in quotes" if isinstance(value, int | float) else ""
            yield error(at, f"must be text, not {kind(value)}{quotes}")
        elif not re.search(r"\S", value):
            yield error(at, "must not be empty")

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": r"\S"}


@dataclass(frozen=True, slots=True)
class Regex:
    longest: int = 2_000

    def problems(self, value: Any, at: Steps) -> Iterator[PlaybookProblem]:
        unfit = list(Text().problems(value, at))
        if unfit:
            yield from unfit
        elif len(value) > self.longest:
            yield error(at, f"is too long for a pattern: {len(value):,} characters, and {self.longest:,} are allowed")
        elif flaw := safe_regex.pattern_error(value):
            yield error(at, flaw.rstrip("."))

    def schema(self) -> dict[str, Any]:
        return {**Text().schema(), "maxLength": self.longest, "format": "regex"}


@dataclass(frozen=True, slots=True)
class Choice:
    words: Sequence[str]

    def problems(self, value: Any, at: Steps) -> Iterator[PlaybookProblem]:
        if not isinstance(value, str):
            yield error(at, f"must be {self._one_of}, not {kind(value)}")
        elif value not in self.words:
            near = nearest(value.strip().lower(), self.words)
            meant = f'; did you mean "{near}"?' if near else ""
            yield error(at, f"must be {self._one_of}, not {shown(value, _SHOWN)}{meant}")

    def schema(self) -> dict[str, Any]:
        return {"enum": [str(word) for word in self.words]}

    @property
    def _one_of(self) -> str:
        return f"{', '.join(self.words[:-1])} or {self.words[-1]}"


@dataclass(frozen=True, slots=True)
class Number:
    low: float
    high: float
    whole: bool = False

    def problems(self, value: Any, at: Steps) -> Iterator[PlaybookProblem]:
        wanted = "a whole number" if self.whole else "a number"
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield error(at, f"must be {wanted}, not {kind(value)}")
        elif not self.low <= value <= self.high:
            bound = f"at least {self.low:,g}" if value < self.low else f"at most {self.high:,g}"
            yield error(at, f"must be {bound}, not {shown(value, _SHOWN)}")
        elif self.whole and value != int(value):
            yield error(at, f"must be {wanted}, not {shown(value, _SHOWN)}")

    def schema(self) -> dict[str, Any]:
        return {"type": "integer" if self.whole else "number", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Flag:
    def problems(self, value: Any, at: Steps) -> Iterator[PlaybookProblem]:
        if not isinstance(value, bool):
            yield error(at, f"must be true or false, not {kind(value)}")

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Items:
    """A list; `empty` says what it is to have nothing in it."""

    of: Shape
    empty: Level | None = None
    most: int = 1_000

    def problems(self, value: Any, at: Steps) -> Iterator[PlaybookProblem]:
        if not isinstance(value, list):
            yield error(at, f"must be a list, not {kind(value)}")
            return
        if not value and self.empty:
            yield PlaybookProblem(json_path(at), self.empty, "must not be empty")
        if len(value) > self.most:
            yield error(at, f"has too many entries: {len(value):,}, and {self.most:,} are allowed")
        for place, item in enumerate(islice(value, self.most)):
            yield from self.of.problems(item, (*at, place))

    def schema(self) -> dict[str, Any]:
        at_least = {"minItems": 1} if self.empty == "error" else {}
        return {"type": "array", "items": self.of.schema(), **at_least, "maxItems": self.most}


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """A text, or a list of them."""

    def problems(self, value: Any, at: Steps) -> Iterator[PlaybookProblem]:
        if isinstance(value, str):
            yield from Text().problems(value, at)
        elif isinstance(value, list):
            yield from Items(Text()).problems(value, at)
        else:
            yield error(at, f"must be text or a list of texts, not {kind(value)}")

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [Text().schema(), Items(Text()).schema()]}


Need = Literal["required", "expected", "optional"]
"""Without a required field nothing can be done. An expected one is what the specification asks for."""


class Field(NamedTuple):
    need: Need
    shape: Shape
    about: str


@dataclass(frozen=True, slots=True)
class Record:
    """An object with these fields. Others are kept; one that looks like a misspelt known one is pointed at."""

    fields: Mapping[str, Field]

    def problems(self, value: Any, at: Steps) -> Iterator[PlaybookProblem]:
        if not isinstance(value, dict):
            yield error(at, f"must be an object, not {kind(value)}")
            return
        misspelt = _misspelt(value, self.fields)
        for name, field in self.fields.items():
            if name in value:
                yield from field.shape.problems(value[name], (*at, name))
            elif name in misspelt:
                said = f'no such field; did you mean "{name}"?'
                given = (*at, misspelt[name])
                yield error(given, said) if field.need == "required" else warning(given, said)
            elif field.need == "required":
                yield error((*at, name), f"is missing{_needs(field.shape)}")
            elif field.need == "expected":
                yield warning((*at, name), "is missing; the specification asks for it")

    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "required": [name for name, field in self.fields.items() if field.need == "required"],
            "properties": {
                name: {**field.shape.schema(), "description": field.about} for name, field in self.fields.items()
            },
        }


@dataclass(frozen=True, slots=True)
class Sections:
    """An object that should name all of these: as its fields, or in its list `required_fields`."""

    names: Sequence[str]

    def problems(self, value: Any, at: Steps) -> Iterator[PlaybookProblem]:
        if not isinstance(value, dict):
            yield error(at, f"must be an object, not {kind(value)}")
            return
        listed = value.get("required_fields", [])
        yield from Items(Text()).problems(listed, (*at, "required_fields"))
        misspelt = _misspelt(value, self.names)
        for name in self.names:
            if name in misspelt:
                yield warning((*at, misspelt[name]), f'no such field; did you mean "{name}"?')
            elif name not in value and not (isinstance(listed, list) and name in listed):
                yield warning((*at, name), "is missing; the specification asks for it")

    def schema(self) -> dict[str, Any]:
        listed = {"required_fields": Items(Text()).schema()}
        return {"type": "object", "properties": {**{name: {} for name in self.names}, **listed}}


def kind(value: Any) -> str:
    """What a value is, in a sentence."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    words = {str: "text", int: "a number", float: "a number", list: "a list"}
    return words.get(type(value), "an object" if isinstance(value, dict) else f"a {type(value).__name__}")


def _misspelt(value: Mapping[Any, Any], known: Mapping[str, Any] | Sequence[str]) -> dict[str, str]:
    """For each known field that is absent, the unknown one that likely stands for it."""
    absent = [name for name in known if name not in value]
    strangers = (name for name in value if isinstance(name, str) and name not in known)
    meant = {nearest(name, absent, cutoff=_TYPO): name for name in islice(strangers, _STRANGERS)}
    meant.pop("", None)
    return meant


def _needs(shape: Shape) -> str:
    if not isinstance(shape, Record):
        return ""
    needed = [name for name, field in shape.fields.items() if field.need == "required"]
    return f"; it needs {' and '.join(needed)}"
