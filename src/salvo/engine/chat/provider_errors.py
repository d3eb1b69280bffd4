"""Turn the error replies of providers into our errors, with the provider's message and a hint."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from salvo.engine.chat.catalog import Provider
from salvo.engine.text.formatting import truncate
from salvo.engine.wire.base import WireReply
from salvo.engine.wire.retry import RetryPolicy, requested_seconds
from salvo.errors import (
    ContextTooLongError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestRefusedError,
    UnknownModelError,
    WrongKeyError,
)
from salvo.records import record

_MAX_MESSAGE = 400
_MAX_PAGE = 20_000
_MAX_DATE = 40
_MARKUP = re.compile(r"<(head|style|script)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_REFUSAL = re.compile(
    r"unsupported|not support|deprecated|not permitted|unknown|unrecognized|unexpected|not allowed|removed|extra input",
    re.IGNORECASE,
)
_REFUSAL_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})
_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|prompt is too long|request_too_large|exceeds? the context",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"insufficient_quota|credit balance|billing_(?:error|not_active|hard_limit)", re.IGNORECASE)


@record
class ErrorBody:
    """An error reply. Both protocols have its details in `error`; proxies send anything."""

    reply: WireReply
    message: str
    kind: str
    code: str
    parameter: str
    is_json: bool

    @property
    def words(self) -> str:
        return f"{self.code} {self.kind} {self.message}"


def parse_error_body(reply: WireReply) -> ErrorBody:
    try:
        body = reply.json()
    except ValueError:
        body = None
    details = body.get("error") if isinstance(body, dict) else None
    if isinstance(details, str):
        details = {"message": details}
    return ErrorBody(
        reply,
        message=_sentence(_string(details, "message") or _string(body, "message") or _plain(reply.body)),
        kind=_string(details, "type"),
        code=_string(details, "code"),
        parameter=_string(details, "param"),
        is_json=isinstance(body, dict),
    )


def refused_parameter(error_body: ErrorBody, optional: Collection[str]) -> str | None:
    """Return the optional parameter that the provider refuses by name, or None.

    A value out of range is a mistake of the caller, and its parameter is not dropped: the message must say that the
    parameter itself is not supported.
    """
    if error_body.reply.status not in (400, 422):
        return None
    if error_body.code not in _REFUSAL_CODES and not _REFUSAL.search(error_body.message):
        return None
    if error_body.parameter in optional:
        return error_body.parameter
    # The refused parameter comes first in the sentence, before "use 'max_completion_tokens' instead".
    mentioned = [(match.start(), name) for name in optional if (match := re.search(rf"\b{name}\b", error_body.message))]
    return min(mentioned)[1] if mentioned else None


def provider_error(
    error_body: ErrorBody, provider: Provider, model: str, *, key_hint: str | None = None
) -> ProviderError:
    """Return our error. `key_hint` says where the key of this call comes from; None: from the environment."""
    reply = error_body.reply
    details = f": {error_body.message}" if error_body.message else "."
    message = f"{provider.title} answered {reply.status}{details}"
    kind, hint = _classify(error_body, provider, model, key_hint or f"in the environment: {provider.key_variable}")
    if reply.attempts:
        message += f" It was tried {len(reply.attempts) + 1} times."
    message += _wait_note(reply)
    error = kind(message, hint=hint, status=reply.status, request_id=reply.request_id)
    if (requested_seconds(reply) or 0.0) > RetryPolicy().max_seconds:
        error.is_permanent = True
    return error


def _wait_note(reply: WireReply) -> str:
    """Return how long the provider says to wait, where it does."""
    seconds = requested_seconds(reply)
    if seconds is not None:
        return f" It says to wait for {seconds:,.0f} s." if seconds >= 1 else ""
    date = reply.headers.get("retry-after")
    return f" It says to wait until {truncate(date, _MAX_DATE)}." if date else ""


def _classify(error_body: ErrorBody, provider: Provider, model: str, key_place: str) -> tuple[type[ProviderError], str]:
    status = error_body.reply.status
    if _NO_CREDIT.search(error_body.words) or status == 402:
        return QuotaError, "The account has no credit or quota left. Add some at the provider, or use another key."
    if _TOO_LONG.search(error_body.words) or status == 413:
        hint = f"The conversation does not fit {model}. Shorten it, or use a model with a larger context."
        return ContextTooLongError, hint
    if status in (401, 403):
        hint = f"Check the key ({key_place}), and that its account may use {model}."
        return WrongKeyError, hint
    if status == 404 and error_body.is_json:
        return UnknownModelError, provider.about(model)
    if status == 429:
        return RateLimitError, "Lower the concurrency, or wait until the limit is reset."
    if status >= 500:
        return OverloadedError, "The provider failed. Try again later."
    if 300 <= status < 400:
        location = error_body.reply.headers.get("location")
        where = f" to {location}" if location else ""
        hint = f"It redirects{where}. No redirect is followed, because it would get the key. Check the base URL."
        return RequestRefusedError, hint
    if status == 404:
        return RequestRefusedError, "There is no such API at this address. Check the base URL."
    if status < 300:
        return RequestRefusedError, "A completion has the status 200. Check the base URL, and proxies before it."
    return RequestRefusedError, "The provider does not accept this request."


def _string(holder: Any, name: str) -> str:
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else ""


def _plain(body: bytes) -> str:
    """Return the text of an error page without its markup."""
    text = body[:_MAX_PAGE].decode("utf-8", "replace")
    return " ".join(_MARKUP.sub(" ", text).split())


def _sentence(message: str) -> str:
    message = truncate(" ".join(message.split()), _MAX_MESSAGE)
    return message if not message or message.endswith((".", "!", "?", "…")) else f"{message}."
