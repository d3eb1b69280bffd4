"""A chat model that sends requests over a wire, in the dialect of its provider."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from salvo.engine.chat import catalog
from salvo.engine.chat.anthropic import AnthropicDialect, with_cache_breakpoints
from salvo.engine.chat.base import ChatReply, ChatRequest
from salvo.engine.chat.dialect import Dialect
from salvo.engine.chat.openai import OpenAIDialect
from salvo.engine.chat.provider_errors import parse_error_body, provider_error, refused_parameter
from salvo.engine.wire.base import BATCH_HEADER, Wire, WireReply, WireRequest
from salvo.errors import BadReplyError, ProviderError

_MAY_BE_DROPPED = ("temperature", "seed", "max_tokens", "output_schema")
"""Parameters that a model may refuse."""


class WiredModel:
    """One model of one provider. Parameters that it is known to refuse are not sent; others are tried.

    Parameters that it refuses are remembered per lane. A lane sends one request after the other, so its requests never
    depend on concurrent ones, and a replay sends the same requests.
    """

    def __init__(self, name: str, wire: Wire, *, endpoint: str | None = None, key_hint: str | None = None) -> None:
        """`name` is a provider and a model; `endpoint` is used instead of the provider's own.

        `key_hint` says where the key of that endpoint comes from.
        """
        self._provider, self.model = catalog.find(name)
        self.provider = self._provider.name
        self.name = f"{self.provider}/{self.model}"
        self._wire = wire
        self._endpoint = endpoint or self.provider
        self._key_hint = key_hint
        facts = self._provider.facts(self.model)
        self._dialect: Dialect = (
            AnthropicDialect()
            if self._provider.dialect == "anthropic"
            else OpenAIDialect(official=facts.is_known, with_tools=facts.with_tools)
        )
        self._mark_cache = (
            partial(with_cache_breakpoints, floor=facts.cache_floor) if self._provider.dialect == "anthropic" else None
        )
        self._known = frozenset(field for field, name in self._dialect.optional.items() if name in facts.refuses)
        self._learned: dict[str, frozenset[str]] = {}

    async def complete(self, request: ChatRequest) -> ChatReply:
        dialect = self._dialect
        while True:
            refused = self._known | self._learned.get(request.lane, frozenset())
            body = dialect.write(self.model, request, refused)
            marks = self._mark_cache if request.cache_prefix else None
            reply = await self._wire.send(
                WireRequest(self._endpoint, dialect.path, body, dialect.headers, request.lane, as_sent=marks)
            )
            if reply.status == 200:
                return self._read(reply, self._dropped(request, body))
            error_body = parse_error_body(reply)
            field = refused_parameter(error_body, [name for name in dialect.optional if name in body])
            if field is None:
                raise provider_error(error_body, self._provider, self.model, key_hint=self._key_hint)
            # A refused request is free, and the body has one parameter less each time.
            self._learned[request.lane] = refused | {field}

    def _read(self, reply: WireReply, dropped: tuple[str, ...]) -> ChatReply:
        try:
            body = reply.json()
        except ValueError as error:
            reason = f"not JSON ({error})" if reply.body.strip() else "empty"
            raise self._bad(f"its answer is {reason}", reply) from error
        if not isinstance(body, dict):
            raise self._bad("its answer is not a JSON object", reply)
        if isinstance(body.get("error"), dict):  # some routers answer 200 with an error inside
            raise self._bad(f"it says: {parse_error_body(reply).message}", reply)
        try:
            parsed = self._dialect.read(body)
        except ValueError as error:
            raise self._bad(f"its answer does not follow the protocol: {error}", reply) from error
        return replace(
            parsed,
            model=parsed.model or self.model,
            request_id=reply.request_id,
            dropped=dropped,
            seconds=reply.seconds,
            attempts=reply.attempts,
            from_cache=reply.from_cache,
            batched=BATCH_HEADER in reply.headers,
        )

    def _dropped(self, request: ChatRequest, body: dict[str, Any]) -> tuple[str, ...]:
        names = [name for name in _MAY_BE_DROPPED if getattr(request, name) is not None]
        if not names:
            return ()
        sent_names = {self._dialect.optional.get(name, name) for name in body}
        return tuple(name for name in names if name not in sent_names)

    def _bad(self, reason: str, reply: WireReply) -> ProviderError:
        return BadReplyError(
            f"{self._provider.title} did not answer with a completion: {reason.rstrip('.')}.",
            hint="Try again. If it keeps happening, check that the base URL is that of this provider's API.",
            status=200,
            request_id=reply.request_id,
        )
