"""A hash of the agent's own code: the files that a scenario's adapter names, and what they import from the project.

The files are read and parsed, never imported. Imports inside functions count, too. What is installed elsewhere, what a
program of another language loads, and modules whose names are computed are not followed: two equal hashes do not show
that the agent is the same, but two different hashes show that its code was changed.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from salvo.engine.runtime.files import read_regular
from salvo.scenarios.code_references import find_modules, find_program
from salvo.scenarios.result import COMMAND, PROVIDER_ADAPTERS
from salvo.scenarios.spec.project import Project, is_skipped
from salvo.scenarios.spec.schema import Scenario

_MAX_FILES = 2000
_MAX_BYTES = 10_000_000
_MODULE_OPTION = "-m"


def agent_fingerprint(scenario: Scenario, file: Path, project: Project) -> str | None:
    """Return the hash; None for an agent without code, and if its code is not found or too large to read."""
    if scenario.adapter in PROVIDER_ADAPTERS:
        return None
    folders = project.import_folders(file)
    if scenario.adapter == COMMAND:
        starts, folders = _command_files(scenario.adapter_options, file, project, folders)
    else:
        starts = _adapter_files(scenario.adapter.removeprefix("function:"), project, folders)
    return _SourceFiles(project.root.resolve(), folders).fingerprint(starts)


def _adapter_files(path: str, project: Project, folders: Sequence[Path]) -> list[Path]:
    if path in project.objects:
        try:
            source = inspect.getsourcefile(inspect.unwrap(project.objects[path]))
        except TypeError:  # an object without a file of its own
            source = None
        return [] if source is None else [Path(source)]
    return [origin for origin in find_modules(path, folders)[0] if isinstance(origin, Path)]


def _command_files(
    options: Mapping[str, Any], file: Path, project: Project, folders: Sequence[Path]
) -> tuple[list[Path], list[Path]]:
    """Return the files of the project that a command names, and the folders from which they import."""
    command = options.get("command", "")
    try:
        words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    except (ValueError, TypeError):
        return [], []
    cwd = options.get("cwd")
    folder = file.parent / cwd if isinstance(cwd, str) else project.root
    program = find_program(words[0], folder, None) if words else None
    files = [] if program is None else [program]
    for option, word in pairwise(words):
        if option == _MODULE_OPTION:
            files += [path for path in find_modules(f"{word}:", [folder])[0] if isinstance(path, Path)]
        elif "\0" not in word and (folder / word).is_file():
            files.append(folder / word)
    root = project.root.resolve()
    own = [path for path in files if _is_own(path, root)]
    return own, list(dict.fromkeys([*(path.resolve().parent for path in own), folder.resolve(), *folders]))


@dataclass
class _SourceFiles:
    """Follows imports from file to file, inside the project."""

    root: Path
    folders: Sequence[Path]
    _hashes: dict[Path, str] = field(default_factory=dict)
    _bytes: int = 0

    def fingerprint(self, starts: Iterable[Path]) -> str | None:
        waiting = [path.resolve() for path in starts]
        if not waiting:
            return None
        while waiting:
            path = waiting.pop()
            if path in self._hashes:
                continue
            try:
                content = read_regular(path, _MAX_BYTES)
            except OSError:
                return None
            self._bytes += len(content)
            self._hashes[path] = hashlib.sha256(content).hexdigest()
            if len(self._hashes) > _MAX_FILES or self._bytes > _MAX_BYTES:
                return None
            if path.suffix == ".py":
                waiting += (imported for imported in self._imported(path, content) if _is_own(imported, self.root))
        lines = sorted(f"{self._name(path)}\0{digest}\n" for path, digest in self._hashes.items())
        return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()

    def _name(self, path: Path) -> str:
        return os.fspath(path.relative_to(self.root)) if path.is_relative_to(self.root) else path.name

    def _imported(self, path: Path, content: bytes) -> Iterator[Path]:
        try:
            tree = ast.parse(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._module(self.folders, alias.name.split("."))
            elif isinstance(node, ast.ImportFrom):
                names = node.module.split(".") if node.module else []
                folders = [path.parents[node.level - 1]] if 0 < node.level <= len(path.parents) else self.folders
                for alias in node.names:
                    yield from self._module(folders, [*names, alias.name])

    def _module(self, folders: Sequence[Path], names: Sequence[str]) -> Iterator[Path]:
        """Yield the files of a module and of its packages, as far as the names lead to files."""
        for folder in folders:
            place, has_file = folder, False
            for name in names:
                package, module = place / name / "__init__.py", place / f"{name}.py"
                if package.is_file():
                    yield package.resolve()
                    has_file = True
                elif module.is_file():
                    yield module.resolve()
                    has_file = True
                    break
                place = place / name
                if not place.is_dir():
                    break
            if has_file:
                return


def _is_own(path: Path, root: Path) -> bool:
    """Return whether a file is in the project, and not among installed packages."""
    resolved = path.resolve()
    if not resolved.is_relative_to(root):
        return False
    return not any(is_skipped(folder) for folder in resolved.parents if folder != root and folder.is_relative_to(root))
