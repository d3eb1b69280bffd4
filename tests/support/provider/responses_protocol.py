"""OpenAI Responses: `POST /v1/responses`. The same model behind another door, as a program of a user's may ask it."""

import time
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

from tests.support.provider import openai_errors
from tests.support.provider.dialect import ApiError
from tests.support.provider.openai_protocol import OpenAIDialect
from tests.support.provider.request import ProviderRequest
from tests.support.provider.script import Reply
from tests.support.provider.tokens import Prompt, Usage, compact, tokens

PARAMETERS = frozenset({
    "background", "conversation", "include", "input", "instructions", "max_output_tokens", "max_tool_calls",
    "metadata", "model", "parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key", "reasoning",
    "safety_identifier", "service_tier", "store", "stream", "stream_options", "temperature", "text", "tool_choice",
    "tools", "top_logprobs", "top_p", "truncation", "user",
})  # fmt: skip
INCOMPLETE = {"length": "max_output_tokens", "context": "max_output_tokens"}


class ResponsesDialect(OpenAIDialect):
    path: Final = "/v1/responses"  # type: ignore[misc]  # the other door

    def __init__(self) -> None:
        super().__init__()
        self._items = count(1)

    def check(self, request: ProviderRequest) -> None:
        if request.key is None:
            raise openai_errors.invalid_key(None)
        body = request.body
        for name in body:
            if name not in PARAMETERS:
                raise openai_errors.unknown(name)
        for name in ("model", "input"):
            if not body.get(name):
                raise openai_errors.missing(name)
        for place, tool in enumerate(body.get("tools") or ()):
            if tool.get("type") == "function" and not tool.get("name"):
                raise openai_errors.missing(f"tools[{place}].name")
        _outputs_have_their_calls(request)

    def prompt(self, request: ProviderRequest) -> Prompt:
        text = compact({"input": request.body["input"], "tools": request.body.get("tools") or []})
        return Prompt(tokens(len(text)))

    def reply(self, reply: Reply, request: ProviderRequest, prompt: Prompt) -> dict[str, Any]:
        usage = reply.usage if reply.usage is not None else prompt.usage(_spoken(reply), _thought(reply))
        cut = INCOMPLETE.get(reply.stop)
        if reply.stop == "refusal" and not reply.text:
            cut = "content_filter"
        return {
            "id": f"resp_{next(self._items):024d}",
            "object": "response",
            "created_at": int(time.time()),
            "status": "incomplete" if cut else "completed",
            "error": None,
            "incomplete_details": {"reason": cut} if cut else None,
            "instructions": request.body.get("instructions"),
            "metadata": {},
            "model": reply.model or request.model,
            "output": list(self._output(reply)),
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": request.body.get("tools") or [],
            "top_p": 1.0,
            "usage": _spell(usage),
        }

    def _output(self, reply: Reply) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        if reply.thinking is not None:
            said = [{"type": "summary_text", "text": reply.thinking}]
            items.append({"id": self._id("rs"), "type": "reasoning", "summary": said, "encrypted_content": None})
        if reply.text:
            refused = reply.stop == "refusal"
            part: dict[str, Any] = (
                {"type": "refusal", "refusal": reply.text}
                if refused
                else {"type": "output_text", "text": reply.text, "annotations": []}
            )
            message = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
            items.append({"id": self._id("msg"), **message})
        for use in reply.uses:
            arguments = use.arguments if isinstance(use.arguments, str) else compact(dict(use.arguments))
            call = {"type": "function_call", "status": "completed", "name": use.name, "arguments": arguments}
            items.append({"id": self._id("fc"), "call_id": self._id("call"), **call})
        return items

    def _id(self, kind: str) -> str:
        return f"{kind}_{next(self._items):024d}"


def _outputs_have_their_calls(request: ProviderRequest) -> None:
    items = request.body["input"] if isinstance(request.body["input"], list) else []
    called = {item.get("call_id") for item in items if item.get("type") == "function_call"}
    if request.body.get("previous_response_id"):
        return
    for item in items:
        if item.get("type") == "function_call_output" and item.get("call_id") not in called:
            raise _no_call(str(item.get("call_id")))


def _no_call(call_id: str) -> ApiError:
    return openai_errors.problem(f"No tool call found for function call output with call_id {call_id}.", param="input")


def _spoken(reply: Reply) -> int:
    return max(1, tokens(len(reply.text) + sum(len(use.name) + len(str(use.arguments)) for use in reply.uses)))


def _thought(reply: Reply) -> int:
    return tokens(len(reply.thinking or ""))


def _spell(usage: Usage | Mapping[str, Any]) -> dict[str, Any] | None:
    if not isinstance(usage, Usage):
        return dict(usage) or None
    read = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.thinking},
        "total_tokens": read + usage.output,
    }
