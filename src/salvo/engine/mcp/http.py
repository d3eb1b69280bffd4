"""An MCP server at an address: each message is a request over the wire (streamable HTTP).

The wire adds the server's headers, which may hold a credential, when it sends.
"""

from __future__ import annotations

from collections.abc import Mapping

from salvo.engine.mcp import protocol
from salvo.engine.mcp.protocol import Message
from salvo.engine.wire.base import Wire, WireReply, WireRequest
from salvo.errors import McpAnswerError, McpError, ProviderError, UsageError
from salvo.records import record

LANE = "mcp"
_NO_MESSAGE = -32000
"""The code for a refusal without a message of the protocol, which only HTTP can have."""


@record
class HttpTarget:
    """The endpoint of a server on the wire, and its path there."""

    endpoint: str
    path: str = ""


class HttpTransport:
    """A server behind the wire. In the versions with a handshake, it may give a session, which is ended at the end."""

    list_changed = False

    def __init__(self, server: str, target: HttpTarget, wire: Wire) -> None:
        self._server = server
        self._target = target
        self._wire = wire
        self._session: str | None = None

    async def request(self, message: Message, headers: Mapping[str, str]) -> Message:
        reply = await self._send("POST", message, headers)
        if message["method"] == "initialize":
            self._session = reply.headers.get(protocol.SESSION_HEADER)
        return self._read(reply, message)

    async def notify(self, message: Message, headers: Mapping[str, str]) -> None:
        reply = await self._send("POST", message, headers)
        if reply.status >= 300:
            raise McpError(f"{self._name} refused {message['method']} with status {reply.status}.")

    async def close(self) -> None:
        if self._session is not None:
            try:
                await self._send("DELETE", None, {})
            except McpError:
                return  # the server may be gone already, and a session that nobody uses expires
            finally:
                self._session = None

    @property
    def _name(self) -> str:
        return f"The MCP server {self._server}"

    @property
    def _check_url(self) -> str:
        return f"Check mcp_servers.{self._server}.url."

    async def _send(self, method: str, message: Message | None, headers: Mapping[str, str]) -> WireReply:
        session = {protocol.SESSION_HEADER: self._session} if self._session else {}
        request = WireRequest(
            self._target.endpoint,
            self._target.path,
            message,
            {"accept": protocol.ACCEPT, **headers, **session},
            lane=LANE,
            method=method,
        )
        try:
            return await self._wire.send(request)
        except (ProviderError, UsageError) as error:
            # It begins with the name of the endpoint.
            text = error.message[:1].upper() + error.message[1:]
            raise McpError(text, hint=self._check_url) from error

    def _read(self, reply: WireReply, message: Message) -> Message:
        method, number = message["method"], message["id"]
        is_stream = reply.headers.get("content-type", "").lower().startswith("text/event-stream")
        if reply.status < 300:
            texts = list(protocol.events(reply.body)) if is_stream else [reply.body]
            for text in texts:
                candidate = protocol.parse_message(text, self._server, self._check_url)
                if candidate.get("id") == number and "method" not in candidate:
                    return candidate
            raise McpError(f"{self._name} ended its reply to {method} without an answer.")
        if reply.status < 400:
            raise McpError(
                f"{self._name} redirects with status {reply.status}, and a redirect is not followed: its headers may "
                "hold a credential.",
                hint=f"Write the final address in mcp_servers.{self._server}.url.",
            )
        return self._read_refusal(reply, message)

    def _read_refusal(self, reply: WireReply, message: Message) -> Message:
        """Return an answer that came with an error status. Raise McpError for a reply that is no answer."""
        if reply.status in (401, 403):
            raise McpError(
                f"{self._name} refused the request with status {reply.status}.",
                hint=f"Check mcp_servers.{self._server}.headers.",
            )
        try:
            answer = reply.json()
        except ValueError:
            answer = None
        if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
            return answer
        if self._session is not None and reply.status == 404:
            raise McpError(f"{self._name} no longer knows the session that it gave.")
        if reply.status >= 500:
            raise McpError(f"{self._name} failed with status {reply.status}.")
        text = f"status {reply.status}"
        raise McpAnswerError(text, code=_NO_MESSAGE, server=self._server, method=message["method"])
