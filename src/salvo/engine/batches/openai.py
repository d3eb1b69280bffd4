"""OpenAI's Batch API: a JSONL file is uploaded, a batch is created for it, and the answers are in two further files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from salvo.engine.batches.base import (
    CLOCK_TOLERANCE,
    BatchProgress,
    BatchSearch,
    BatchServer,
    BatchSubmission,
    ItemAnswer,
    checked_provider_id,
)
from salvo.engine.chat.dialect import object_list, object_or_empty, string_or_empty
from salvo.engine.jsonio import json_codec
from salvo.engine.wire.base import Wire

TAG = "salvo_batch"
"""The name of our tag in the metadata of a batch."""
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


class OpenAIBatches:
    def __init__(self, endpoint: str, model: str, *, once: Wire, retrying: Wire) -> None:
        self._server = BatchServer("openai", endpoint, model, {}, once=once, retrying=retrying)

    async def submit(self, submission: BatchSubmission) -> str:
        url = f"/v1{submission.path}"  # the path at the provider, whatever the base URL is
        lines = (
            {"custom_id": item.custom_id, "method": "POST", "url": url, "body": dict(item.body)}
            for item in submission.items
        )
        content = b"".join(json_codec.dumps(line) + b"\n" for line in lines)
        file_id = await self._upload(f"{submission.tag}.jsonl", content)
        body = {
            "input_file_id": file_id,
            "endpoint": url,
            "completion_window": "24h",
            "metadata": {TAG: submission.tag},
        }
        return await self._server.submit("/batches", body)

    async def _upload(self, name: str, content: bytes) -> str:
        boundary = hashlib.sha256(content).hexdigest()
        parts = [
            f'--{boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'.encode(),
            f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n'.encode(),
            b"content-type: application/jsonl\r\n\r\n",
            content,
            f"\r\n--{boundary}--\r\n".encode(),
        ]
        headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
        return await self._server.upload("/files", b"".join(parts), headers)

    async def find(self, search: BatchSearch) -> str | None:
        """Look at the newest batches first, as far back as the time at which it was planned."""
        oldest = (search.since - CLOCK_TOLERANCE).timestamp()
        async for batches in self._server.pages("/batches", "after"):
            for batch in batches:
                if object_or_empty(batch, "metadata").get(TAG) == search.tag:
                    return checked_provider_id(batch.get("id"))
            created = batches[-1].get("created_at") if batches else None
            if isinstance(created, int | float) and created < oldest:
                return None
        return None

    async def _retrieve(self, batch_id: str) -> dict[str, Any]:
        return await self._server.get_object(f"/batches/{checked_provider_id(batch_id)}")

    async def progress(self, batch_id: str) -> BatchProgress:
        batch = await self._retrieve(batch_id)
        status = string_or_empty(batch.get("status"))
        counts = object_or_empty(batch, "request_counts")
        done = [counts.get(name) for name in ("completed", "failed")]
        numbers = [number for number in done if isinstance(number, int)]
        problem = ""
        if status == "failed":
            messages = [string_or_empty(error.get("message")) for error in _errors(batch)]
            problem = f"The provider refused the whole batch: {' '.join(filter(None, messages)) or 'it says no reason'}"
        return BatchProgress(status in _ENDED, status, sum(numbers) if numbers else None, problem)

    async def answers(self, batch_id: str) -> dict[str, ItemAnswer]:
        batch = await self._retrieve(batch_id)
        answers: dict[str, ItemAnswer] = {}
        # A batch in which everything failed has no output file, and one without a failure no error file.
        for name in ("error_file_id", "output_file_id"):
            if file_id := batch.get(name):
                path = f"/files/{checked_provider_id(file_id)}/content"
                answers |= _read_answers(await self._server.get_lines(path))
        return answers


def _errors(batch: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        return object_list(object_or_empty(batch, "errors"), "data")
    except ValueError:
        return []


def _read_answers(lines: Iterable[dict[str, Any]]) -> dict[str, ItemAnswer]:
    answers: dict[str, ItemAnswer] = {}
    for line in lines:
        custom_id = line.get("custom_id")
        if not isinstance(custom_id, str):
            continue
        response, error = object_or_empty(line, "response"), object_or_empty(line, "error")
        status = response.get("status_code")
        if error or not isinstance(status, int):
            reason = error.get("message") or error.get("code")
            answers[custom_id] = ItemAnswer(problem=str(reason or "it has neither an answer nor an error"))
        else:
            request_id = response.get("request_id")
            answers[custom_id] = ItemAnswer(
                status, response.get("body"), request_id if isinstance(request_id, str) else ""
            )
    return answers
