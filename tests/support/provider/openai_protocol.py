"""OpenAI Chat Completions: `POST /v1/chat/completions`."""

import time
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

from tests.support.provider import openai_errors, openai_rules
from tests.support.provider.dialect import ApiError
from tests.support.provider.request import ProviderRequest
from tests.support.provider.script import Fault, Reply, Use
from tests.support.provider.tokens import OpenAICache, Prompt, Usage, compact, tokens

FINISH_REASONS = {"end": "stop", "length": "length", "refusal": "stop", "context": "length"}


class OpenAIDialect:
    name: Final = "openai"
    path: Final = "/v1/chat/completions"
    request_id_header: Final = "x-request-id"

    def __init__(self) -> None:
        self._cache = OpenAICache()
        self._replies = count(1)
        self._calls = count(1)

    def key(self, headers: Mapping[str, str]) -> str | None:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        return key.strip() or None if scheme.lower() == "bearer" else None

    def check(self, request: ProviderRequest) -> None:
        if request.key is None:
            raise openai_errors.invalid_key(None)
        openai_rules.check(request.body)

    def prompt(self, request: ProviderRequest) -> Prompt:
        return self._cache.meet(request.body)

    def reply(self, reply: Reply, request: ProviderRequest, prompt: Prompt) -> dict[str, Any]:
        self._cache.keep(prompt)
        body: dict[str, Any] = {
            "id": f"chatcmpl-{next(self._replies):012d}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": reply.model or request.model,
            "choices": [
                {
                    "index": 0,
                    "message": self._message(reply),
                    "logprobs": None,
                    "finish_reason": _finish_reason(reply),
                }
            ],
            "service_tier": "default",
            "system_fingerprint": reply.fingerprint,
        }
        usage = reply.usage if reply.usage is not None else prompt.usage(_spoken(reply), _thought(reply))
        if spelled := _spell(usage):
            body["usage"] = spelled
        return body

    def error_for(self, fault: Fault, request: ProviderRequest) -> ApiError:
        return openai_errors.of_fault(fault, request)

    def unreadable(self) -> ApiError:
        return openai_errors.problem(
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your "
            "HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid "
            "JSON.)"
        )

    def unknown_address(self, method: str, path: str) -> ApiError:
        return openai_errors.problem(f"Invalid URL ({method} {path})", status=404)

    def error_body(self, error: dict[str, Any], request_id: str) -> dict[str, Any]:
        return {"error": error}

    def _message(self, reply: Reply) -> dict[str, Any]:
        refused = reply.stop == "refusal" and reply.text
        message: dict[str, Any] = {
            "role": "assistant",
            "content": None if refused or (reply.uses and not reply.text) else reply.text,
            "refusal": reply.text if refused else None,
            "annotations": [],
        }
        if reply.thinking is not None:
            message["reasoning_content"] = reply.thinking
        if reply.uses:
            message["tool_calls"] = [self._call(use) for use in reply.uses]
        return message

    def _call(self, use: Use) -> dict[str, Any]:
        return {
            "id": f"call_{next(self._calls):012d}",
            "type": "function",
            "function": {"name": use.name, "arguments": _arguments(use)},
        }


def _arguments(use: Use) -> str:
    return use.arguments if isinstance(use.arguments, str) else compact(dict(use.arguments))


def _finish_reason(reply: Reply) -> str:
    if reply.stop == "end" and reply.uses:
        return "tool_calls"
    if reply.stop == "refusal" and not reply.text:
        return "content_filter"
    return FINISH_REASONS[reply.stop]


def _spoken(reply: Reply) -> int:
    said = len(reply.text) + sum(len(use.name) + len(_arguments(use)) for use in reply.uses)
    return max(1, tokens(said))


def _thought(reply: Reply) -> int:
    return tokens(len(reply.thinking or ""))


def _spell(usage: Usage | Mapping[str, Any]) -> dict[str, Any]:
    """OpenAI counts what was cached, and what was thought, in the totals."""
    if not isinstance(usage, Usage):
        return dict(usage)
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": usage.thinking,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
