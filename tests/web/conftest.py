"""A server with its own database, a shared server, and a client for each."""

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from salvo.web.settings import Settings
from tests.support.scenario_store import fill
from tests.support.web import Client, WebServer, client


def pytest_configure(config: pytest.Config) -> None:
    """Here, and not for every test there is: it takes a second to load."""
    config.pluginmanager.import_plugin("schemathesis.pytest.plugin")


@pytest.fixture
def database(tmp_path: Path, empty_database: Path) -> Path:
    return Path(shutil.copy(empty_database, tmp_path / "byop_runs.db"))


@pytest.fixture
def serve(database: Path, tmp_path: Path) -> Iterator[Callable[..., WebServer]]:
    with ExitStack() as servers:

        def serve(**settings: Any) -> WebServer:
            defaults = {"project": tmp_path, "static": tmp_path / "static"}
            return servers.enter_context(WebServer(Settings(f"sqlite:///{database}", **defaults | settings)))

        yield serve


@pytest.fixture
async def api(serve: Callable[..., WebServer]) -> AsyncIterator[Client]:
    async with client(serve()) as ready:
        yield ready


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """One server for all tests that leave nothing behind, with a few stored scenario runs."""
    folder = tmp_path_factory.mktemp("shared")
    fill(folder, days=1, runs=3)
    settings = Settings(f"sqlite:///{folder / 'byop_runs.db'}", project=folder, static=folder / "static")
    with WebServer(settings) as server:
        yield server


@pytest.fixture
async def shared_api(shared: WebServer) -> AsyncIterator[Client]:
    async with client(shared) as ready:
        yield ready
