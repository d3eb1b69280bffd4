"""Anthropic's Message Batches API: the requests are sent as one body, and the answers are one JSONL file.

A batch there has no metadata, so one that was started before a crash is recognized by the ids of its items, which its
results have. Until it has ended, any batch of the same size that nobody knows may be it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from salvo.engine.batches.base import (
    CLOCK_TOLERANCE,
    TRANSFER_TIMEOUTS,
    BatchProgress,
    BatchSearch,
    BatchServer,
    BatchSubmission,
    ItemAnswer,
    checked_provider_id,
)
from salvo.engine.chat.anthropic import AnthropicDialect
from salvo.engine.chat.dialect import object_or_empty, string_or_empty
from salvo.engine.wire.base import Wire
from salvo.errors import UndecidedBatchError

_PATH = "/v1/messages/batches"
_DONE = ("succeeded", "errored", "canceled", "expired")
_NO_ANSWER = {"canceled": "the batch was cancelled before it was answered", "expired": "it was not answered in a day"}


class AnthropicBatches:
    def __init__(self, endpoint: str, model: str, *, once: Wire, retrying: Wire) -> None:
        headers = AnthropicDialect.headers
        self._server = BatchServer("anthropic", endpoint, model, headers, once=once, retrying=retrying)

    async def submit(self, submission: BatchSubmission) -> str:
        body = {"requests": [{"custom_id": item.custom_id, "params": dict(item.body)} for item in submission.items]}
        return await self._server.submit(_PATH, body, TRANSFER_TIMEOUTS)

    async def find(self, search: BatchSearch) -> str | None:
        undecided = ""
        async for batch in self._newest(search.since - CLOCK_TOLERANCE):
            batch_id = checked_provider_id(batch.get("id"))
            if batch_id in search.known or _count(batch, ("processing", *_DONE)) != search.item_count:
                continue
            if batch.get("processing_status") != "ended":
                undecided = batch_id
            elif any(name.startswith(f"{search.tag}-") for name in await self.answers(batch_id)):
                return batch_id
        if undecided:
            raise UndecidedBatchError(
                f"The batch {undecided} may be the one that was being sent when the command was stopped.",
                hint="It can be told apart when it has ended: collect again then. Until then nothing is sent again.",
            )
        return None

    async def _newest(self, oldest: datetime) -> AsyncIterator[dict[str, Any]]:
        """Yield the batches that were created since then, newest first."""
        async for batches in self._server.pages(_PATH, "after_id"):
            for batch in batches:
                if _created(batch) < oldest:
                    return
                yield batch

    async def progress(self, batch_id: str) -> BatchProgress:
        batch = await self._server.get_object(f"{_PATH}/{checked_provider_id(batch_id)}")
        status = string_or_empty(batch.get("processing_status"))
        return BatchProgress(status == "ended", status, _count(batch, _DONE))

    async def answers(self, batch_id: str) -> dict[str, ItemAnswer]:
        # By its id, not by the address in `results_url`: the key must not follow an address that an answer names.
        path = f"{_PATH}/{checked_provider_id(batch_id)}/results"
        return dict(_read_answers(await self._server.get_lines(path)))


def _created(batch: dict[str, Any]) -> datetime:
    try:
        created = datetime.fromisoformat(string_or_empty(batch.get("created_at")))
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return created if created.tzinfo else created.replace(tzinfo=UTC)


def _count(batch: dict[str, Any], names: Sequence[str]) -> int:
    counts = object_or_empty(batch, "request_counts")
    numbers = (counts.get(name) for name in names)
    return sum(number for number in numbers if isinstance(number, int))


def _read_answers(lines: Iterator[dict[str, Any]]) -> Iterator[tuple[str, ItemAnswer]]:
    for line in lines:
        custom_id, result = line.get("custom_id"), object_or_empty(line, "result")
        if not isinstance(custom_id, str):
            continue
        kind = string_or_empty(result.get("type")) if isinstance(result.get("type"), str) else ""
        if kind == "succeeded":
            yield custom_id, ItemAnswer(200, result.get("message"))
        elif kind == "errored":
            yield custom_id, ItemAnswer(problem=_error_message(result))
        else:
            yield custom_id, ItemAnswer(problem=_NO_ANSWER.get(kind, "it has neither an answer nor an error"))


def _error_message(result: dict[str, Any]) -> str:
    error = object_or_empty(result, "error")
    details = object_or_empty(error, "error") or error
    message = details.get("message") or details.get("type")
    return message if isinstance(message, str) else "the provider says no reason"
