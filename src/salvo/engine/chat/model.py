"""A model over the wire, in whatever dialect its provider speaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from salvo.engine.chat.base import ChatReply, ChatRequest
from salvo.engine.chat.dialect import Dialect
from salvo.engine.wire.base import Wire, WireReply, WireRequest
from salvo.errors import BadReplyError, ProviderError


class WiredModel:
    """One model of one provider. Parameters it is known to refuse are not sent; others are tried.

    What it turns out to refuse is remembered within a lane only. A lane asks one thing after the other, so the
    requests of a lane never depend on what happens elsewhere at the same time, and a replay sends the same.
    """

    def __init__(
        self,
        wire: Wire,
        *,
        endpoint: str,
        provider: str,
        title: str,
        model: str,
        dialect: Dialect,
        refuses: frozenset[str],
        key_variable: str,
        about_models: Callable[[], str],
    ) -> None:
        self.name = f"{provider}/{model}"
        self.provider = provider
        self.model = model
        self._wire = wire
        self._endpoint = endpoint
        self._title = title
        self._dialect = dialect
        self._known = frozenset(field for field, parameter in dialect.optional.items() if parameter in refuses)
        self._learned: dict[str, frozenset[str]] = {}
        self._key_variable = key_variable
        self._about_models = about_models

    async def complete(self, request: ChatRequest) -> ChatReply:
        dialect = self._dialect
        while True:
            refused = self._known | self._learned.get(request.lane, frozenset())
            body = dialect.write(self.model, request, refused)
            reply = await self._wire.send(
                WireRequest(self._endpoint, dialect.path, body, dialect.headers, request.lane)
            )
            if reply.status == 200:
                return self._read(reply, self._dropped(request, body))
            from salvo.engine.chat.provider_errors import parse_error_body, provider_error, refused_parameter

            trouble = parse_error_body(reply)
            field = refused_parameter(trouble, [name for name in dialect.optional if name in body])
            if field is None:
                raise provider_error(
                    trouble,
                    title=self._title,
                    model=self.model,
                    key_variable=self._key_variable,
                    about_models=self._about_models,
                )
            # Free of charge, and once for each parameter: the body shrinks every time.
            self._learned[request.lane] = refused | {field}

    def _read(self, reply: WireReply, dropped: tuple[str, ...]) -> ChatReply:
        request_id = reply.headers.get("request-id") or reply.headers.get("x-request-id")
        try:
            body = reply.json()
        except ValueError as error:
            reason = f"not JSON ({error})" if reply.body.strip() else "empty"
            raise self._bad(f"its answer is {reason}", request_id) from error
        if not isinstance(body, dict):
            raise self._bad("its answer is not a JSON object", request_id)
        if isinstance(body.get("error"), dict):  # some routers answer 200 and put the error inside
            from salvo.engine.chat.provider_errors import parse_error_body

            raise self._bad(f"it says: {parse_error_body(reply).message}", request_id)
        try:
            read = self._dialect.read(body)
        except ValueError as error:
            raise self._bad(f"its answer is not what the protocol says: {error}", request_id) from error
        return ChatReply(
            message=read.message,
            stop=read.stop,
            stop_raw=read.stop_raw,
            usage=read.usage,
            model=read.model or self.model,
            system_fingerprint=read.system_fingerprint,
            request_id=request_id,
            dropped=dropped,
            seconds=reply.seconds,
            attempts=reply.attempts,
        )

    def _dropped(self, request: ChatRequest, body: dict[str, Any]) -> tuple[str, ...]:
        sent = {self._dialect.optional.get(name, name) for name in body}
        asked = ("temperature", "seed", "max_tokens", "output_schema")
        return tuple(name for name in asked if getattr(request, name) is not None and name not in sent)

    def _bad(self, reason: str, request_id: str | None) -> ProviderError:
        return BadReplyError(
            f"{self._title} did not answer with a completion: {reason.rstrip('.')}.",
            hint="Try again; if it stays, check that the base URL speaks this provider's protocol.",
            status=200,
            request_id=request_id,
        )
