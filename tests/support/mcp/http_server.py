"""An MCP server on loopback HTTP, with the answers of `shop.py`."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.mcp import shop

SESSION = "session-1"


@dataclass
class HttpShop:
    """What the server is to do, and what it got."""

    era: str = ""
    token: str = ""
    stream: bool = False
    reply: bytes | None = None
    """What it answers instead of an answer."""
    status: int = 200
    url: str = ""
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    """The method of HTTP, the headers in lower case and the message of each request."""

    @property
    def methods(self) -> list[str]:
        return [message["method"] if message else method for method, _, message in self.requests]


@contextmanager
def http_shop(**settings: Any) -> Iterator[HttpShop]:
    server_state = HttpShop(**settings)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"shop": server_state}))
    server.daemon_threads = True
    server_state.url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server_state
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    shop: HttpShop
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.shop.requests.append(("POST", headers, message))
        if self.shop.token and headers.get("authorization") != f"Bearer {self.shop.token}":
            return self._send(401, b"{}")
        if self.shop.reply is not None and message["method"] == "tools/call":
            return self._send(self.shop.status, self.shop.reply)
        answer = shop.answer(message, self.shop.era, shop.TOOLS)
        if answer is None:
            return self._send(202, b"")
        more = {"mcp-session-id": SESSION} if message["method"] == "initialize" else {}
        if message["method"] not in ("initialize", "server/discover") and self.shop.era == "handshake":
            assert headers["mcp-session-id"] == SESSION
        status = 400 if "error" in answer else 200
        if self.shop.stream and status == 200:
            note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
            events = "".join(f"event: message\r\ndata: {json.dumps(item)}\r\n\r\n" for item in (note, answer))
            return self._send(200, f": ping\r\n\r\n{events}".encode(), {"content-type": "text/event-stream", **more})
        return self._send(status, json.dumps(answer).encode(), more)

    def do_DELETE(self) -> None:
        self.shop.requests.append(("DELETE", {name.lower(): value for name, value in self.headers.items()}, None))
        self._send(200, b"")

    def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass
