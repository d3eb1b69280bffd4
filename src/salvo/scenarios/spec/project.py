"""Where a project's things are: its root, its store, its scenarios, and the Python that they name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from salvo.errors import NothingFoundError, UsageError
from salvo.scenarios.spec.imports import Scope
from salvo.scenarios.spec.paths import find_root, root_of, shown, shown_folder

_SUFFIXES = (".yaml", ".yml")
_NOT_SEARCHED = frozenset({"node_modules", "tools", "__pycache__"})
_LOOKED_AT = 1_000_000
_FIRST_KEY = re.compile(r"^(?![ \t]*(?:#|$)|---|%)(?P<indent> *)", re.MULTILINE)


@dataclass(frozen=True)
class Project:
    root: Path
    cwd: Path
    given: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """Of a scenario that is written in Python: its objects by path, its tools by name. They come before all others."""

    @classmethod
    def find(cls, start: Path | None = None) -> Project:
        folder = (start or Path.cwd()).resolve()
        return cls(find_root(folder), folder)

    @property
    def store(self) -> Path:
        return self.root / ".salvo"

    def relative(self, file: Path) -> str:
        """A file's name as it is stored: from the root, where it is below it."""
        resolved = file.resolve()
        return resolved.relative_to(self.root).as_posix() if resolved.is_relative_to(self.root) else str(resolved)

    def scenario_files(self, path: Path | None = None) -> list[Path]:
        """A file is itself; a folder is every scenario below it."""
        place = self.cwd / path if path is not None else self._default_folder()
        if not place.exists():
            raise UsageError(f"There is no {shown(place)}.", hint="Name a scenario's file, or a folder of them.")
        if not place.is_dir():
            return [place]
        files = sorted(file for file in _files(place) if is_scenario(file))
        if not files:
            raise NothingFoundError(
                f"There is no scenario in {shown_folder(place)}: no .yaml file with a top-level `scenario:`.",
                hint="`salvo init` makes an example.",
            )
        return files

    def _default_folder(self) -> Path:
        scenarios = self.cwd / "scenarios"
        return scenarios if scenarios.is_dir() else self.cwd

    def folders_above(self, file: Path) -> list[Path]:
        """The file's folder and its parents, up to the root."""
        folder = file.resolve().parent
        root = root_of(file, self.root)
        return [place for place in (folder, *folder.parents) if place.is_relative_to(root)]

    def import_folders(self, file: Path) -> list[Path]:
        """Where a scenario's Python is looked for, the nearest first."""
        return list(dict.fromkeys([*self.folders_above(file), self.cwd.resolve()]))

    def load(self, path: str, near: Path) -> Any:
        """A user's object by `package.module.name`, `module:name` or `module:Class.method`."""
        return self.given[path] if path in self.given else self._scope(near).load(path)

    def load_module(self, file: Path) -> ModuleType:
        """A user's module by its file, with what it imports from its own folder upward."""
        return self._scope(file).load_file(file.resolve())

    def _scope(self, near: Path) -> Scope:
        return Scope.of(self.import_folders(near))


def is_scenario(file: Path) -> bool:
    """Whether a file in a folder is meant as a scenario. One that is named by itself always is."""
    return file.name.endswith(_SUFFIXES) and not file.name.startswith(".") and _looks_like_a_scenario(file)


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _is_left_out(Path(place, name))]
        yield from (Path(place, name) for name in files)


def _is_left_out(folder: Path) -> bool:
    hidden = folder.name.startswith(".")
    return hidden or folder.name in _NOT_SEARCHED or (folder / "pyvenv.cfg").exists()


def _looks_like_a_scenario(file: Path) -> bool:
    """By its text alone: a file that is no YAML may still be meant as a scenario, and deserves its error."""
    try:
        with file.open("rb") as stream:
            text = stream.read(_LOOKED_AT).decode("utf-8-sig", "replace")
    except OSError:
        return True
    first = _FIRST_KEY.search(text)
    return first is not None and bool(re.search(rf"^{first['indent']}([\"']?)scenario\1[ \t]*:", text, re.MULTILINE))
