"""An MCP server that is a program: one message per line on its standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any, cast

from salvo.engine.jsonio import json_codec
from salvo.engine.mcp import protocol
from salvo.engine.mcp.protocol import Message
from salvo.engine.runtime.subprocesses import guard, start_failure
from salvo.engine.text.formatting import truncate
from salvo.errors import McpError
from salvo.records import record

MAX_LOG = 10 * 1024 * 1024
"""Bytes of one message, and of logs and notifications between two answers."""
_ONLY_MESSAGES = "A server on standard output must print nothing else; its log belongs on standard error."
_MAX_LOG_KEPT = 8 * 1024
_MAX_LOG_SHOWN = 200
_GRACE = 1.0
"""Seconds between closing its input, SIGTERM and SIGKILL."""


@record
class StdioTarget:
    """The program of a server. Its environment may hold secrets, so it is not in the repr."""

    command: Sequence[str]
    folder: Path
    environ: Mapping[str, str] = field(repr=False)


class StdioTransport:
    """A running server. It has a process group of its own, which is ended with it."""

    def __init__(self, server: str, pipes: _Pipes, process: asyncio.SubprocessTransport) -> None:
        self._server = server
        self._pipes = pipes
        self._process = process

    @classmethod
    async def start(cls, server: str, target: StdioTarget) -> StdioTransport:
        guard.start()
        try:
            process, pipes = await asyncio.get_running_loop().subprocess_exec(
                lambda: _Pipes(server),
                *target.command,
                cwd=target.folder,
                env=dict(target.environ),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise McpError(
                f"The MCP server {server} could not be started: {target.command[0]}: {start_failure(error)}.",
                hint=f"Check mcp_servers.{server}.command and its cwd.",
            ) from error
        guard.add(process.get_pid())
        return cls(server, pipes, process)

    @property
    def list_changed(self) -> bool:
        """Whether the server said that its tools have changed."""
        return self._pipes.list_changed

    async def request(self, message: Message, _headers: Mapping[str, str]) -> Message:
        pipes = self._pipes
        if pipes.failure is not None:
            raise pipes.failure
        number = message["id"]
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        pipes.waiting[number] = future
        self._write(message)
        try:
            return await future
        except asyncio.CancelledError:
            self._write(protocol.notification("notifications/cancelled", {"requestId": number}))
            raise
        finally:
            pipes.waiting.pop(number, None)

    async def notify(self, message: Message, _headers: Mapping[str, str]) -> None:
        self._write(message)

    def _write(self, message: Message) -> None:
        stdin = cast("asyncio.WriteTransport | None", self._process.get_pipe_transport(0))
        if stdin is not None and not stdin.is_closing():
            stdin.write(json_codec.dumps(message) + b"\n")

    async def close(self) -> None:
        """End the server: close its input, then SIGTERM, then SIGKILL, which its children get in any case."""
        exited = self._pipes.exited
        try:
            stdin = self._process.get_pipe_transport(0)
            if stdin is not None:
                stdin.close()
            await asyncio.wait({exited}, timeout=_GRACE)
            if not exited.done():
                self._signal(signal.SIGTERM)
                await asyncio.wait({exited}, timeout=_GRACE)
        finally:
            self._signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
            self._process.close()
            guard.remove(self._process.get_pid())
        await asyncio.wait({exited}, timeout=_GRACE)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.get_pid(), number)
            else:
                self._process.terminate()


class _Pipes(asyncio.SubprocessProtocol):
    """Reads the pipes of a server, and passes each answer to the request that waits for it."""

    def __init__(self, server: str) -> None:
        self.waiting: dict[Any, asyncio.Future[Message]] = {}
        self.failure: McpError | None = None
        """Why the server cannot be used any more."""
        self.exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.list_changed = False
        self._server = server
        self._line: list[bytes] = []
        self._line_bytes = 0
        self._log = bytearray()
        self._unanswered_bytes = 0
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if self.failure is not None:
            return
        try:
            if fd == 1:
                self._read_output(data)
            else:
                self._log += data
                del self._log[:-_MAX_LOG_KEPT]
                self._count_unanswered(len(data), "its standard error")
        except McpError as error:
            self._fail(error)

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)
        # What it wrote before it ended may still be in the pipe.
        asyncio.get_running_loop().call_soon(self._end)

    def pipe_connection_lost(self, fd: int, _exc: Exception | None) -> None:
        if fd == 1 and self.exited.done():
            self._end()
        elif fd == 1:
            # It closed its output: nothing more can be answered, whether it runs on or is about to end.
            asyncio.get_running_loop().call_later(0.2, self._end)

    def _end(self) -> None:
        code = self._transport.get_returncode() if self._transport is not None else None
        if code is None:
            how = "closed its standard output"
        else:
            how = f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"
        lines = self._log.decode("utf-8", "replace").strip().splitlines()
        last = f" The last line of its standard error: {truncate(lines[-1].strip(), _MAX_LOG_SHOWN)}" if lines else ""
        self._fail(McpError(f"The MCP server {self._server} {how}.{last}"))

    def _fail(self, error: McpError) -> None:
        if self.failure is None:
            self.failure = error
        for future in self.waiting.values():
            if not future.done():
                future.set_exception(self.failure)

    def _read_output(self, data: bytes) -> None:
        *ends, rest = data.split(b"\n")
        for end in ends:
            line = b"".join([*self._line, end])
            self._line, self._line_bytes = [], 0
            if line.strip():
                self._read_message(line)
        if rest:
            self._line.append(rest)
            self._line_bytes += len(rest)
        if self._line_bytes > protocol.MAX_MESSAGE:
            raise protocol.message_too_long(self._server)

    def _read_message(self, line: bytes) -> None:
        message = protocol.parse_message(line, self._server, _ONLY_MESSAGES)
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str):
            self._count_unanswered(len(line), "notifications")
            self.list_changed |= method == protocol.LIST_CHANGED
            if number is not None:
                self._answer(number, method)
            return
        future = self.waiting.get(number) if isinstance(number, int | str) else None
        if future is not None and not future.done():
            self._unanswered_bytes = 0
            future.set_result(message)
        elif number is None or not isinstance(number, int):
            error = message.get("error")
            text = error.get("message") if isinstance(error, dict) else None
            raise McpError(
                f"The MCP server {self._server} answered no request of ours"
                + (f": {truncate(str(text), _MAX_LOG_SHOWN)}." if text else ".")
            )
        # Any other number is that of a request that was not waited for any longer.

    def _answer(self, number: Any, method: str) -> None:
        """Answer a request of the server. Salvo offers it nothing but an answer to its pings."""
        message = (
            protocol.answer(number, {})
            if method == "ping"
            else protocol.error_answer(number, protocol.METHOD_NOT_FOUND, f"Salvo does not offer {method}.")
        )
        stdin = self._transport.get_pipe_transport(0) if self._transport is not None else None
        if stdin is not None and not stdin.is_closing():
            cast("asyncio.WriteTransport", stdin).write(json_codec.dumps(message) + b"\n")

    def _count_unanswered(self, size: int, where: str) -> None:
        self._unanswered_bytes += size
        if self._unanswered_bytes > MAX_LOG:
            raise McpError(
                f"The MCP server {self._server} wrote more than {MAX_LOG:,} bytes to {where} without an answer."
            )
