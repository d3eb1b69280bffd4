"""An office for the tests that evaluate."""

import shutil
from pathlib import Path

import pytest

from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.office import Office


@pytest.fixture(scope="session")
def a_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With its tables and nothing in them, to be copied: making them takes ten times as long."""
    file = tmp_path_factory.mktemp("database") / "byop_runs.db"
    EvaluationStore.open(f"sqlite:///{file}", HeldClock()).close()
    return file


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, a_database: Path) -> Office:
    shutil.copy(a_database, tmp_path / "byop_runs.db")
    return Office(tmp_path, monkeypatch)
