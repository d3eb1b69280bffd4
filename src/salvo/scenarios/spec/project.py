"""A project: its root folder, its store, its scenario files, and the Python code that they name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from salvo.engine.runtime.files import read_regular
from salvo.engine.text.messages import display_folder, display_path
from salvo.errors import InputError, NothingFoundError, SalvoError, UsageError
from salvo.scenarios.spec.imports import Scope

_ROOT_MARKERS = (".salvo", "pyproject.toml", ".git")
_SUFFIXES = (".yaml", ".yml")
_SKIPPED_FOLDERS = frozenset({"node_modules", "tools", "__pycache__"})
_MAX_BYTES = 1_000_000
_FIRST_KEY = re.compile(r"^(?![ \t]*(?:#|$)|---|%)(?P<indent> *)", re.MULTILINE)


def find_root(start: Path) -> Path:
    """Return the nearest folder upward with a root marker, else the start itself."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if any((folder / marker).exists() for marker in _ROOT_MARKERS):
            return folder
    return start


def project_root(file: Path, root: Path | None = None) -> Path:
    """Return this root if the file is inside it, else the root of the file's own project."""
    folder = file.resolve().parent
    if root is not None and folder.is_relative_to(root.resolve()):
        return root.resolve()
    return find_root(folder)


@dataclass(frozen=True)
class Project:
    root: Path
    cwd: Path
    objects: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The objects of a scenario that is written in Python: by path, tools by name. They take precedence."""

    store_address: str | None = None
    """The folder or URL of the store, if it is not the folder `.salvo` below the root. See `open_store`."""

    _import_folders: dict[Path, list[Path]] = field(default_factory=dict, compare=False, repr=False)
    """By scenario file. One may have thousands of cells, and each is checked."""

    @classmethod
    def find(cls, start: Path | None = None, *, store_address: str | None = None) -> Project:
        folder = (start or Path.cwd()).resolve()
        return cls(find_root(folder), folder, store_address=store_address)

    @property
    def store(self) -> Path:
        """The folder of Salvo in the project: its baseline, and the runs if they are not stored elsewhere."""
        return self.root / ".salvo"

    def relative(self, file: Path) -> str:
        """Return a file's name as it is stored: relative to the root if it is below it."""
        resolved = file.resolve()
        return resolved.relative_to(self.root).as_posix() if resolved.is_relative_to(self.root) else str(resolved)

    def scenario_files(self, paths: Sequence[Path] = ()) -> list[Path]:
        """Return the files at these paths and every scenario below folders, each once.

        Without a path it is the folder `scenarios`, or else the current one.
        """
        if not paths:
            paths = [Path("scenarios") if (self.cwd / "scenarios").is_dir() else Path()]
        unique: dict[Path, Path] = {}
        for path in paths:
            for file in self._files_at(self.cwd / path):
                unique.setdefault(file.resolve(), file)
        return list(unique.values())

    def _files_at(self, place: Path) -> list[Path]:
        if not place.exists():
            raise UsageError(f"There is no {display_path(place)}.", hint="Name a scenario file, or a folder of them.")
        if not place.is_dir():
            return [place]
        files = sorted(file for file in _walk(place) if is_scenario(file))
        if not files:
            raise NothingFoundError(
                f"There is no scenario in {display_folder(place)}: no .yaml file with a top-level `scenario:`.",
                hint="`salvo init` creates an example.",
            )
        return files

    def stored_source(
        self, source: str, consequence: str, hint: str, error_type: type[SalvoError] = UsageError
    ) -> Path:
        """Return the scenario file that a store names. Raise an error unless it is one that a run would find here.

        A store may come from someone else. It must not choose a file elsewhere on this machine, in a store, or in an
        installed package, because the code that a scenario file names is imported from the folders above it.
        """
        try:
            return self._stored_source(source)
        except InputError as error:
            raise error_type(f"{error.message} {consequence}", hint=hint) from error

    def _stored_source(self, source: str) -> Path:
        path = Path(source)
        outside = InputError(f"{source} is not inside the project.")
        if path.anchor or ".." in path.parts:
            raise outside
        root = self.root.resolve()
        try:
            file = (root / path).resolve()
            exists = file.is_file()
        except (OSError, ValueError, RuntimeError):  # not a valid name, or links that lead to each other
            file, exists = root / path, False
        if not exists:
            raise InputError(f"There is no {source or 'scenario file'} in the project.")
        if not file.is_relative_to(root):
            raise outside
        if any(is_skipped(folder) for folder in file.parents if folder != root and folder.is_relative_to(root)):
            raise InputError(f"{source} is in a folder in which no scenarios are looked for.")
        return file

    def folders_above(self, file: Path) -> list[Path]:
        """Return the file's folder and its parents, up to the root."""
        folder = file.resolve().parent
        root = project_root(file, self.root)
        return [parent for parent in (folder, *folder.parents) if parent.is_relative_to(root)]

    def import_folders(self, file: Path) -> list[Path]:
        """Return the folders in which a scenario's Python code is looked for, nearest first."""
        folders = self._import_folders.get(file)
        if folders is None:
            folders = list(dict.fromkeys([*self.folders_above(file), self.cwd.resolve()]))
            self._import_folders[file] = folders
        return folders

    def load(self, path: str, near: Path) -> Any:
        """Return a user's object by `package.module.name`, `module:name` or `module:Class.method`."""
        return self.objects[path] if path in self.objects else self._scope(near).load(path)

    def load_module(self, file: Path) -> ModuleType:
        """Import a user's module by its file; its own imports start from its folder."""
        return self._scope(file).load_file(file.resolve())

    def _scope(self, near: Path) -> Scope:
        return Scope.for_folders(self.import_folders(near))


def is_scenario(file: Path) -> bool:
    """Return whether a file found in a folder is meant as a scenario. A file named by the user always is."""
    return file.name.endswith(_SUFFIXES) and not file.name.startswith(".") and _has_scenario_key(file)


def is_skipped(folder: Path) -> bool:
    """Return whether no scenarios are looked for in a folder: a hidden one, or one with installed packages or tools."""
    return folder.name.startswith(".") or folder.name in _SKIPPED_FOLDERS or (folder / "pyvenv.cfg").exists()


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not is_skipped(Path(parent, name))]
        yield from (Path(parent, name) for name in files)


def _has_scenario_key(file: Path) -> bool:
    """Look for the key in the text: a file with invalid YAML may be meant as a scenario, and must get its error."""
    try:
        text = read_regular(file, _MAX_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return True
    first = _FIRST_KEY.search(text)
    return first is not None and bool(re.search(rf"^{first['indent']}([\"']?)scenario\1[ \t]*:", text, re.MULTILINE))
