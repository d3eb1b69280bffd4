"""Serve tools as an MCP server: one message in, one answer out. Where it listens is for the caller to say.

It keeps no state, so it speaks the stateless version and those with a handshake alike.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from salvo.engine.chat.base import ToolDefinition
from salvo.engine.jsonio import json_codec
from salvo.engine.mcp import protocol
from salvo.engine.mcp.protocol import CLIENT, HANDSHAKE, HANDSHAKES, META, MODERN, Message
from salvo.errors import SalvoError
from salvo.records import record

_INTERNAL_ERROR = -32603
_STATUSES = {
    protocol.PARSE_ERROR: 400,
    protocol.INVALID_REQUEST: 400,
    protocol.INVALID_PARAMS: 400,
    protocol.UNSUPPORTED_VERSION: 400,
    protocol.METHOD_NOT_FOUND: 404,
}
"""The status of HTTP for an error in the stateless version; the versions before have 200 for every answer."""
_NOT_CACHED = {"ttlMs": 0, "cacheScope": "private"}


@record
class ServedResult:
    """What a tool returned, or its error."""

    value: Any = None
    error: str | None = None


class Response(NamedTuple):
    """A status of HTTP, and the message to answer with; None: there is nothing to say."""

    status: int
    message: Message | None


@record
class McpService:
    """Tools behind the protocol. `call` may raise a SalvoError, which becomes an internal error."""

    tools: Callable[[], Sequence[ToolDefinition]]
    call: Callable[[str, dict[str, Any]], Awaitable[ServedResult]]

    async def respond(self, content: bytes) -> Response:
        """Return the answer to what a client posted."""
        try:
            message = json_codec.loads(content)
        except ValueError:
            return Response(400, protocol.error_answer(None, protocol.PARSE_ERROR, "This is not JSON."))
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or _is_no_number(message.get("id", 0)):
            return Response(400, protocol.error_answer(None, protocol.INVALID_REQUEST, "This is no single message."))
        method, params = message.get("method"), message.get("params", {})
        if "id" not in message or not isinstance(method, str):
            return Response(202, None)  # a notification, or an answer to a question that was not asked
        number = message["id"]
        if not isinstance(params, dict):
            return Response(400, protocol.error_answer(number, protocol.INVALID_PARAMS, "params must be an object."))
        meta = params.get(META)
        version = meta.get(protocol.VERSION_KEY) if isinstance(meta, dict) else None
        if version is not None and version != MODERN:
            data = {"supported": [MODERN], "requested": version}
            error = protocol.error_answer(number, protocol.UNSUPPORTED_VERSION, "Unsupported protocol version.", data)
            return Response(400, error)
        return await self._answer(number, method, params, is_modern=version == MODERN)

    async def _answer(self, number: Any, method: str, params: Mapping[str, Any], *, is_modern: bool) -> Response:
        try:
            result = await self._result(method, params, is_modern=is_modern)
        except _RefusedError as error:
            status = _STATUSES.get(error.code, 200) if is_modern else 200
            return Response(status, protocol.error_answer(number, error.code, str(error)))
        except SalvoError as error:
            return Response(200, protocol.error_answer(number, _INTERNAL_ERROR, str(error)))
        return Response(200, protocol.answer(number, {"resultType": "complete", **result} if is_modern else result))

    async def _result(self, method: str, params: Mapping[str, Any], *, is_modern: bool) -> dict[str, Any]:
        if method == "server/discover":
            about = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, **_NOT_CACHED}
            return {**about, META: {protocol.SERVER_KEY: CLIENT}}
        if method == "initialize" and not is_modern:
            requested = params.get("protocolVersion")
            version = requested if requested in HANDSHAKES else HANDSHAKE
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": CLIENT}
        if method == "ping":
            return {}
        if method == "tools/list":
            tools = [
                {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters}
                for tool in self.tools()
            ]
            return {"tools": tools, **(_NOT_CACHED if is_modern else {})}
        if method == "tools/call":
            return await self._call(params)
        raise _RefusedError(protocol.METHOD_NOT_FOUND, f"There is no method {method}.")

    async def _call(self, params: Mapping[str, Any]) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise _RefusedError(protocol.INVALID_PARAMS, "tools/call needs a name and an object of arguments.")
        result = await self.call(name, arguments)
        if result.error is not None:
            return {"content": [{"type": "text", "text": result.error}], "isError": True}
        text = result.value if isinstance(result.value, str) else json_codec.dumps(result.value).decode()
        structured = {"structuredContent": result.value} if isinstance(result.value, dict) else {}
        return {"content": [{"type": "text", "text": text}], **structured}


class _RefusedError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def _is_no_number(value: Any) -> bool:
    """Return whether this cannot be the id of a message."""
    return isinstance(value, bool) or not isinstance(value, int | str)
