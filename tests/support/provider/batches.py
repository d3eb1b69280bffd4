"""The batch endpoints of both providers: files and batches of OpenAI, message batches of Anthropic.

A batch is worked off when the test says so (`end`), or at once where `auto` is set. Each item is answered as a direct
request with the same body is; faults of a wire make no sense there.
"""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any, Literal, TypeAlias

from aiohttp import web

How: TypeAlias = Literal["completed", "failed", "expired", "cancelled"]
AnswerItem: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[tuple[int, dict[str, Any]]]]
"""Answers a body as a direct request to this path is answered, with its status."""
_OPENAI = re.compile(r"/v1/(?P<kind>files|batches)(?:/(?P<id>[\w-]+))?(?P<rest>/content)?")
_ANTHROPIC = re.compile(r"/v1/messages/batches(?:/(?P<id>[\w-]+))?(?P<rest>/results)?")


class UnknownIdError(Exception):
    """The provider has no batch or file with this id."""


@dataclass
class StoredBatch:
    """A batch as the provider has it."""

    id: str
    path: str
    items: dict[str, dict[str, Any]]
    """The bodies by custom id."""
    created: float
    metadata: dict[str, str] = field(default_factory=dict)
    input_file: str = ""
    status: str = "in_progress"
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What each item came to, in the provider's own form."""
    files: dict[str, str] = field(default_factory=dict)

    @property
    def is_anthropic(self) -> bool:
        return self.path == "/v1/messages"


class BatchEndpoints:
    def __init__(self, answer: AnswerItem) -> None:
        self.batches: list[StoredBatch] = []
        self.files: dict[str, bytes] = {}
        self.auto: How | None = None
        """If it is set, a batch ends in this way when it is first asked for."""
        self.lines: dict[str, str | None] = {}
        """Lines of results by custom id that are sent instead; None leaves the line out."""
        self.faults: list[str] = []
        """What happens to the next requests that create a batch: "refused", "lost" after it was created, or "hung",
        without an answer, after it was created or ("hung first") before."""
        self.hanging = 0
        """How many requests hang."""
        self._answer = answer

    def serves(self, path: str) -> bool:
        return bool(_OPENAI.fullmatch(path) or _ANTHROPIC.fullmatch(path))

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if (match := _ANTHROPIC.fullmatch(request.path)) is not None:
            assert request.headers.get("x-api-key"), "a batch without a key"
            assert request.headers.get("anthropic-version") == "2023-06-01"
            try:
                return await self._anthropic(request, match["id"], is_results=match["rest"] is not None)
            except UnknownIdError as error:
                return _json({"type": "error", "error": {"type": "not_found_error", "message": str(error)}}, 404)
        match = _OPENAI.fullmatch(request.path)
        assert match is not None
        assert request.headers.get("authorization", "").startswith("Bearer "), "a batch without a key"
        try:
            return await self._openai(request, match)
        except UnknownIdError as error:
            details = {"type": "invalid_request_error", "message": str(error), "param": None, "code": None}
            return _json({"error": details}, 404)

    async def end(self, batch: StoredBatch, how: How = "completed") -> None:
        """Work off a batch. What expired or was cancelled has answers for every second item only."""
        for number, (custom_id, body) in enumerate(batch.items.items()):
            if how == "completed" or (how in ("expired", "cancelled") and number % 2 == 0):
                status, reply = await self._answer(batch.path, body)
                batch.results[custom_id] = _result(batch, status, reply)
            elif how != "failed":
                batch.results[custom_id] = _no_result(batch, how)
        batch.status = "ended" if batch.is_anthropic else how

    async def _openai(self, request: web.BaseRequest, match: re.Match[str]) -> web.StreamResponse:
        if match["kind"] == "files":
            if request.method == "POST":
                return _json(self._upload(request.headers["content-type"], await request.read()))
            return web.Response(body=self._file(match["id"]), content_type="application/octet-stream")
        if request.method == "POST":
            return await self._create(request, await self._openai_batch(await request.read()))
        if match["id"] is None:
            return _json(self._page(request, "after", [_openai_object(item) for item in self._newest(openai=True)]))
        return _json(_openai_object(await self._look(match["id"])))

    async def _anthropic(self, request: web.BaseRequest, id_: str | None, *, is_results: bool) -> web.StreamResponse:
        if request.method == "POST":
            requests = json.loads(await request.read())["requests"]
            for item in requests:
                assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", item["custom_id"])
            items = {item["custom_id"]: item["params"] for item in requests}
            assert len(items) == len(requests), "a custom id is used twice"
            name = f"msgbatch_{len(self.batches):04d}"
            return await self._create(request, StoredBatch(name, "/v1/messages", items, time.time()))
        if id_ is None:
            return _json(self._page(request, "after_id", [_anthropic_object(x) for x in self._newest(openai=False)]))
        batch = await self._look(id_)
        if not is_results:
            return _json(_anthropic_object(batch))
        return web.Response(body=self._jsonl(batch, batch.results), content_type="application/x-jsonl")

    def _upload(self, content_type: str, body: bytes) -> dict[str, Any]:
        message = BytesParser(policy=HTTP).parsebytes(b"content-type: " + content_type.encode() + b"\r\n\r\n" + body)
        parts = {part.get_param("name", header="content-disposition"): part for part in message.iter_parts()}
        assert parts["purpose"].get_payload(decode=True) == b"batch"
        content = parts["file"].get_payload(decode=True)
        assert isinstance(content, bytes)
        name = f"file-{len(self.files):04d}"
        self.files[name] = content
        return {"id": name, "object": "file", "bytes": len(content), "purpose": "batch", "status": "processed"}

    async def _openai_batch(self, content: bytes) -> StoredBatch:
        body = json.loads(content)
        assert body["completion_window"] == "24h"
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert {line["url"] for line in lines} == {body["endpoint"]}
        assert {line["method"] for line in lines} == {"POST"}
        assert len({line["body"]["model"] for line in lines}) == 1, "a file is for one model"
        items = {line["custom_id"]: line["body"] for line in lines}
        assert len(items) == len(lines), "a custom id is used twice"
        name = f"batch_{len(self.batches):04d}"
        return StoredBatch(
            name, body["endpoint"], items, time.time(), body.get("metadata") or {}, body["input_file_id"]
        )

    async def _create(self, request: web.BaseRequest, batch: StoredBatch) -> web.StreamResponse:
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "refused":
            error = {"type": "invalid_request_error", "message": "Enqueued token limit reached.", "code": None}
            return _json({"type": "error", "error": error}, 400)
        if fault == "hung first":
            await self._hang()
        self.batches.append(batch)
        if fault == "hung":
            await self._hang()
        if fault == "lost" and request.transport is not None:
            request.transport.close()
        return _json(_anthropic_object(batch) if batch.is_anthropic else _openai_object(batch))

    async def _hang(self) -> None:
        """Never go on. The server ends this when the connection is closed."""
        self.hanging += 1
        await asyncio.Event().wait()

    def _batch(self, id_: str) -> StoredBatch:
        for batch in self.batches:
            if batch.id == id_:
                return batch
        raise UnknownIdError(f"No batch found with id '{id_}'.")

    async def _look(self, id_: str) -> StoredBatch:
        batch = self._batch(id_)
        if self.auto is not None and batch.status == "in_progress":
            await self.end(batch, self.auto)
        return batch

    def _newest(self, *, openai: bool) -> list[StoredBatch]:
        return [batch for batch in reversed(self.batches) if batch.is_anthropic is not openai]

    def _page(self, request: web.BaseRequest, cursor: str, objects: list[dict[str, Any]]) -> dict[str, Any]:
        limit = int(request.query.get("limit", "20"))
        after = request.query.get(cursor)
        ids = [item["id"] for item in objects]
        start = ids.index(after) + 1 if after else 0
        page = objects[start : start + limit]
        return {"object": "list", "data": page, "has_more": start + limit < len(objects)}

    def _file(self, name: str) -> bytes:
        if name in self.files:
            return self.files[name]
        kind, _, batch_id = name.partition("-of-")
        batch = self._batch(batch_id)
        chosen = {
            custom_id: result for custom_id, result in batch.results.items() if _is_good(result) is (kind == "output")
        }
        return self._jsonl(batch, chosen)

    def _jsonl(self, batch: StoredBatch, results: dict[str, dict[str, Any]]) -> bytes:
        lines = []
        for custom_id, result in reversed(results.items()):  # in no particular order
            line = self.lines.get(custom_id.rpartition("-")[2], json.dumps({"custom_id": custom_id, **result}))
            if line is not None:
                lines.append(line.encode() + b"\n")
        return b"".join(lines)


def _is_good(result: dict[str, Any]) -> bool:
    response: dict[str, Any] = result.get("response") or {}
    return response.get("status_code") == 200


def _result(batch: StoredBatch, status: int, reply: dict[str, Any]) -> dict[str, Any]:
    if not batch.is_anthropic:
        return {"response": {"status_code": status, "request_id": "req_of_batch", "body": reply}, "error": None}
    if status == 200:
        usage = {**reply.get("usage", {}), "service_tier": "batch"}
        return {"result": {"type": "succeeded", "message": {**reply, "usage": usage}}}
    return {"result": {"type": "errored", "error": reply}}


def _no_result(batch: StoredBatch, how: How) -> dict[str, Any]:
    if batch.is_anthropic:
        return {"result": {"type": "canceled" if how == "cancelled" else how}}
    message = "This request could not be executed before the completion window expired."
    return {"response": None, "error": {"code": f"batch_{how}", "message": message}}


def _openai_object(batch: StoredBatch) -> dict[str, Any]:
    good = sum(_is_good(result) for result in batch.results.values())
    failed = len(batch.results) - good
    errors = None
    if batch.status == "failed":
        entry = {"code": "invalid_request", "message": "The file has a model that is not available.", "line": 1}
        errors = {"object": "list", "data": [entry]}
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.path,
        "errors": errors,
        "input_file_id": batch.input_file,
        "completion_window": "24h",
        "status": batch.status,
        "output_file_id": f"output-of-{batch.id}" if good else None,
        "error_file_id": f"error-of-{batch.id}" if failed else None,
        "created_at": int(batch.created),
        "request_counts": {"total": len(batch.items), "completed": good, "failed": failed},
        "metadata": batch.metadata or None,
    }


def _anthropic_object(batch: StoredBatch) -> dict[str, Any]:
    kinds = [result["result"]["type"] for result in batch.results.values()]
    counts = {kind: kinds.count(kind) for kind in ("succeeded", "errored", "canceled", "expired")}
    created = datetime.fromtimestamp(batch.created, UTC).isoformat().replace("+00:00", "Z")
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": batch.status,
        "request_counts": {"processing": len(batch.items) - len(kinds), **counts},
        "created_at": created,
        "expires_at": created,
        "ended_at": created if batch.status == "ended" else None,
        "archived_at": None,
        "cancel_initiated_at": None,
        "results_url": f"https://attacker.example/{batch.id}" if batch.status == "ended" else None,
    }


def _json(body: dict[str, Any], status: int = 200) -> web.Response:
    return web.Response(body=json.dumps(body).encode(), status=status, content_type="application/json")
