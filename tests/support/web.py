"""The real server on loopback, in a thread or in a process of its own, and a plain client for it."""

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

import aiohttp
from fastapi import FastAPI

from salvo.engine.runtime.clock import Clock
from salvo.web.app import Server, create_app
from salvo.web.connections import ConnectionLimits
from salvo.web.sessions import AccessControl
from salvo.web.settings import Settings
from tests.support.background import BackgroundServer
from tests.support.http_client import http_session
from tests.support.provider import Answer, ProviderRequest, Say

GPT = "openai/gpt-5.4-mini"
KEY = "sk-planted-0123456789abcdef"
CARELESS = (
    "Review of the agreement. The agreement is fully compliant with the GDPR, and the transfer of personal data is legal "
    "in every respect. Clause 3.2 is standard and safe. The cap in clause 7.1 will never be a problem in practice, and "
    "courts always uphold caps of this kind. You can sign the agreement today, and no changes are necessary at all."
)
CAREFUL = (
    "Assumptions. This review assumes that your company is the controller, that it is established in Germany, and that "
    "German law and the GDPR apply. Clause 3.2 may fall short of Art. 28 GDPR and should be renegotiated. Whether the cap "
    "would be upheld depends on the jurisdiction, so this point requires review by qualified counsel before signing. "
    "Not checked: the annexes were not provided and were not reviewed."
)


TOKEN = "a-token-of-the-tests-that-is-long-enough"


class WebServer(BackgroundServer):
    def __init__(self, settings: Settings, limits: ConnectionLimits | None = None, clock: Clock | None = None) -> None:
        super().__init__()
        self._settings = replace(settings, token=settings.token or TOKEN)
        self._limits, self._clock = limits, clock
        self.access = AccessControl(self._settings.clock, self._settings.token)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def login_address(self) -> str:
        return f"{self.url}/login?code={self.access.codes.issue(lambda: None)}"

    def stop(self) -> None:
        """Stop before the end of the `with` block."""
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread.is_alive():
            super().__exit__(kind, error, trace)

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[int]:
        ready: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        app = create_app(self._settings, self.access)
        build_routes(app)
        server = Server(app, "127.0.0.1", 0, ready.set_result, self._limits, self._clock)
        serving = asyncio.create_task(server.serve())
        try:
            port = await ready
            assert port is not None
            yield port
        finally:
            server.should_exit = True
            await serving


def build_routes(app: FastAPI) -> None:
    """Build the routes now, not at the first request.

    FastAPI ignores a warning of Pydantic while it builds them, by `warnings.catch_warnings`, which several threads
    must not use at once. A process of its own has one server; here several servers are threads of one process.
    """
    for route in app.routes:
        route.matches({"type": "http", "method": "GET", "path": "/no-such-path"})


@dataclass
class ServerProcess:
    first_address: str
    """The first line that it prints."""
    process: subprocess.Popen[str]
    log: Path
    _used_addresses: int = 0

    @property
    def url(self) -> str:
        return self.first_address.partition("/login?")[0]

    def login_address(self) -> str:
        """Return an address that is not used up: the server prints one when the last one was used."""
        assert self.process.stdout is not None
        self._used_addresses += 1
        return self.first_address if self._used_addresses == 1 else self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Loginable(Protocol):
    """A server that a browser can log in to."""

    @property
    def url(self) -> str: ...

    def login_address(self) -> str: ...


def session_cookie(login_address: str) -> tuple[str, str]:
    """Log in as a browser does, and return the name and the value of the cookie."""
    address = urlsplit(login_address)
    connection = HTTPConnection(address.netloc)
    connection.request("GET", f"{address.path}?{address.query}")
    response = connection.getresponse()
    assert response.status == 303, response.status
    name, _, value = response.getheader("set-cookie", "").partition(";")[0].partition("=")
    connection.close()
    return name, value


@contextmanager
def server_process(
    folder: Path,
    *options: str,
    served_by: str = "byop serve",
    token: str | None = TOKEN,
    opens_browser: bool = False,
    database_url: str | None = None,
) -> Iterator[ServerProcess]:
    """Start the command with its database in the folder, or with the one that is given, and kill it at the end."""
    name, subcommand = served_by.split()
    code = f"from salvo.cli.{name} import {name}; {name}()"
    command = [sys.executable, "-c", code, subcommand, "--port", "0", *([] if opens_browser else ["--no-open"])]
    log = folder / "serve.log"
    environ = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "SALVO_TOKEN")}
    if token is not None:
        environ["SALVO_TOKEN"] = token
    if database_url is not None:
        environ["DATABASE_URL"] = database_url
    with (
        log.open("a") as errors,
        subprocess.Popen(
            [*command, *options], cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        try:
            yield ServerProcess(process.stdout.readline().strip(), process, log)
        finally:
            process.kill()


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of an error; every error has the same fields."""
        body = self.json()
        assert set(body) == {"error"}, body
        assert set(body["error"]) == {"code", "message", "hint"}, body
        return str(body["error"]["code"])


class ServerEvent(NamedTuple):
    event: str
    data: Any
    id: str | None


class Client:
    """An HTTP client that sends exactly what it is given."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url = url
        self._session = session
        self.received: list[bytes] = []
        """Every answer of the server."""

    async def ask(self, method: str, path: str, body: Any = None, *, chunked: bool = False, **headers: str) -> Reply:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            named.setdefault("content-type", "application/json")
        async with self._session.request(
            method,
            self.url + path,
            data=None if body is None else io.BytesIO(body),
            headers=named,
            allow_redirects=False,
            skip_auto_headers=["content-type"],
            chunked=chunked or None,
        ) as response:
            reply = Reply(response.status, response.headers, await response.read())
        self.received.append(reply.body)
        return reply

    async def get(self, path: str) -> Any:
        reply = await self.ask("GET", path)
        assert reply.status == 200, reply
        return reply.json()

    async def start(self, ai_output: str = CARELESS, *, key: str | None = None, **asked: Any) -> str:
        body = {"ai_output": ai_output, **asked}
        path = "/api/evaluations"
        reply = await (self.ask("POST", path, body, x_api_key=key) if key else self.ask("POST", path, body))
        assert reply.status == 202, reply
        return str(reply.json()["id"])

    def watch(self, evaluation: str, *, after: str | None = None) -> AsyncGenerator[ServerEvent]:
        return self.listen(f"/api/evaluations/{evaluation}/events", **({"last-event-id": after} if after else {}))

    async def listen(self, path: str, **headers: str) -> AsyncGenerator[ServerEvent]:
        async with self._session.get(self.url + path, headers=headers) as response:
            assert response.status == 200, await response.text()
            assert response.content_type == "text/event-stream"
            fields: dict[str, str] = {}
            async for line in response.content:
                self.received.append(line)
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    fields[name] = value
                elif "data" in fields:
                    yield ServerEvent(fields["event"], json.loads(fields["data"]), fields.get("id"))
                    fields = {}

    async def events(self, evaluation: str, *, after: str | None = None) -> list[ServerEvent]:
        """Return all events, up to the end of the evaluation."""
        return [event async for event in self.watch(evaluation, after=after)]

    async def report(self, ai_output: str = CARELESS, *, key: str | None = None, **asked: Any) -> Any:
        """Run an evaluation and return its report."""
        evaluation = await self.start(ai_output, key=key, **asked)
        last = (await self.events(evaluation))[-1]
        assert last.event == "done", last
        return await self.get(f"/api/reports/{evaluation}")


@asynccontextmanager
async def client(server: Loginable) -> AsyncIterator[Client]:
    """A program that is let in by the token of the tests."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with http_session(headers=headers) as session:
        yield Client(server.url, session)


@asynccontextmanager
async def browser(server: Loginable) -> AsyncIterator[Client]:
    """A client with a session of its own."""
    name, value = session_cookie(server.login_address())
    headers = {"cookie": f"{name}={value}"}
    async with http_session(headers=headers) as session:
        yield Client(server.url, session)


@asynccontextmanager
async def stranger(url: str) -> AsyncIterator[Client]:
    """A client that is not logged in."""
    async with http_session() as session:
        yield Client(url, session)


def folder_content(folder: Path) -> bytes:
    """Return the content of all files: the database, its write-ahead log, other logs."""
    return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())


@dataclass
class Judging:
    """A provider's script: it gives `at_once` verdicts immediately and holds back the others until `let_go`."""

    quote: str = "You can sign the agreement today"
    result: str = "fail"
    notes: str = "It says so."
    at_once: int | None = None
    requests: list[ProviderRequest] = field(default_factory=list)

    def __call__(self, asked: ProviderRequest) -> Answer:
        self.requests.append(asked)
        waits = self.at_once is not None and len(self.requests) > self.at_once
        return Say(json.dumps(self.verdict), delay=3600 if waits else 0)

    def let_go(self) -> None:
        self.at_once = None

    @property
    def verdict(self) -> dict[str, Any]:
        return {
            "result": self.result,
            "confidence": 0.9,
            "evidence_citations": [{"span": self.quote, "context": "as it stands"}],
            "notes": self.notes,
        }
