"""One request as it arrived, read the way the author of a script thinks of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal, NamedTuple

ProtocolName = Literal["openai", "anthropic"]


class ToolResult(NamedTuple):
    """What a tool answered; `name` is the call's id where no call of that id is in the conversation."""

    name: str
    content: str
    is_error: bool


@dataclass(frozen=True, slots=True, eq=False)
class ProviderRequest:
    """A request. All but the fields is read on demand, and reads malformed bodies without complaint."""

    protocol: ProtocolName
    body: dict[str, Any]
    headers: dict[str, str]
    key: str | None
    arrived: float
    connection: int
    """The client's port: requests on one kept-alive connection share it."""

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        messages = self.body.get("messages", messages_of(self.body.get("input")))
        if not isinstance(messages, list):
            return []
        return [message for message in messages if isinstance(message, dict)]

    @property
    def turn(self) -> int:
        """How often the model has already spoken in this conversation."""
        return sum(message.get("role") == "assistant" for message in self.messages)

    @property
    def system(self) -> str:
        if self.protocol == "anthropic":
            return text_of(self.body.get("system"))
        instructions = (m for m in self.messages if m.get("role") in {"system", "developer"})
        return "\n".join(text_of(message.get("content")) for message in instructions)

    @property
    def last_user(self) -> str:
        """The last thing a person said. Anthropic sends tool results as the user, and they are not that."""
        said = (text_of(m.get("content")) for m in reversed(self.messages) if m.get("role") == "user")
        return next(filter(None, said), "")

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer."""
        tools = self.body.get("tools") or []
        return [str(tool.get("function", tool).get("name", "")) for tool in tools]

    @property
    def tool_results(self) -> list[ToolResult]:
        """What the tools answered to the model's last turn, in the order sent."""
        names = dict(self._calls())
        if self.protocol == "anthropic":
            last = blocks_of(self.messages[-1].get("content")) if self.messages else []
            return [
                ToolResult(
                    names.get(block.get("tool_use_id"), str(block.get("tool_use_id"))),
                    text_of(block.get("content")),
                    bool(block.get("is_error")),
                )
                for block in last
                if block.get("type") == "tool_result"
            ]
        trailing = list(takewhile(lambda message: message.get("role") == "tool", reversed(self.messages)))
        return [
            ToolResult(
                names.get(message.get("tool_call_id"), str(message.get("tool_call_id"))),
                text_of(message.get("content")),
                is_error=False,  # Chat Completions has no way to say it
            )
            for message in reversed(trailing)
        ]

    def _calls(self) -> Iterator[tuple[Any, str]]:
        for message in self.messages:
            for call in message.get("tool_calls") or ():
                yield call.get("id"), str(call.get("function", {}).get("name"))
            for block in blocks_of(message.get("content")):
                if block.get("type") == "tool_use":
                    yield block.get("id"), str(block.get("name"))


def messages_of(given: Any) -> list[dict[str, Any]]:
    """The input of the Responses API as messages: what a model put out in one turn, in whatever items, is one."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    messages: list[dict[str, Any]] = []
    for item in given if isinstance(given, list) else ():
        if item.get("type") == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")})
        elif item.get("role", "assistant") != "assistant":
            messages.append({"role": item["role"], "content": _plain(item.get("content"))})
        else:
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": "", "tool_calls": []})
            messages[-1]["content"] += text_of(_plain(item.get("content")))
            if item.get("type") == "function_call":
                messages[-1]["tool_calls"].append({"id": item.get("call_id"), "function": {"name": item.get("name")}})
    return messages


def _plain(content: Any) -> Any:
    return content if isinstance(content, str) else [{**part, "type": "text"} for part in content or ()]


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """Content as a list of blocks; both protocols take a plain string for a single text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def text_of(content: Any) -> str:
    texts = (block for block in blocks_of(content) if block.get("type") == "text")
    return "\n".join(str(block.get("text", "")) for block in texts)
