"""What an import could not translate, and what it changed, each with its place in the configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.engine.text.messages import display_path
from salvo.scenarios.spec.source_text import SourcePosition


class ImportNote(NamedTuple):
    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.field}: {self.message}" if self.field else self.message


@dataclass
class ImportNotes:
    """Collects notes. `locate` returns where a field of the configuration is."""

    locate: Callable[[FieldPath], SourcePosition]
    untranslated: dict[ImportNote, None] = field(default_factory=dict)
    """Each note once, in the order of their discovery; so is `changed`."""
    changed: dict[ImportNote, None] = field(default_factory=dict)

    def skip(self, path: FieldPath, message: str) -> None:
        """Note something that the scenario does not have."""
        self._add(self.untranslated, path, message)

    def change(self, path: FieldPath, message: str) -> None:
        """Note something that the scenario has in another way."""
        self._add(self.changed, path, message)

    def _add(self, notes: dict[ImportNote, None], path: FieldPath, message: str) -> None:
        position = self.locate(path)
        name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
        notes[ImportNote(display_path(position.file), position.line, name, message)] = None
