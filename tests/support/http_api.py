"""An HTTP server on loopback that answers what a test's function returns, for APIs that the loopback provider does not speak."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class ApiRequest:
    method: str
    path: str
    headers: Mapping[str, str]
    """With names in lower case."""
    body: bytes


@dataclass(frozen=True)
class ApiReply:
    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


class HttpApi:
    """Serves while the `with` block lasts, and keeps what was requested."""

    def __init__(self, answer: Callable[[ApiRequest], ApiReply]) -> None:
        self.requests: list[ApiRequest] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = ApiRequest(self.command, self.path, headers, body)
                api.requests.append(request)
                reply = answer(request)
                self.send_response(reply.status)
                for name, value in {**reply.headers, "content-length": str(len(reply.body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)

            do_POST = do_DELETE = do_PUT = do_GET  # noqa: N815 - the names that http.server calls

            def log_message(self, *_arguments: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
