"""Both databases, for every test that asks for a store."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from salvo.playbooks.store.store import EvaluationStore
from tests.support import postgres
from tests.support.clock import HeldClock
from tests.support.postgres import Postgres


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Postgres]:
    if postgres.binaries() is None:
        pytest.skip("no PostgreSQL here: initdb and postgres are neither on PATH nor named by pg_config")
    with postgres.running() as server:
        yield server


@pytest.fixture(scope="session")
def sqlite_pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with its tables, to be copied: making them takes ten times as long."""
    file = tmp_path_factory.mktemp("pattern") / "byop_runs.db"
    EvaluationStore.open(f"sqlite:///{file}", HeldClock()).close()
    return file


@pytest.fixture(scope="session")
def postgresql_pattern(postgresql: Postgres) -> str:
    """The same on the server, by its name."""
    url = postgresql.url()
    EvaluationStore.open(url, HeldClock()).close()
    return str(make_url(url).database)


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty_url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without any table."""
    if kind == "sqlite":
        return f"sqlite:///{tmp_path / 'byop_runs.db'}"
    server: Postgres = request.getfixturevalue("postgresql")
    return server.url()


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with its tables, and nothing in them."""
    if kind == "sqlite":
        file = tmp_path / "byop_runs.db"
        shutil.copy(request.getfixturevalue("sqlite_pattern"), file)
        return f"sqlite:///{file}"
    server: Postgres = request.getfixturevalue("postgresql")
    return server.url(like=request.getfixturevalue("postgresql_pattern"))


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def store(url: str, clock: HeldClock) -> Iterator[EvaluationStore]:
    with EvaluationStore.open(url, clock) as opened:
        yield opened
