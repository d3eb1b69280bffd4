"""The messages of the Model Context Protocol, of 2026-07-28 (stateless) and of the versions with a handshake. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import hex_digest
from salvo.engine.text.messages import excerpt
from salvo.errors import McpAnswerError, McpError
from salvo.records import record
from salvo.version import __version__

MODERN = "2026-07-28"
"""The version in which every request says who sends it, so that there is no handshake and no session."""
HANDSHAKE = "2025-11-25"
"""The newest version with a handshake, which is the one that we offer."""
HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

Protocol: TypeAlias = Literal["auto", "2026-07-28", "2025-11-25"]
Message: TypeAlias = dict[str, Any]

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
UNSUPPORTED_VERSION = -32022

META = "_meta"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
CLIENT = {"name": "salvo", "version": __version__}

SESSION_HEADER = "mcp-session-id"
VERSION_HEADER = "mcp-protocol-version"
ACCEPT = "application/json, text/event-stream"
_PLAIN_HEADER = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_ENCODED_HEADER = re.compile(r"=\?base64\?.*\?=")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_KEYWORD = "x-mcp-header"

MAX_MESSAGE = 16 * 1024 * 1024
"""Bytes of one message of a server."""
MAX_TOOL_NAME = 1_000
"""Characters of a tool's name. The protocol recommends 128 at most."""
LIST_CHANGED = "notifications/tools/list_changed"


def request(number: int, method: str, params: Mapping[str, Any] | None = None, *, version: str = "") -> Message:
    """Return a request. In the stateless version, its parameters say which version and client it is from."""
    content = dict(params or {})
    if version == MODERN:
        content[META] = {VERSION_KEY: version, _CAPABILITIES_KEY: {}, _CLIENT_KEY: CLIENT}
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": content} if content else {})}


def notification(method: str, params: Mapping[str, Any] | None = None) -> Message:
    return {"jsonrpc": "2.0", "method": method, **({"params": dict(params)} if params else {})}


def answer(number: Any, result: Mapping[str, Any]) -> Message:
    return {"jsonrpc": "2.0", "id": number, "result": dict(result)}


def error_answer(number: Any, code: int, message: str, data: Any = None) -> Message:
    details = {} if data is None else {"data": data}
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message, **details}}


def initialization() -> Message:
    """Return the parameters of the handshake."""
    return {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": CLIENT}


def parse_message(content: bytes | str, server: str, hint: str) -> Message:
    """Return a message of a server. Raise McpError with the hint for anything else."""
    if len(content) > MAX_MESSAGE:
        raise message_too_long(server)
    try:
        message = json_codec.loads(content)
    except ValueError:
        message = None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
        raise McpError(
            f"The MCP server {server} sent something that is no message of the protocol: {excerpt(text, 200)}.",
            hint=hint,
        )
    return message


def message_too_long(server: str) -> McpError:
    return McpError(f"The MCP server {server} sent a message of more than {MAX_MESSAGE:,} bytes.")


def read_answer(message: Message, server: str, method: str) -> dict[str, Any]:
    """Return the result in an answer. Raise McpAnswerError for an error, and McpError for garbage."""
    error = message.get("error")
    if isinstance(error, dict) and isinstance(error.get("code"), int):
        text = str(error.get("message") or "no message")
        raise McpAnswerError(text, code=error["code"], data=error.get("data"), server=server, method=method)
    result = message.get("result")
    if not isinstance(result, dict):
        raise McpError(f"The MCP server {server} answered {method} with neither a result nor an error.")
    if result.get("resultType", "complete") != "complete":
        raise McpError(
            f"The MCP server {server} answered {method} with {excerpt(result['resultType'], 50)}, which needs a person "
            "or a model to go on.",
            hint="Salvo tells servers that it can give neither.",
        )
    return result


def listed_tools(result: Mapping[str, Any], server: str) -> list[dict[str, Any]]:
    """Return the tools in one page of a list. Raise McpError for what is no tool."""
    tools = result.get("tools")
    if not isinstance(tools, list):
        raise McpError(f"The MCP server {server} answered tools/list without a list of tools.")
    for tool in tools:
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str) or not name:
            raise McpError(f"The MCP server {server} lists a tool without a name: {excerpt(tool, 200)}.")
        if len(name) > MAX_TOOL_NAME:
            raise McpError(f"The MCP server {server} lists a tool with a name of {len(name):,} characters.")
        if not isinstance(tool.get("inputSchema"), dict):
            raise McpError(f"The MCP server {server} lists the tool {excerpt(name, 100)} without an inputSchema.")
    return tools


@record
class CallResult:
    """What a tool returned: its structured content if there is any, else its text, else its content as it is."""

    value: Any
    is_error: bool

    @property
    def text(self) -> str:
        return self.value if isinstance(self.value, str) else json_codec.dumps(self.value).decode()


def call_result(result: Mapping[str, Any], server: str, tool: str) -> CallResult:
    """Return the result of tools/call. Raise McpError for garbage."""
    content = result.get("content", [])
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise McpError(f"The MCP server {server} answered a call of {tool} without a list of content.")
    is_error = result.get("isError") is True
    structured = result.get("structuredContent")
    if structured is not None and not is_error:
        return CallResult(structured, is_error)
    if all(block.get("type") == "text" and isinstance(block.get("text"), str) for block in content):
        return CallResult("\n".join(block["text"] for block in content), is_error)
    return CallResult([_without_data(block) for block in content], is_error)


def _without_data(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block of content with the hash of its binary data: no provider takes it in the answer of a tool."""
    resource = block.get("resource")
    if isinstance(resource, dict):
        return {**block, "resource": _without_data(resource)}
    for name in ("data", "blob"):
        if isinstance(data := block.get(name), str):
            digest = hex_digest(data)
            return {**block, name: {"base64_characters": len(data), "sha256": digest}}
    return block


def events(content: bytes) -> Iterator[str]:
    """Yield the data of each event in a stream of server-sent events."""
    lines: list[str] = []
    for line in content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if line.startswith("data:"):
            lines.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def header_value(value: str) -> str:
    """Return the text as the value of a header; encoded where a header cannot hold it."""
    if _PLAIN_HEADER.fullmatch(value) and not _ENCODED_HEADER.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}?="


def request_headers(version: str, message: Message, schema: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the headers that repeat parts of a message: in the stateless version, servers route by them."""
    headers = {VERSION_HEADER: version} if version else {}
    if version != MODERN:
        return headers
    params = message.get("params", {})
    headers["mcp-method"] = message["method"]
    if message["method"] == "tools/call":
        headers["mcp-name"] = header_value(params["name"])
        headers |= _parameter_headers(schema or {}, params.get("arguments") or {})
    return headers


def _parameter_headers(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return a header for each argument that the tool's schema wants repeated in one."""
    headers = {}
    for path, name in _marked_properties(schema):
        value: Any = arguments
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        if isinstance(value, bool):
            headers[f"mcp-param-{name}"] = "true" if value else "false"
        elif isinstance(value, str | int):
            headers[f"mcp-param-{name}"] = header_value(str(value))
    return headers


def _marked_properties(schema: Mapping[str, Any]) -> Iterator[tuple[Sequence[str], str]]:
    remaining: list[tuple[tuple[str, ...], Any]] = [((), schema)]
    while remaining:
        path, part = remaining.pop()
        if not isinstance(part, Mapping):
            continue
        name = part.get(_HEADER_KEYWORD)
        if path and isinstance(name, str) and _HEADER_NAME.fullmatch(name):
            yield path, name
        properties = part.get("properties")
        if isinstance(properties, Mapping):
            remaining += [((*path, str(key)), value) for key, value in properties.items()]
