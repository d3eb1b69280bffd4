"""Stored runs of scenarios for the routes that show them."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from salvo.scenarios.store.store import RunStore
from salvo.web.settings import Settings
from tests.support.scenario_store import fill
from tests.support.web import Client, WebServer, client


@pytest.fixture
def filled(tmp_path: Path) -> RunStore:
    """Three days: twelve batches of eight runs."""
    return fill(tmp_path, days=3, runs=8)


@pytest.fixture(scope="session")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> RunStore:
    """The same, for tests that only read."""
    return fill(tmp_path_factory.mktemp("weeks"), days=3, runs=8)


@pytest.fixture(scope="session")
def showing(weeks: RunStore) -> Iterator[WebServer]:
    folder = weeks.folder.parent
    with WebServer(Settings(f"sqlite:///{folder / 'byop_runs.db'}", project=folder, static=folder)) as server:
        yield server


@pytest.fixture
async def page(showing: WebServer) -> AsyncIterator[Client]:
    async with client(showing) as ready:
        yield ready


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    store = RunStore(tmp_path / ".salvo")
    store.prepare()
    return store
