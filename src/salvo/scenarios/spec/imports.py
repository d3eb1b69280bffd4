"""Import a user's Python code from the folders around a scenario, without installing it.

sys.path and other modules stay as they are. The modules of a set of folders belong to a package of their own, whose
path is these folders, so that two folders may each have a `tools.py` in one process. An import inside such a module
looks in its folders first, also if a function makes it later.
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
from importlib.abc import MetaPathFinder
from importlib.machinery import FileFinder, ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from salvo.engine.text.messages import display_folder, display_path, nearest
from salvo.errors import InputError

_PACKAGE = Path(__file__).parents[2]
_PREFIX = "_salvo_scope_"
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")
_MAX_MESSAGE = 300

_scopes: dict[str, Scope] = {}
_lock = threading.RLock()


class Scope:
    """The modules that can be imported from some folders, the first folder first, and then from everywhere else."""

    def __init__(self, name: str, folders: Sequence[Path]) -> None:
        self.name = name
        self.folders = tuple(folders)
        self._paths = [str(folder) for folder in folders]

    @classmethod
    def for_folders(cls, folders: Sequence[Path]) -> Scope:
        digest = hashlib.sha256("\0".join(map(str, folders)).encode("utf-8", "surrogateescape")).hexdigest()
        name = f"{_PREFIX}{digest[:16]}"
        with _lock:
            if name not in _scopes:
                _scopes[name] = cls(name, folders)
            _scopes[name].register()
            return _scopes[name]

    def register(self) -> None:
        """Add the package and its finder. This is repeated, because a test may have cleared sys.modules."""
        if not any(isinstance(finder, _ScopeFinder) for finder in sys.meta_path):
            sys.meta_path.insert(0, _ScopeFinder())
        if self.name not in sys.modules:
            package = ModuleType(self.name)
            package.__path__ = self._paths
            package.__spec__ = ModuleSpec(self.name, None, is_package=True)
            sys.modules[self.name] = package

    def load(self, path: str) -> Any:
        """Return an object by `package.module.name`, `module:name` or `module:Class.method`, or raise InputError."""
        module_path, colon, attributes = path.partition(":")
        is_dotted = _DOTTED.match(module_path) and (_DOTTED.match(attributes) if colon else "." in module_path)
        if not is_dotted:
            hint = "Write package.module.name or module:name."
            raise InputError(f'"{path}" is not the path of a Python object.', hint=hint)
        with self._importing(path):
            if colon:
                module, names = self._import(module_path), attributes.split(".")
            else:
                module, names = self._import_deepest(module_path.split("."))
            return self._attribute(path, module, names)

    def load_file(self, file: Path) -> ModuleType:
        """Import the module of a file in one of the folders."""
        with self._importing(file.name):
            module = self._import(file.stem)
        if not _same_file(module, file):
            raise InputError(f"{display_path(file)} is hidden by {_display_file(module)}.", hint="Rename one of them.")
        return module

    @contextmanager
    def _importing(self, path: str) -> Iterator[None]:
        """Raise InputError for any error of the user's modules, and restore sys.path if they change it."""
        with _lock:
            before = list(sys.path)
            # Let Python list the folders again: it would miss a file that is as new as its last listing.
            for folder in self._paths:
                if isinstance(finder := sys.path_importer_cache.get(folder), FileFinder):
                    finder.invalidate_caches()
            try:
                yield
            except InputError:
                raise
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a module may raise anything, and also exit
                raise InputError(f'"{path}" cannot be imported: {self._describe(error)}.') from None
            finally:
                sys.path[:] = before

    def _import_deepest(self, names: list[str]) -> tuple[ModuleType, list[str]]:
        """Import as many names of a dotted path as are modules, and return the rest."""
        module = self._import(names[0])
        for depth in range(1, len(names) - 1):
            name = ".".join(names[: depth + 1])
            if not hasattr(module, "__path__") or importlib.util.find_spec(self._qualified(name)) is None:
                return module, names[depth:]
            module = self._import(name)
        return module, names[-1:]

    def _import(self, name: str) -> ModuleType:
        qualified = self._qualified(name)
        try:
            return importlib.import_module(qualified)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{qualified}.".startswith(f"{error.name}."):
                raise
            missing = error.name.removeprefix(f"{self.name}.")
            raise InputError(
                f'There is no module "{missing}".',
                hint=f"Looked in {', '.join(map(display_folder, self.folders))}, and among the installed packages.",
            ) from None

    def _attribute(self, path: str, module: ModuleType, names: Sequence[str]) -> Any:
        value: Any = module
        for name in names:
            try:
                value = getattr(value, name)
            except AttributeError:
                suggestion = nearest(name, dir(value))
                hint = f'Did you mean "{suggestion}"?' if suggestion else ""
                raise InputError(f'"{path}": there is no "{name}" in {_display_file(module)}.', hint=hint) from None
        return value

    def _qualified(self, name: str) -> str:
        return f"{self.name}.{name}" if self.owns(name.partition(".")[0]) else name

    def owns(self, top: str) -> bool:
        """Return whether a module of this name comes from the folders."""
        if top == "salvo":
            return False  # a user's own salvo.py must not hide this package
        if f"{self.name}.{top}" in sys.modules:
            return True
        spec = PathFinder.find_spec(f"{self.name}.{top}", self._paths)
        if spec is None:
            return False
        if not spec.has_location:
            # A folder without an __init__.py, such as `docs`: an installed module of this name takes precedence.
            return not _is_installed(top)
        # A module that this process has already imported from there is not imported a second time.
        return not (top in sys.modules and _same_file(sys.modules[top], spec.origin))

    def import_(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 - the names of builtins.__import__
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Import as a module of the folders does: from the folders first."""
        top = name.partition(".")[0]
        if level or not self.owns(top):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = builtins.__import__(f"{self.name}.{name}", globals, locals, fromlist or (), 0)
        return module if fromlist else sys.modules[f"{self.name}.{top}"]

    def _describe(self, error: BaseException) -> str:
        """Return the exception and the line in the user's own file."""
        try:
            message = error.msg if isinstance(error, SyntaxError) else str(error)
            lines = message.replace(f"{self.name}.", "").splitlines()
        except Exception:  # noqa: BLE001 - a user's exception may raise in __str__
            lines = []
        description = type(error).__name__ + (f": {lines[0][:_MAX_MESSAGE]}" if lines else "")
        where = self._where(error)
        return f"{where} raised {description}" if where else description

    def _where(self, error: BaseException) -> str:
        if isinstance(error, SyntaxError) and error.filename and error.lineno:
            return f"{display_path(Path(error.filename))}, line {error.lineno},"
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            file = Path(frame.filename)
            is_foreign = "site-packages" in file.parts or file.is_relative_to(_PACKAGE)
            if not is_foreign and any(file.is_relative_to(folder) for folder in self.folders):
                return f"{display_path(file)}, line {frame.lineno},"
        return ""


def _display_file(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return display_path(Path(file)) if file else module.__name__


def _same_file(module: ModuleType, file: Path | str | None) -> bool:
    own = getattr(module, "__file__", None)
    return own is not None and file is not None and Path(own).resolve() == Path(file).resolve()


def _is_installed(top: str) -> bool:
    try:
        return top in sys.modules or importlib.util.find_spec(top) is not None
    except ValueError:  # the module exists, but has no spec
        return True


class _ScopeFinder(MetaPathFinder):
    """Finds the modules of scopes only."""

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
        """Raise OSError, so that no compiled file is read or written.

        Python would use a stale one if the source changes within a second and keeps its length, and then something
        else than the file's content would be tested.
        """
        raise OSError(path)

    def exec_module(self, module: ModuleType) -> None:
        # Functions keep the builtins of their module, so imports inside them take the same way.
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": self._scope.import_}
        super().exec_module(module)
