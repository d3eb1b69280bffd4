"""Which lines and branches of the package a process reaches: the modules that it imports get probes."""

import importlib.util
import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from slipcover import Slipcover

from tests.support.coverage import kept_code

RESULTS = "SALVO_TEST_COVERAGE"  # the variable with the folder for the results of all processes
ROOT = Path(__file__).parents[3]
_SOURCE = ROOT / "src" / "salvo"

with (ROOT / "pyproject.toml").open("rb") as _file:
    SETTINGS: dict[str, Any] = tomllib.load(_file)["tool"]["slipcover"]

# No probe is taken out: SlipCover would search all modules for the functions to change, each time some of them fired.
_recorder = Slipcover(branch=True, d_miss_threshold=-1, exclude_also=SETTINGS["exclude-also"])


class _Loader(SourceFileLoader):
    """Loads a module with probes in its code."""

    def get_code(self, fullname: str) -> CodeType:
        return kept_code.with_probes(_recorder, Path(self.path))


class _Finder(MetaPathFinder):
    """Finds the modules of the named packages before any other finder does."""

    def __init__(self, packages: tuple[str, ...]) -> None:
        self._prefixes = tuple(f"{package}." for package in packages)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not f"{fullname}.".startswith(self._prefixes):
            return None
        return _with_probes(PathFinder.find_spec(fullname, path, target))


def _with_probes(spec: ModuleSpec | None) -> ModuleSpec | None:
    if (
        spec is not None
        and isinstance(spec.loader, SourceFileLoader)
        and Path(spec.loader.path).is_relative_to(_SOURCE)
    ):
        spec.loader = _Loader(spec.loader.name, spec.loader.path)
    return spec


def measure(*packages: str) -> None:
    """Measure the modules of these packages that are imported from now on."""
    sys.meta_path.insert(0, _Finder(packages))
    # Alembic loads the migrations as files, past the finders.
    find_file = importlib.util.spec_from_file_location
    importlib.util.spec_from_file_location = lambda *args, **options: _with_probes(find_file(*args, **options))


def prepare() -> None:
    """Insert the probes into all modules once, before several processes would do it at the same time."""
    kept_code.keep_all(sorted(_SOURCE.rglob("*.py")))


def save() -> None:
    """Write what this process has reached to the folder of the results."""
    folder = Path(os.environ[RESULTS])
    if folder.is_dir():  # a program that outlives the tests has nobody to write for
        reached = {file: sorted(places, key=str) for file, places in list(_recorder.newly_seen.items())}
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".json", delete=False) as file:
            json.dump(reached, file)


def merged(folder: Path) -> dict[str, Any]:
    """What this process and all that wrote to the folder have reached; modules that nobody imported count too."""
    for result in folder.glob("*.json"):
        for file, places in json.loads(result.read_bytes()).items():
            # A line is a number, and a branch two.
            _recorder.all_seen[file].update(tuple(place) if isinstance(place, list) else place for place in places)
    for source in _SOURCE.rglob("*.py"):
        kept_code.with_probes(_recorder, source)
    total: dict[str, Any] = _recorder.get_coverage()
    return total
