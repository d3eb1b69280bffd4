"""The packages, built once for all tests, from a copy: the page in this checkout is never touched."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
STATIC = Path("src/salvo/web/static")
PARTS = ("src", "frontend", "hatch_build.py", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore")
NO_PROGRAMS = str(Path(__file__).parent)
STRAY = ("src/salvo/notes.db", "src/salvo/__pycache__/old.cpython-311.pyc", "tests/test_it.py", "byop_runs.db")
"""What lies about in a checkout, and belongs into no package."""


@dataclass(frozen=True)
class Packages:
    sdist: Path
    wheel: Path
    output: str
    """The output of the builds."""


@dataclass(frozen=True)
class Installation:
    """A virtual environment that has a wheel, and nothing of this checkout."""

    folder: Path
    work: Path

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.folder / "bin" / command, *arguments],
            cwd=self.work,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    @contextmanager
    def serving(self) -> Iterator[tuple[str, subprocess.Popen[str]]]:
        """`byop serve` at the address that it prints."""
        server = subprocess.Popen(
            [self.folder / "bin" / "byop", "serve", "--port", "0", "--no-open"],
            cwd=self.work,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip(), server
        finally:
            server.terminate()
            server.communicate(timeout=20)


def environment(*folders: Path) -> dict[str, str]:
    """No Node, no keys, nothing of the test run's own; `folders` come first on the path."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "PATH": os.pathsep.join(map(str, folders)) or NO_PROGRAMS, "PYTHONDONTWRITEBYTECODE": "1"}


def checkout(folder: Path, *, page: bool) -> Path:
    """What a build takes from a checkout. The page is the one that was built here, or stands in for it."""
    for name in PARTS:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(
                source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules", "static")
            )
        else:
            shutil.copy(source, folder / name)
    for name in STRAY:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("stray")
    if page:
        if (CHECKOUT / STATIC / "index.html").is_file():
            shutil.copytree(CHECKOUT / STATIC, folder / STATIC)
        else:
            (folder / STATIC / "assets").mkdir(parents=True)
            (folder / STATIC / "index.html").write_text("<!doctype html><title>Salvo</title>")
            (folder / STATIC / "assets" / "index-0a1b2c3d.js").write_text("// the page")
    return folder


def build(source: Path, out: Path, *arguments: str, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Offline: with the tools of this environment, and without Node unless `path` has one."""
    return subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, *arguments, source],
        env=environment(*path),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """An sdist, and from that a wheel."""
    out = tmp_path_factory.mktemp("dist")
    built = build(checkout(tmp_path_factory.mktemp("checkout"), page=True), out)
    assert built.returncode == 0, built.stdout + built.stderr
    [sdist], [wheel] = out.glob("*.tar.gz"), out.glob("*.whl")
    return Packages(sdist, wheel, built.stdout + built.stderr)


def installed(wheel: Path, folder: Path) -> Installation:
    """The dependencies are this environment's, by a path file: what is installed there in editable form stays out."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--python", python, "install", "--no-deps", "--no-index", wheel],
        env=environment(),
        check=True,
    )
    [site] = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (folder / "work").mkdir()
    return Installation(folder / "venv", folder / "work")


@pytest.fixture(scope="session")
def installation(packages: Packages, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return installed(packages.wheel, tmp_path_factory.mktemp("installation"))
