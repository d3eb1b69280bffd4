"""What a provider says when it does not answer, turned into our errors: its words, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from salvo.engine.wire.base import WireReply
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

_LONGEST_MESSAGE = 400
_LONGEST_PAGE = 20_000
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
_NO_MONEY = re.compile(r"insufficient_quota|credit balance|billing_(?:error|not_active|hard_limit)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """A provider's error in neutral terms. Both protocols wrap it in `error`; proxies send anything at all."""

    status: int
    message: str
    kind: str = ""
    code: str = ""
    parameter: str = ""
    location: str = ""
    request_id: str | None = None
    attempts: int = 1
    is_json: bool = False

    @property
    def words(self) -> str:
        return f"{self.code} {self.kind} {self.message}"


def parse_error_body(reply: WireReply) -> ErrorBody:
    try:
        found = reply.json()
    except ValueError:
        found = None
    details = found.get("error") if isinstance(found, dict) else None
    if isinstance(details, str):
        details = {"message": details}
    if not isinstance(details, dict):
        details = {}
    return ErrorBody(
        status=reply.status,
        message=_sentence(_string(details, "message") or _string(found, "message") or _plain(reply.body)),
        kind=_string(details, "type"),
        code=_string(details, "code"),
        parameter=_string(details, "param"),
        location=reply.headers.get("location", ""),
        request_id=reply.headers.get("request-id") or reply.headers.get("x-request-id"),
        attempts=len(reply.attempts) + 1,
        is_json=isinstance(found, dict),
    )


def refused_parameter(complaint: ErrorBody, sent: Collection[str]) -> str | None:
    """The parameter that the provider refuses by name, among those that a request can do without.

    A value out of range is the caller's mistake and is not dropped in silence: the words must say that the
    parameter itself is not taken.
    """
    if complaint.status not in (400, 422):
        return None
    if complaint.code not in _REFUSAL_CODES and not _REFUSAL.search(complaint.message):
        return None
    if complaint.parameter in sent:
        return complaint.parameter
    # The parameter that a sentence is about comes first in it ("use 'max_completion_tokens' instead" follows).
    named = [(match.start(), name) for name in sent if (match := re.search(rf"\b{name}\b", complaint.message))]
    return min(named)[1] if named else None


def provider_error(
    complaint: ErrorBody, *, title: str, model: str, key_variable: str, about_models: Callable[[], str]
) -> ProviderError:
    """The error that fits; `about_models` has what to say about a model the provider does not know."""
    status = complaint.status
    said = f"{title} answered {status}: {complaint.message}" if complaint.message else f"{title} answered {status}."
    kind, hint = _judged(complaint, model=model, key_variable=key_variable, about_models=about_models)
    if complaint.attempts > 1:
        said += f" It was tried {complaint.attempts} times."
    return kind(said, hint=hint, status=status, request_id=complaint.request_id)


def _judged(
    complaint: ErrorBody, *, model: str, key_variable: str, about_models: Callable[[], str]
) -> tuple[type[ProviderError], str]:
    status = complaint.status
    if _NO_MONEY.search(complaint.words) or status == 402:
        return (
            QuotaError,
            "The account has no credit or quota left: add some at the provider, or use another key.",
        )
    if _TOO_LONG.search(complaint.words) or status == 413:
        return (
            ContextTooLongError,
            f"The conversation does not fit {model}: shorten it, or use a larger model.",
        )
    if status in (401, 403):
        return (
            WrongKeyError,
            f"Check the key (in the environment: {key_variable}), and that its account may use {model}.",
        )
    if status == 404 and complaint.is_json:
        return UnknownModelError, about_models()
    if status == 429:
        return RateLimitError, "Lower the concurrency, or wait until the limit is reset."
    if status >= 500:
        return OverloadedError, "The fault is on the provider's side: try again later."
    if 300 <= status < 400:
        where = f" to {complaint.location}" if complaint.location else ""
        return (
            RequestRefusedError,
            f"It redirects{where}; no redirect is followed with a key. Check the base URL.",
        )
    if status == 404:
        return RequestRefusedError, "There is no such API at this address: check the base URL."
    return RequestRefusedError, "The provider does not take the request as it stands."


def _string(holder: Any, name: str) -> str:
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else ""


def _plain(body: bytes) -> str:
    """The words of an error page: whatever is left without markup."""
    text = body[:_LONGEST_PAGE].decode("utf-8", "replace")
    return " ".join(_MARKUP.sub(" ", text).split())


def _sentence(message: str) -> str:
    message = " ".join(message.split())
    if not message:
        return ""
    if len(message) > _LONGEST_MESSAGE:
        message = message[: _LONGEST_MESSAGE - 1] + "…"
    return message if message.endswith((".", "!", "?", "…")) else f"{message}."
