"""What the API answers: plain values as JSON, and every error in the same shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from salvo.engine.jsonio import json_codec
from salvo.errors import (
    AmbiguousIdError,
    InputError,
    MissingKeyError,
    NotReplayableError,
    NotUtf8Error,
    PlaybookChangedError,
    PlaybookError,
    ReviewChangedError,
    SalvoError,
    StoreError,
    UnknownIdError,
    UsageError,
)
from salvo.playbooks.store.records import ErrorDetail
from salvo.records import record


@record
class ErrorResponse:
    error: ErrorDetail


class JsonResponse(JSONResponse):
    """JSON of any text, including lone surrogates, which Starlette's JSONResponse refuses."""

    def render(self, content: Any) -> bytes:
        return json_codec.dumps(content)


class JsonRoute(APIRoute):
    """Encodes the values that endpoints return. FastAPI would validate and copy them first."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, _responding(endpoint, options.get("status_code") or 200), **options)


def _responding(endpoint: Callable[..., Any], status: int) -> Callable[..., Any]:
    def respond(result: Any) -> Response:
        return result if isinstance(result, Response) else JsonResponse(result, status)

    @wraps(endpoint)
    async def respond_async(**arguments: Any) -> Response:
        return respond(await endpoint(**arguments))

    @wraps(endpoint)
    def respond_in_thread(**arguments: Any) -> Response:
        return respond(endpoint(**arguments))

    return respond_async if iscoroutinefunction(endpoint) else respond_in_thread


class ConflictError(UsageError):
    """The request is valid, but not in the current state."""


class ForbiddenError(SalvoError):
    """Whoever asks may not do this."""


class TooManyAttemptsError(SalvoError):
    """Somebody tried too many passwords."""


class LoginProviderError(SalvoError):
    """The provider with which people log in did not answer, or not with what can be used."""


class BusyError(SalvoError):
    """The server does not accept more work at the moment."""


def file_route(*media_types: str) -> dict[str, Any]:
    """Return what a route declares that responds with `file_response`."""
    content: dict[str, Any] = {media_type: {} for media_type in media_types}
    return {"response_class": Response, "responses": {200: {"content": content, "description": "The file."}}}


def file_response(content: bytes, file_name: str, media_type: str) -> Response:
    """Return a file that a browser saves under this name."""
    return Response(
        content, media_type=media_type, headers={"content-disposition": f'attachment; filename="{file_name}"'}
    )


def error_response(status: int, code: str, message: str, hint: str = "") -> JsonResponse:
    return JsonResponse(ErrorResponse(ErrorDetail(code, message, hint)), status)


def error_answer(error: SalvoError) -> JsonResponse:
    status, _ = _status_and_code(error)
    return JsonResponse(ErrorResponse(error_detail(error)), status)


def error_detail(error: SalvoError) -> ErrorDetail:
    return ErrorDetail(_status_and_code(error)[1], error.message, error.hint)


def add_error_handlers(app: FastAPI) -> None:
    """Answer errors of the request in the one shape. SecurityMiddleware answers errors of the server."""

    @app.exception_handler(SalvoError)
    async def salvo_error(_request: Request, error: SalvoError) -> Response:
        return error_answer(error)

    @app.exception_handler(HTTPException)
    async def http_error(_request: Request, error: HTTPException) -> Response:
        code, message, hint = _HTTP_ERRORS.get(error.status_code, ("refused", f"{error.detail}.", ""))
        response = error_response(error.status_code, code, message, hint)
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(RequestValidationError)
    async def validation_error(_request: Request, error: RequestValidationError) -> Response:
        return error_response(422, "invalid_request", _sentences(error.errors()), _SEE_DESCRIPTION)


_STATUS_AND_CODE: Sequence[tuple[type[SalvoError], int, str]] = (
    (UnknownIdError, 404, "unknown_id"),
    (AmbiguousIdError, 409, "ambiguous_id"),
    (ConflictError, 409, "conflict"),
    (ReviewChangedError, 409, "review_changed"),
    (PlaybookChangedError, 409, "playbook_changed"),
    (UsageError, 400, "bad_usage"),
    (PlaybookError, 422, "invalid_playbook"),
    (NotUtf8Error, 422, "not_utf8"),
    (InputError, 422, "invalid_input"),
    (MissingKeyError, 400, "missing_key"),
    (NotReplayableError, 409, "texts_not_stored"),
    (ForbiddenError, 403, "forbidden"),
    (TooManyAttemptsError, 429, "too_many_attempts"),
    (LoginProviderError, 502, "login_provider"),
    (BusyError, 503, "busy"),
    (StoreError, 503, "store"),
    (SalvoError, 400, "refused"),
)


def _status_and_code(error: SalvoError) -> tuple[int, str]:
    return next((status, code) for kind, status, code in _STATUS_AND_CODE if isinstance(error, kind))


_SEE_DESCRIPTION = "See the API description at /api/openapi.json."
_HTTP_ERRORS = {
    400: ("invalid_request", "The request's body is not valid JSON.", ""),
    404: ("not_found", "There is nothing at this address.", _SEE_DESCRIPTION),
    413: ("too_large", "The request is too large.", "Evaluate a shorter text, or upload a smaller file."),
    405: ("method_not_allowed", "This address does not accept that method.", _SEE_DESCRIPTION),
}

_MAX_SENTENCES = 5


def _sentences(errors: Sequence[Any]) -> str:
    """Return where each error is and what it is, without the value, which may be a whole document."""
    return " ".join(
        f"{'.'.join(str(part) for part in error['loc'][1:]) or 'The body'}: {error['msg'].rstrip('.')}."
        for error in errors[:_MAX_SENTENCES]
    )
