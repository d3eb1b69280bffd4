"""Clients that are too slow are dropped, and nobody can take all connections."""

import asyncio
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPResponse
from pathlib import Path

import pytest

from salvo.web.connections import ConnectionLimits
from salvo.web.settings import Settings
from tests.support.clock import HeldClock
from tests.support.web import TOKEN, WebServer

SECONDS = 30
"""For a server that does not close a connection to fail the test."""
CONNECTIONS = 3


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def server(tmp_path: Path, clock: HeldClock) -> Iterator[WebServer]:
    settings = Settings(f"sqlite:///{tmp_path / 'byop_runs.db'}", project=tmp_path, static=tmp_path)
    with WebServer(settings, ConnectionLimits(connections=CONNECTIONS), clock) as server:
        yield server


@pytest.fixture
def sockets() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def _connect(server: WebServer, sockets: ExitStack, sent: str) -> socket.socket:
    client = sockets.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS))
    headers = f"host: 127.0.0.1:{server.port}\r\nauthorization: Bearer {TOKEN}\r\n"
    client.sendall(sent.format(headers=headers).encode())
    return client


def _drip_until_closed(client: socket.socket, clock: HeldClock) -> bytes:
    """Send a byte per second of the server's clock, until it closes the connection."""
    client.settimeout(0.1)
    received = b""
    for _ in range(SECONDS * 10):
        asyncio.run(clock.sleep(1))
        try:
            client.sendall(b"x")
            if not (part := client.recv(4096)):
                return received
            received += part
        except TimeoutError:
            continue
        except OSError:
            return received
    pytest.fail("The server did not close the connection.")


def test_headers_that_do_not_end_get_408(server: WebServer, clock: HeldClock, sockets: ExitStack) -> None:
    client = _connect(server, sockets, "GET /api/about HTTP/1.1\r\n{headers}x-slow: ")
    answer = _drip_until_closed(client, clock)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"code":"too_slow","message":"The headers' in answer


def test_a_body_that_drips_gets_408(server: WebServer, clock: HeldClock, sockets: ExitStack) -> None:
    head = "POST /api/compare HTTP/1.1\r\n{headers}content-type: application/json\r\ncontent-length: 100000\r\n\r\n"
    answer = _drip_until_closed(_connect(server, sockets, head), clock)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"code":"too_slow","message":"The body' in answer


def test_a_body_that_drips_after_the_answer_is_closed(server: WebServer, clock: HeldClock, sockets: ExitStack) -> None:
    head = "POST /api/compare HTTP/1.1\r\n{headers}content-type: text/plain\r\ncontent-length: 100000\r\n\r\n"
    answer = _drip_until_closed(_connect(server, sockets, head), clock)
    assert answer.startswith(b"HTTP/1.1 415 ")


def test_connections_without_a_request_make_room_for_one_with_a_request(server: WebServer, sockets: ExitStack) -> None:
    for _ in range(CONNECTIONS):
        _connect(server, sockets, "GET /api/about HTTP/1.1\r\n")
    client = _connect(server, sockets, "GET /api/about HTTP/1.1\r\n{headers}\r\n")
    assert client.recv(100).startswith(b"HTTP/1.1 200 ")


def test_more_connections_than_allowed_get_503(server: WebServer, sockets: ExitStack) -> None:
    watch = "GET /api/batches/events HTTP/1.1\r\n{headers}\r\n"
    for _ in range(CONNECTIONS):
        assert _connect(server, sockets, watch).recv(100).startswith(b"HTTP/1.1 200 ")
    answer = _connect(server, sockets, watch).recv(4096)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b'"code":"too_many_connections"' in answer


def _never_read(server: WebServer, sockets: ExitStack) -> socket.socket:
    client = sockets.enter_context(socket.socket())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(SECONDS)
    client.connect(("127.0.0.1", server.port))
    client.sendall(f"GET /assets/large.js HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n\r\n".encode())
    assert client.recv(15) == b"HTTP/1.1 200 OK"
    return client


@pytest.mark.skipif(not hasattr(select, "poll"), reason="whether a connection was closed can only be read with poll")
def test_clients_that_do_not_read_their_response_make_room_after_a_while(
    server: WebServer, clock: HeldClock, sockets: ExitStack, tmp_path: Path
) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>")
    with (tmp_path / "assets" / "large.js").open("wb") as file:
        file.truncate(64 * 1024 * 1024)  # more than the kernel takes for a client that does not read
    clients = [_never_read(server, sockets) for _ in range(CONNECTIONS)]
    about = "GET /api/about HTTP/1.1\r\n{headers}\r\n"
    assert _connect(server, sockets, about).recv(100).startswith(b"HTTP/1.1 503 ")
    closed = select.poll()
    for client in clients:
        closed.register(client, 0)  # errors and hang-ups only
    still_open = {client.fileno() for client in clients}
    for _ in range(SECONDS * 10):
        asyncio.run(clock.sleep(10))
        for descriptor, _event in closed.poll(100):
            still_open.discard(descriptor)
            closed.unregister(descriptor)
        if not still_open:
            break
    assert not still_open, "The server did not close the connections."
    assert _connect(server, sockets, about).recv(100).startswith(b"HTTP/1.1 200 ")


def _receive_response(client: socket.socket) -> None:
    response = HTTPResponse(client)
    response.begin()
    assert (response.status, response.will_close) == (200, False)
    response.read()


def _is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def test_connections_that_are_kept_alive_make_room_and_are_closed(
    tmp_path: Path, clock: HeldClock, sockets: ExitStack
) -> None:
    about = "GET /api/about HTTP/1.1\r\n{headers}\r\n"
    settings = Settings(f"sqlite:///{tmp_path / 'byop_runs.db'}", project=tmp_path, static=tmp_path)
    with WebServer(settings, ConnectionLimits(connections=CONNECTIONS, keep_alive_seconds=1), clock) as server:
        idle = [_connect(server, sockets, about) for _ in range(CONNECTIONS)]
        for client in idle:
            _receive_response(client)
        for _ in range(CONNECTIONS):
            idle.append(_connect(server, sockets, about))
            _receive_response(idle[-1])
        for client in idle:
            assert _is_closed(client)
