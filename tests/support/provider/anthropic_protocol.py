"""Anthropic Messages: `POST /v1/messages`."""

import json
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

from tests.support.provider import anthropic_errors, anthropic_rules
from tests.support.provider.dialect import ApiError
from tests.support.provider.request import ProviderRequest
from tests.support.provider.script import Fault, Reply, Use
from tests.support.provider.thinking import Thinking
from tests.support.provider.tokens import AnthropicCache, Prompt, Usage, compact, tokens

STOP_REASONS = {
    "end": "end_turn",
    "length": "max_tokens",
    "refusal": "refusal",
    "context": "model_context_window_exceeded",
}


class AnthropicDialect:
    name: Final = "anthropic"
    path: Final = "/v1/messages"
    request_id_header: Final = "request-id"

    def __init__(self) -> None:
        self._cache = AnthropicCache()
        self._thinking = Thinking()
        self._replies = count(1)
        self._calls = count(1)

    def key(self, headers: Mapping[str, str]) -> str | None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return headers.get("x-api-key") or (token.strip() or None if scheme.lower() == "bearer" else None)

    def check(self, request: ProviderRequest) -> None:
        if request.key is None:
            raise anthropic_errors.invalid_key(None)
        anthropic_rules.check(request.body, request.headers.get("anthropic-version"))
        self._thinking.check(request.body["messages"])

    def prompt(self, request: ProviderRequest) -> Prompt:
        return self._cache.meet(request.body)

    def reply(self, reply: Reply, request: ProviderRequest, prompt: Prompt) -> dict[str, Any]:
        self._cache.keep(prompt)
        body: dict[str, Any] = {
            "id": f"msg_{next(self._replies):012d}",
            "type": "message",
            "role": "assistant",
            "model": reply.model or request.model,
            "content": self._content(reply),
            "stop_reason": "tool_use" if reply.stop == "end" and reply.uses else STOP_REASONS[reply.stop],
            "stop_sequence": None,
            "stop_details": _stop_details(reply),
        }
        usage = reply.usage if reply.usage is not None else prompt.usage(_spoken(reply), _thought(reply))
        if spelled := _spell(usage):
            body["usage"] = spelled
        return body

    def error_for(self, fault: Fault, request: ProviderRequest) -> ApiError:
        return anthropic_errors.of_fault(fault, request)

    def unreadable(self) -> ApiError:
        return anthropic_errors.problem("The request body is not valid JSON")

    def unknown_address(self, method: str, path: str) -> ApiError:
        return anthropic_errors.problem("Not Found", status=404, kind="not_found_error")

    def error_body(self, error: dict[str, Any], request_id: str) -> dict[str, Any]:
        return {"type": "error", "error": error, "request_id": request_id}

    def _content(self, reply: Reply) -> list[dict[str, Any]]:
        calls = [self._call(use) for use in reply.uses]
        content = []
        if reply.thinking is not None:
            content.append(self._thinking.block(reply.thinking, [call["id"] for call in calls]))
        if reply.text:
            content.append({"type": "text", "text": reply.text})
        return content + calls

    def _call(self, use: Use) -> dict[str, Any]:
        return {
            "type": "tool_use",
            "id": f"toolu_{next(self._calls):012d}",
            "name": use.name,
            "input": _input(use),
            "caller": {"type": "direct"},
        }


def _input(use: Use) -> dict[str, Any]:
    """The API never sends anything but an object, whatever the model wrote."""
    if not isinstance(use.arguments, str):
        return dict(use.arguments)
    try:
        written = json.loads(use.arguments)
    except ValueError:
        written = None
    return written if isinstance(written, dict) else {"INVALID_JSON": use.arguments}


def _stop_details(reply: Reply) -> dict[str, Any] | None:
    return {"type": "refusal", "category": None, "explanation": None} if reply.stop == "refusal" else None


def _spoken(reply: Reply) -> int:
    said = len(reply.text) + sum(len(use.name) + len(compact(_input(use))) for use in reply.uses)
    return max(1, tokens(said))


def _thought(reply: Reply) -> int:
    return tokens(len(reply.thinking or ""))


def _spell(usage: Usage | Mapping[str, Any]) -> dict[str, Any]:
    """Anthropic counts what was cached beside `input_tokens`, not in it."""
    if not isinstance(usage, Usage):
        return dict(usage)
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write - usage.cache_write_1h,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": usage.thinking},
        "service_tier": "standard",
    }
