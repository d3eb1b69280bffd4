"""How `byop serve` and `salvo dashboard` let their user in: real processes, a browser that is a program, real files."""

import html
import json
import os
import re
import signal
import socket
import stat
import sys
import time
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from salvo.cli.byop import byop
from salvo.web import static_files
from salvo.web.sessions import CODE_LIFETIME
from salvo.web.settings import STATIC
from tests.support import chromium
from tests.support.web import TOKEN, client, server_process, session_cookie, stranger

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files, Unix sockets and /proc")

EVERYWHERE = "0.0.0.0"  # noqa: S104 - that it is guarded is what is tested
BROWSER = """
import json, os, pathlib, re, sys, urllib.parse, urllib.request
path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(sys.argv[1]).path))
folder = path.parent
page = path.read_text()
commands = []
for process in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        commands.append((process / "cmdline").read_bytes().decode(errors="replace"))
    except OSError:
        pass
seen = {
    "arguments": sys.argv[1:],
    "page": page,
    "modes": [oct(path.stat().st_mode & 0o777), oct(folder.stat().st_mode & 0o777)],
    "commands": commands,
    "variables": sorted(os.environ),
}
pathlib.Path("seen.json.new").write_text(json.dumps(seen))
os.rename("seen.json.new", "seen.json")
"""
COMMANDS = ["byop serve", "salvo dashboard"]


@pytest.mark.load
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
def test_the_browser_is_opened_by_a_private_file_and_no_secret_is_in_a_command_line(
    tmp_path: Path, browser: Path, command: str
) -> None:
    with server_process(tmp_path, served_by=command, opens_browser=True):
        seen = _seen(browser)
    code = _target(seen["page"]).partition("/login?code=")[2]
    assert len(code) == 43
    [argument] = seen["arguments"]
    assert argument.startswith("file://")
    assert seen["modes"] == ["0o600", "0o700"]
    everything = "\n".join(seen["commands"])
    assert argument in everything  # the list includes the browser
    assert code not in everything
    assert TOKEN not in everything
    assert "SALVO_TOKEN" not in seen["variables"]


@pytest.mark.load
def test_the_file_is_removed_when_its_code_was_used_and_when_the_server_stops(
    tmp_path: Path, browser: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    with server_process(tmp_path, opens_browser=True):
        address = _target(_seen(browser)["page"])
        assert len(list(runtime.iterdir())) == 1
        assert session_cookie(address)
        assert list(runtime.iterdir()) == []
    browser.unlink()
    with server_process(tmp_path, opens_browser=True) as server:
        _seen(browser)
        assert len(list(runtime.iterdir())) == 1
        os.kill(server.process.pid, signal.SIGTERM)
        server.process.wait(20)
        assert list(runtime.iterdir()) == []


@pytest.mark.load
def test_files_that_killed_servers_left_are_removed_once_their_codes_have_expired(
    tmp_path: Path, browser: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    with server_process(tmp_path, opens_browser=True) as server:
        _seen(browser)
        server.kill()
    [left_over] = runtime.iterdir()
    expired = left_over.stat().st_mtime - CODE_LIFETIME.total_seconds() - 1
    os.utime(left_over, (expired, expired))
    foreign = runtime / "salvo-notes"
    foreign.mkdir()
    os.utime(foreign, (expired, expired))
    browser.unlink()
    with server_process(tmp_path, opens_browser=True):
        _seen(browser)
        assert not left_over.exists()
        assert foreign.exists()
        assert len(list(runtime.iterdir())) == 2


async def test_each_printed_address_logs_one_browser_in_and_then_another_is_printed(tmp_path: Path) -> None:
    with server_process(tmp_path, token=None) as server:
        first = server.login_address()
        name, value = session_cookie(first)
        second = server.login_address()
        assert first != second
        assert session_cookie(second) != (name, value)
        async with stranger(server.url) as api:
            assert (await api.ask("GET", first.removeprefix(server.url))).status == 401
            assert (await api.ask("GET", "/api/about", cookie=f"{name}={value}")).status == 200
            assert (await api.ask("GET", "/api/about", authorization=f"Bearer {TOKEN}")).status == 401
    assert value not in server.log.read_text()


@pytest.mark.load
def test_a_login_succeeds_when_nobody_reads_what_the_server_prints(tmp_path: Path) -> None:
    with server_process(tmp_path) as server:
        assert server.process.stdout is not None
        server.process.stdout.close()
        assert session_cookie(server.login_address())


@pytest.mark.load
async def test_a_restart_ends_the_sessions(tmp_path: Path) -> None:
    with server_process(tmp_path) as server:
        name, value = session_cookie(server.login_address())
        port = server.url.rpartition(":")[2]
    with server_process(tmp_path, "--port", port) as server:
        async with stranger(server.url) as api:
            assert (await api.ask("GET", "/api/about", cookie=f"{name}={value}")).status == 401


@pytest.mark.load
async def test_a_token_file_is_made_for_its_owner_only_and_used_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    tokens = []
    for _ in range(2):
        with server_process(tmp_path, "--token-file", str(file), token=None) as server:
            tokens.append(file.read_text().strip())
            async with stranger(server.url) as api:
                assert (await api.ask("GET", "/api/about")).status == 401
                assert (await api.ask("GET", "/api/about", authorization=f"Bearer {tokens[-1]}")).status == 200
        assert tokens[-1] not in server.first_address + server.log.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert tokens[0] == tokens[1]
    assert len(tokens[0]) == 43


@pytest.mark.load
@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_modes_do_not_depend_on_the_umask(tmp_path: Path, umask: int) -> None:
    previous = os.umask(umask)
    try:
        with server_process(tmp_path, "--token-file", "token", "--unix-socket", "socket", token=None):
            assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
            assert stat.S_IMODE((tmp_path / "socket").stat().st_mode) == 0o600
    finally:
        os.umask(previous)


@pytest.mark.parametrize(
    "kind, message",
    [
        ("readable", "is not yours alone"),
        ("short", "has no usable token"),
        ("link", "cannot be read"),
        ("pipe", "is not a regular file"),
        ("folder", "Is a directory"),
        ("binary", "it is not text"),
    ],
)
def test_a_token_file_that_cannot_be_trusted_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, message: str
) -> None:
    file = tmp_path / "token"
    if kind == "link":
        (tmp_path / "target").write_text(TOKEN)
        file.symlink_to(tmp_path / "target")
    elif kind == "pipe":
        os.mkfifo(file, 0o600)
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_bytes({"readable": TOKEN.encode(), "short": b"short", "binary": b"\xff" * 40}[kind])
        file.chmod(0o644 if kind == "readable" else 0o600)
    refused = _refused(tmp_path, monkeypatch, "--token-file", str(file))
    assert message in refused


def test_a_short_token_in_the_environment_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SALVO_TOKEN", "short")
    assert "The environment variable SALVO_TOKEN has no usable token" in _refused(tmp_path, monkeypatch)
    monkeypatch.setenv("SALVO_TOKEN", TOKEN)
    assert "SALVO_TOKEN and --token-file both give a token." in _refused(tmp_path, monkeypatch, "--token-file", "token")
    assert not (tmp_path / "token").exists()


@pytest.mark.load
@pytest.mark.parametrize("command", COMMANDS)
async def test_a_server_for_other_machines_prints_addresses_that_they_can_open(tmp_path: Path, command: str) -> None:
    with server_process(tmp_path, "--host", EVERYWHERE, served_by=command) as server:
        assert EVERYWHERE not in server.first_address
        async with stranger(server.url) as api:
            assert (await api.ask("GET", "/api/about")).status == 401
        name, value = session_cookie(server.login_address())
        async with stranger(server.url) as api:
            assert (await api.ask("GET", "/api/about", cookie=f"{name}={value}")).status == 200
        # The other addresses are names of the same server.
        log = server.log.read_text()
        for other in re.findall(r"^or (http://\S+)/login", log, re.MULTILINE):
            async with client(server) as api:
                assert (await api.ask("GET", "/api/about", host=other.removeprefix("http://"))).status == 200
    assert "Every machine that can reach this one can open these addresses." in log
    assert "The connection is not encrypted" in log


@pytest.mark.load
@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost"])
def test_on_loopback_nothing_is_said_about_other_machines(tmp_path: Path, host: str) -> None:
    if host == "127.0.0.2" and sys.platform != "linux":
        pytest.skip("only Linux listens there without further setup")
    with server_process(tmp_path, "--host", host) as server:
        assert server.url.startswith(f"http://{host}:")
        assert session_cookie(server.login_address())
        assert "Every machine" not in server.log.read_text()


@pytest.mark.load
def test_a_unix_socket_serves_its_owner_and_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "salvo.socket"
    with server_process(tmp_path, "--unix-socket", str(path)) as server:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert _get(path, "/api/about", {}).status == 401
        assert _get(path, "/api/about", {"authorization": f"Bearer {TOKEN}"}).status == 200
        assert _get(path, "/api/about", {"host": "evil.example"}).status == 403
        address = server.first_address
        assert re.fullmatch(r"http://localhost:\d+/login\?code=\S{43}", address)
        host, _, code = address.removeprefix("http://").partition("/login")
        welcome = _get(path, f"/login{code}", {"host": host})
        assert welcome.status == 303
        cookie = (welcome.getheader("set-cookie") or "").partition(";")[0]
        assert cookie.startswith(f"salvo_session_{host.rpartition(':')[2]}=")  # another tunnel has another port
        assert _get(path, "/api/about", {"host": host, "cookie": cookie}).status == 200
        os.kill(server.process.pid, signal.SIGINT)
        assert server.process.wait(20) == 0
    assert not path.exists()
    assert "for this user only" in server.log.read_text()


@pytest.mark.load
def test_a_unix_socket_replaces_one_that_is_left_over_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "socket"
    with server_process(tmp_path, "--unix-socket", str(path)) as server:
        assert "Another server is listening" in _refused(tmp_path, monkeypatch, "--unix-socket", str(path))
        server.kill()
    assert path.exists()
    with server_process(tmp_path, "--unix-socket", str(path)):
        assert _get(path, "/api/about", {"authorization": f"Bearer {TOKEN}"}).status == 200
    path.unlink(missing_ok=True)
    path.write_text("a file of mine")
    assert "exists and is not a socket" in _refused(tmp_path, monkeypatch, "--unix-socket", str(path))
    assert path.read_text() == "a file of mine"


class _UnixConnection(HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=20)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(20)
        self.sock.connect(str(self._path))


def _get(path: Path, target: str, headers: dict[str, str]) -> HTTPResponse:
    connection = _UnixConnection(path)
    connection.request("GET", target, headers=headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


def _refused(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> str:
    """What the command says that does not start."""
    monkeypatch.chdir(folder)
    ended = CliRunner().invoke(byop, ["serve", "--port", "0", "--no-open", *options], catch_exceptions=False)
    assert ended.exit_code == 2, ended.output
    return ended.stderr


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A browser that writes down what it and everybody on the machine can see. The file is there once it is done."""
    if not static_files.is_built(STATIC):
        missing = "The page is not built, and so no browser is opened: make src/salvo/web/static/index.html"
        (pytest.fail if chromium.in_ci() else pytest.skip)(missing)
    script = tmp_path / "browser.py"
    script.write_text(BROWSER)
    monkeypatch.setenv("BROWSER", f"{sys.executable} {script} %s")
    return tmp_path / "seen.json"


def _seen(file: Path) -> Any:
    deadline = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < deadline, "No browser was opened."
        time.sleep(0.05)
    return json.loads(file.read_text())


def _target(page: str) -> str:
    [address] = set(re.findall(r'href="([^"]+)"', page))
    return html.unescape(address)
