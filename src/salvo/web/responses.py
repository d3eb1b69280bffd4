"""What the API answers: plain values as JSON, and every error in one shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from salvo.engine.jsonio import json_codec
from salvo.errors import (
    AmbiguousIdError,
    InputError,
    MissingKeyError,
    NotReplayableError,
    PlaybookError,
    SalvoError,
    StoreError,
    UnknownIdError,
    UsageError,
)


@dataclass(frozen=True, slots=True)
class ErrorDetail:
    """What happened and what to do about it. `code` is for programs, and stays the same."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    error: ErrorDetail


class Json(JSONResponse):
    """JSON that may hold whatever texts hold: also half characters, which the usual writer refuses."""

    def render(self, content: Any) -> bytes:
        return json_codec.dumps(content)


class ConflictError(UsageError):
    """Right by itself, and not now."""


class BusyError(SalvoError):
    """More is asked for than the server takes on at once."""


def refusal(status: int, code: str, message: str, hint: str = "") -> Json:
    return Json(ErrorAnswer(ErrorDetail(code, message, hint)), status)


def problem_of(fault: SalvoError) -> ErrorDetail:
    return ErrorDetail(_kind(fault)[1], fault.message, fault.hint)


def answer_errors(app: FastAPI) -> None:
    """Every error that somebody can mend, in the one shape. The others are the guard's."""

    async def mendable(_request: Request, fault: Exception) -> Response:
        error = cast("SalvoError", fault)
        status, _ = _kind(error)
        return Json(ErrorAnswer(problem_of(error)), status)

    async def by_protocol(_request: Request, fault: Exception) -> Response:
        error = cast("HTTPException", fault)
        code, message, hint = _PROTOCOL.get(error.status_code, ("refused", f"{error.detail}.", ""))
        answer = refusal(error.status_code, code, message, hint)
        answer.headers.update(error.headers or {})
        return answer

    async def misshapen(_request: Request, fault: Exception) -> Response:
        found = cast("RequestValidationError", fault).errors()
        return refusal(422, "invalid_request", _sentences(found), "The API's description is at /api/openapi.json.")

    app.add_exception_handler(SalvoError, mendable)
    app.add_exception_handler(HTTPException, by_protocol)
    app.add_exception_handler(RequestValidationError, misshapen)


_KINDS: Sequence[tuple[type[SalvoError], int, str]] = (
    (UnknownIdError, 404, "unknown_id"),
    (AmbiguousIdError, 409, "ambiguous_id"),
    (ConflictError, 409, "conflict"),
    (UsageError, 400, "bad_usage"),
    (PlaybookError, 422, "invalid_playbook"),
    (InputError, 422, "invalid_input"),
    (MissingKeyError, 400, "missing_key"),
    (NotReplayableError, 409, "texts_not_stored"),
    (BusyError, 503, "busy"),
    (StoreError, 503, "store"),
    (SalvoError, 400, "refused"),
)


def _kind(fault: SalvoError) -> tuple[int, str]:
    return next((status, code) for kind, status, code in _KINDS if isinstance(fault, kind))


_PROTOCOL = {
    400: ("invalid_request", "The request's body could not be read as JSON.", ""),
    404: ("not_found", "There is nothing at this address.", "The API's description is at /api/openapi.json."),
    413: ("too_large", "The request is too large.", "Evaluate a shorter text, or give a smaller file."),
    405: ("method_not_allowed", "This address does not take that method.", "See /api/openapi.json."),
}

_MOST = 5


def _sentences(found: Sequence[Any]) -> str:
    """Where and what; never the value itself, which may be a whole document."""
    told = [
        f"{'.'.join(str(part) for part in each['loc'][1:]) or 'The body'}: {each['msg'].rstrip('.')}."
        for each in found[:_MOST]
    ]
    return " ".join(told)
