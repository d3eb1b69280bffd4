"""`salvo dashboard` as a person starts it: a real process, what it prints, what it leaves behind."""

import asyncio
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from salvo.cli.byop import byop
from salvo.cli.exit_codes import ExitCode
from salvo.cli.salvo import salvo
from tests.support.scenario_store import fill
from tests.support.web import client, server_process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def left_behind(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


async def test_it_says_where_it_listens_and_shows_the_store_of_this_folder(folder: Path) -> None:
    fill(folder, days=1, runs=2)
    with server_process(folder, served_by="salvo dashboard") as server:
        async with client(server) as api:
            welcome = await api.ask("GET", server.login_address().removeprefix(server.url))
            assert (welcome.status, welcome.headers["Location"]) == (303, "/scenarios")
            assert len((await api.get("/api/batches"))["rows"]) == 4
            assert (await api.get("/api/about"))["scenarios"] == str(folder / ".salvo")
    said = server.log.read_text()
    assert f"Showing the runs in {folder / '.salvo'}. To show them, nothing leaves this machine." in said
    assert left_behind(folder) == [".salvo", "serve.log"]


async def test_byop_serve_shows_the_runs_of_its_folder_as_well(tmp_path: Path) -> None:
    fill(tmp_path, days=1, runs=1)
    with server_process(tmp_path) as server:
        async with client(server) as api:
            assert len((await api.get("/api/batches"))["rows"]) == 4
            assert (await api.get("/api/history"))["rows"] == []


@pytest.mark.parametrize("command", [salvo, byop], ids=["salvo dashboard", "byop serve"])
def test_a_port_that_is_taken_is_a_sentence(command: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".salvo").mkdir()
    monkeypatch.chdir(tmp_path)
    name = "dashboard" if command is salvo else "serve"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        asked = [name, "--no-open", "--port", str(port)]
        ended = CliRunner().invoke(salvo if command is salvo else byop, asked)
    assert ended.exit_code == ExitCode.USAGE
    assert f"Error: The server cannot listen on 127.0.0.1, port {port}.\n" in ended.output


async def test_a_store_that_is_made_while_it_is_open_appears(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    with server_process(tmp_path, served_by="salvo dashboard") as server:
        async with client(server) as api, asyncio.timeout(30):
            assert (await api.get("/api/batches"))["rows"] == []
            told = api.listen("/api/batches/events")
            assert (await anext(told)).event == "watching"
            fill(tmp_path, days=1, runs=1)
            assert (await anext(told)).event == "changed"
            assert len((await api.get("/api/batches"))["rows"]) == 4
            await told.aclose()
    assert "where nothing is stored yet: `salvo run` makes some" in server.log.read_text()
