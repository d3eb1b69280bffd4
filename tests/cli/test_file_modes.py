"""Who else on the machine can read what the commands store."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from salvo.engine.runtime.files import temporary_beside, write
from tests.support.project import BIN, UserProject
from tests.support.provider import LoopbackProvider, Say

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")


def modes(folder: Path) -> dict[str, int]:
    paths = [folder, *folder.rglob("*")]
    return {str(path.relative_to(folder.parent)): stat.S_IMODE(path.stat().st_mode) for path in paths}


def run(project: UserProject, *arguments: str, shared: bool = False) -> None:
    """Run a command with an umask that takes nothing away."""
    environ = {**os.environ, **project.environ, "SALVO_SHARED": "1" if shared else ""}
    command = [str(BIN / arguments[0]), *arguments[1:]]
    subprocess.run(command, cwd=project.folder, env=environ, umask=0, check=False, capture_output=True, timeout=60)


@pytest.mark.parametrize("shared", [False, True])
def test_a_store_is_for_its_owner_alone_unless_it_is_shared(project: UserProject, shared: bool) -> None:
    project.store.rmdir()
    with LoopbackProvider(Say("hello")) as provider:
        project.reach(provider)
        run(project, "salvo", "run", "-n", "1", "--record", "-o", "named.json", shared=shared)
    run(project, "salvo", "report", shared=shared)
    stored = modes(project.store)
    assert {"runs", "recordings", "batches", "cache"} <= {path.name for path in project.store.iterdir()}
    files = {mode for name, mode in stored.items() if (project.store.parent / name).is_file()}
    folders = {mode for name, mode in stored.items() if (project.store.parent / name).is_dir()}
    assert (files, folders) == (({0o666}, {0o777}) if shared else ({0o600}, {0o700})), stored
    assert stat.S_IMODE((project.folder / "named.json").stat().st_mode) == 0o666, "where the user wants it, as ever"


def test_init_makes_a_store_for_its_owner_alone(project: UserProject) -> None:
    run(project, "salvo", "init", "new")
    assert modes(project.folder / "new/.salvo") == {
        ".salvo": 0o700,
        ".salvo/.gitignore": 0o600,
        ".salvo/scenario.schema.json": 0o600,
    }
    assert stat.S_IMODE((project.folder / "new").stat().st_mode) == 0o777


def test_a_store_that_exists_keeps_its_modes(project: UserProject) -> None:
    with LoopbackProvider(Say("hello")) as provider:
        project.reach(provider)
        run(project, "salvo", "run", "-n", "1", shared=True)
        before = modes(project.store)
        run(project, "salvo", "run", "--resume", "latest")
        run(project, "salvo", "report", "--rebuild")
    after = modes(project.store)
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("url", ["sqlite:///byop_runs.db", "sqlite:///file:byop%5Fruns.db?uri=true&cache=private"])
def test_the_database_with_its_log_is_for_its_owner_alone(project: UserProject, url: str) -> None:
    project.write("text.txt", "The tenant pays 10 EUR.")
    code = (
        "import os, sys; os.umask(0)\n"
        "from pathlib import Path\n"
        "from salvo.engine.runtime.clock import SystemClock\n"
        "from salvo.playbooks.store.store import EvaluationStore\n"
        f"store = EvaluationStore.open({url!r}, SystemClock())\n"
        "print(*sorted(f'{path.name} {path.stat().st_mode & 0o777:o}' for path in Path().glob('byop_runs*')), sep='\\n')\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=project.folder, capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout.splitlines() == ["byop_runs.db 600", "byop_runs.db-shm 600", "byop_runs.db-wal 600"]


def test_a_temporary_file_has_a_random_name_and_follows_no_link(tmp_path: Path) -> None:
    first, second = (temporary_beside(tmp_path / "run.json") for _ in range(2))
    assert first != second
    assert str(os.getpid()) not in first.name.split(".")
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    first.symlink_to(victim)
    with pytest.raises(FileExistsError):
        write(first, b"evil")
    assert victim.read_text() == "untouched"
