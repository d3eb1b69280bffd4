"""Questions that wait for a batch, and the answers that come out of one. Both are wires.

A judge asks through the usual code. While the questions are collected, `DeferringWire` takes each of them and says that
its answer is pending. When the batch has ended, the same code asks the same questions of `AnswerWire`. So a request of
a batch is, to the byte, the one that a direct call sends, and an answer is read as the answer to a direct call is.
"""

from __future__ import annotations

from typing import Any

from salvo.engine.batches.base import ItemAnswer
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import RecordingOptions, WireReply, WireRequest
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.replay import ReplayWire
from salvo.engine.wire.tape import Exchange, JsonContent, Tape, TapedError, TapedReply
from salvo.errors import AnswerPendingError, NoBatchAnswerError, TapeMissError

_ANY_SIZE = RecordingOptions(max_request_bytes=2**40, max_reply_bytes=2**40)
_ASKED_ONCE = "Through the batch API a question is asked once, and there is no usable answer to it."


class _PendingWire:
    async def send(self, _request: WireRequest, /) -> WireReply:
        raise AnswerPendingError("The answer waits for the provider's batch.")


class DeferringWire:
    """Takes questions instead of sending them. They are stored, so they are redacted as a recording is."""

    def __init__(self, redactor: Redactor) -> None:
        self._recorder = RecordingWire(_PendingWire(), redactor, _ANY_SIZE)

    @property
    def questions(self) -> Tape:
        return self._recorder.tape

    async def send(self, request: WireRequest) -> WireReply:
        return await self._recorder.send(request)


class AnswerWire:
    """Answers questions from a batch. A question that is not in it has no answer: none is asked directly."""

    def __init__(self, answered: Tape, redactor: Redactor) -> None:
        self._replay = ReplayWire(answered, redactor)

    async def send(self, request: WireRequest) -> WireReply:
        try:
            return await self._replay.send(request)
        except TapeMissError:
            # A correction of a malformed answer, for example, which would need a second batch.
            raise NoBatchAnswerError(_ASKED_ONCE) from None


def question_body(exchange: Exchange) -> Any:
    """Return the body of a stored question."""
    body = exchange.request.body
    return body.json if isinstance(body, JsonContent) else None


def write_answer(exchange: Exchange, answer: ItemAnswer | None, batch_id: str) -> None:
    """Put the answer of a batch on the tape of questions."""
    if answer is None:
        exchange.reply = _missing("The provider's batch has no answer to this question.")
    elif answer.problem or answer.status is None:
        reason = answer.problem.rstrip(".") or "the provider says no reason"
        exchange.reply = _missing(f"The provider's batch has no answer to this question: {reason}.")
    else:
        reply = answer.reply(batch_id)
        exchange.reply = TapedReply(reply.status, dict(reply.headers), JsonContent(answer.body), 0.0)


def _missing(message: str) -> TapedError:
    return TapedError(NoBatchAnswerError.__name__, message, "")
