"""A user's Python, imported from the folders around a scenario, without installing anything.

Neither sys.path nor anyone else's modules are touched. The modules of a set of folders live below a package of their
own whose path these folders are, so that two folders may each have a `tools.py` in one process; and an import inside
such a module looks in its folders first, also when it is made later, in the middle of a call.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import importlib.util
import re
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.abc import MetaPathFinder
from importlib.machinery import FileFinder, ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from salvo.engine.text.messages import display_folder, display_path
from salvo.errors import InputError

_PREFIX = "_salvo_scope_"
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")
_LONGEST_MESSAGE = 300

_scopes: dict[str, Scope] = {}
_lock = threading.RLock()


class Scope:
    """The modules that can be imported from some folders, the first of them first, and then from everywhere else."""

    def __init__(self, name: str, folders: Sequence[Path]) -> None:
        self.name = name
        self.folders = tuple(folders)
        self._paths = [str(folder) for folder in folders]

    @classmethod
    def of(cls, folders: Sequence[Path]) -> Scope:
        digest = hashlib.sha256("\0".join(map(str, folders)).encode("utf-8", "surrogateescape")).hexdigest()
        name = f"{_PREFIX}{digest[:16]}"
        with _lock:
            if name not in _scopes:
                _scopes[name] = cls(name, folders)
            _scopes[name].announce()
            return _scopes[name]

    def announce(self) -> None:
        """Again each time: a test, or a user, may have cleared what Python keeps."""
        if not any(isinstance(finder, _ScopeFinder) for finder in sys.meta_path):
            sys.meta_path.insert(0, _ScopeFinder())
        if self.name not in sys.modules:
            package = ModuleType(self.name)
            package.__path__ = self._paths
            package.__spec__ = ModuleSpec(self.name, None, is_package=True)
            sys.modules[self.name] = package

    def load(self, path: str) -> Any:
        """By `package.module.name`, `module:name` or `module:Class.method`; InputError says why it cannot be."""
        named, colon, inside = path.partition(":")
        if not _DOTTED.match(named) or (colon and not _DOTTED.match(inside)) or not (colon or "." in named):
            raise InputError(f'"{path}" names no Python object.', hint="Write package.module.name or module:name.")
        with self._importing(path):
            if colon:
                module, names = self._module(named), inside.split(".")
            else:
                module, names = self._deepest_module(named.split("."))
            return self._attribute(path, module, names)

    def load_file(self, file: Path) -> ModuleType:
        """The module of a file in one of the folders."""
        with self._importing(file.name):
            module = self._module(file.stem)
        if not _same_file(module, file):
            raise InputError(f"{display_path(file)} is hidden by {_file_shown(module)}.", hint="Rename one of them.")
        return module

    @contextmanager
    def _importing(self, path: str) -> Iterator[None]:
        """Errors of the user's modules become ours, and sys.path stays as it is whatever they do to it."""
        with _lock:
            before = list(sys.path)
            self._forget_listings()
            try:
                yield
            except InputError:
                raise
            except (Exception, SystemExit) as fault:  # noqa: BLE001 - a module may raise anything, and also exit
                raise InputError(f'"{path}" cannot be imported: {self._told(fault)}.') from None
            finally:
                sys.path[:] = before

    def _forget_listings(self) -> None:
        """Python remembers what is in a folder for as long as the clock of the disk does not move on."""
        for folder in self._paths:
            if isinstance(finder := sys.path_importer_cache.get(folder), FileFinder):
                finder.invalidate_caches()

    def _deepest_module(self, names: list[str]) -> tuple[ModuleType, list[str]]:
        """As much of a dotted path as modules go; what is left are the names inside."""
        module = self._module(names[0])
        for depth in range(1, len(names) - 1):
            name = ".".join(names[: depth + 1])
            if not hasattr(module, "__path__") or importlib.util.find_spec(self._true_name(name)) is None:
                return module, names[depth:]
            module = self._module(name)
        return module, names[-1:]

    def _module(self, name: str) -> ModuleType:
        true_name = self._true_name(name)
        try:
            return importlib.import_module(true_name)
        except ModuleNotFoundError as fault:
            if fault.name is None or not f"{true_name}.".startswith(f"{fault.name}."):
                raise
            missing = fault.name.removeprefix(f"{self.name}.")
            raise InputError(
                f'There is no module "{missing}".',
                hint=f"Looked in {', '.join(map(display_folder, self.folders))}, and among the installed packages.",
            ) from None

    def _attribute(self, path: str, module: ModuleType, names: Sequence[str]) -> Any:
        found: Any = module
        for name in names:
            try:
                found = getattr(found, name)
            except AttributeError:
                close = get_close_matches(name, dir(found), n=1)
                meant = f'Did you mean "{close[0]}"?' if close else ""
                where = _file_shown(module)
                raise InputError(f'"{path}": there is no "{name}" in {where}.', hint=meant) from None
        return found

    def _true_name(self, name: str) -> str:
        return f"{self.name}.{name}" if self.owns(name.partition(".")[0]) else name

    def owns(self, top: str) -> bool:
        """Whether a module of this name comes from the folders."""
        if top == "salvo":
            return False  # a user's salvo.py must not hide us from his own imports
        if f"{self.name}.{top}" in sys.modules:
            return True
        spec = PathFinder.find_spec(f"{self.name}.{top}", self._paths)
        if spec is None:
            return False
        if not spec.has_location:
            # A folder without Python of its own, such as `docs`: any real module of that name comes before it.
            return not _is_installed(top)
        # What this process has already imported from there itself is not imported a second time beside it.
        return not (top in sys.modules and _same_file(sys.modules[top], spec.origin))

    def import_(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 - the names of builtins.__import__
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """What `import` means in a module of the folders."""
        top = name.partition(".")[0]
        if level or not self.owns(top):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = builtins.__import__(f"{self.name}.{name}", globals, locals, fromlist or (), 0)
        return module if fromlist else sys.modules[f"{self.name}.{top}"]

    def _told(self, fault: BaseException) -> str:
        """The exception and the line in the user's own file; no traceback of ours."""
        try:
            said = fault.msg if isinstance(fault, SyntaxError) else str(fault)
            lines = said.replace(f"{self.name}.", "").splitlines()
        except Exception:  # noqa: BLE001 - a stranger's exception may fail at being shown, too
            lines = []
        what = type(fault).__name__ + (f": {lines[0][:_LONGEST_MESSAGE]}" if lines else "")
        where = self._where(fault)
        return f"{where} raised {what}" if where else what

    def _where(self, fault: BaseException) -> str:
        if isinstance(fault, SyntaxError) and fault.filename and fault.lineno:
            return f"{display_path(Path(fault.filename))}, line {fault.lineno},"
        for frame in reversed(traceback.extract_tb(fault.__traceback__)):
            if any(Path(frame.filename).is_relative_to(folder) for folder in self.folders) and not _is_foreign(frame):
                return f"{display_path(Path(frame.filename))}, line {frame.lineno},"
        return ""


def _is_foreign(frame: traceback.FrameSummary) -> bool:
    """Installed in a virtual environment inside the project, or this very package in its own repository."""
    ours = Path(__file__).parents[2]
    return "site-packages" in Path(frame.filename).parts or Path(frame.filename).is_relative_to(ours)


def _file_shown(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return display_path(Path(file)) if file else module.__name__


def _same_file(module: ModuleType, file: Path | str | None) -> bool:
    own = getattr(module, "__file__", None)
    return own is not None and file is not None and Path(own).resolve() == Path(file).resolve()


def _is_installed(top: str) -> bool:
    try:
        return top in sys.modules or importlib.util.find_spec(top) is not None
    except ValueError:  # a module without a spec is there all the same
        return True


class _ScopeFinder(MetaPathFinder):
    """Finds what is below the packages of scopes, and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        scope = _scopes.get(fullname.partition(".")[0])
        if scope is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _ScopedLoader(scope, fullname, spec.loader.path)
        return spec


class _ScopedLoader(SourceFileLoader):
    def __init__(self, scope: Scope, fullname: str, path: str) -> None:
        super().__init__(fullname, path)
        self._scope = scope

    def path_stats(self, path: str) -> Mapping[str, Any]:
        """Refused, so that no compiled file is read or written.

        One would still be taken for the source's after that was changed, within a second and to the same length; and
        what is under test must be what stands in the file.
        """
        raise OSError(path)

    def exec_module(self, module: ModuleType) -> None:
        # Functions keep the builtins of their module: what they import when they are called goes the same way.
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": self._scope.import_}
        super().exec_module(module)
