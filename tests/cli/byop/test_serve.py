"""`byop serve`: the address, the port and the page."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from salvo.cli.byop import byop
from tests.support.project import BIN
from tests.support.web import server_process


@pytest.mark.usefixtures("coverage_in_processes")
def test_it_says_where_it_is_and_how_to_get_the_page_and_stops_when_asked(tmp_path: Path) -> None:
    with server_process(tmp_path) as server:
        assert server.url.startswith("http://127.0.0.1:")
        os.kill(server.process.pid, signal.SIGINT)
        assert server.process.wait(20) == 0
    said = server.log.read_text()
    assert "byop_runs.db" in said
    assert "Stopped." in said


def test_an_address_with_a_password_is_not_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    address = "http://me:password@127.0.0.1/v1"
    refused = CliRunner().invoke(byop, ["serve", "--no-open", "--allow-base-url", address], catch_exceptions=False)
    assert refused.exit_code == 2
    assert "cannot contain a password" in refused.stderr


@pytest.mark.load
def test_a_port_that_is_taken_is_a_sentence(tmp_path: Path) -> None:
    with server_process(tmp_path) as server:
        port = server.url.rpartition(":")[2]
        second = subprocess.run(
            [str(BIN / "byop"), "serve", "--no-open", "--port", port],
            check=False,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert second.returncode == 2
    assert f"The server cannot listen on 127.0.0.1, port {port}." in second.stderr
    assert "Traceback" not in second.stderr


@pytest.fixture(autouse=True)
def _no_database_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
