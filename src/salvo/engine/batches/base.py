"""What a batch API is: it takes requests, says how far it is, and gives back an answer for each of them.

A batch of ours has an id of its own, the tag, which is stored before anything is sent. After a crash the tag finds the
provider's batch again, so that nothing is paid for twice.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from salvo.engine.chat import catalog
from salvo.engine.chat.dialect import object_list
from salvo.engine.chat.provider_errors import parse_error_body, provider_error
from salvo.engine.jsonio import json_codec
from salvo.engine.wire.base import BATCH_HEADER, Timeouts, Wire, WireReply, WireRequest
from salvo.errors import BadReplyError, RequestRefusedError, UnknownModelError
from salvo.records import record

MOST_ITEMS = 10_000
MOST_BYTES = 100 * 1024 * 1024
"""Well below the limits of both providers, so that the answers of a batch can be read in one piece."""
_PAGE = 100
_MOST_PAGES = 50
"""How far back a batch is looked for that was submitted before a crash."""
CLOCK_TOLERANCE = timedelta(hours=1)
"""How much the provider's clock may differ from ours."""
TRANSFER_TIMEOUTS = Timeouts(connect=10.0, read=300.0, total=1800.0)
_PROVIDER_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")


@record
class BatchItem:
    """One request of a batch: the body is what a direct call would send."""

    custom_id: str
    body: Mapping[str, Any]


@record
class BatchProgress:
    """How far a batch is. `problem` says why a batch that has ended has no answers at all."""

    has_ended: bool
    status: str
    """In the provider's word."""
    done: int | None = None
    problem: str = ""


@record
class ItemAnswer:
    """The answer to one item: a status and a body as a direct call would get, or why there is none."""

    status: int | None = None
    body: Any = None
    request_id: str = ""
    problem: str = ""

    def reply(self, batch_id: str) -> WireReply:
        """Return the answer as the reply of a direct call, marked as one of this batch."""
        headers = {BATCH_HEADER: batch_id, **({"request-id": self.request_id} if self.request_id else {})}
        return WireReply(self.status or 0, json_codec.dumps(self.body), headers)


@record
class BatchSubmission:
    tag: str
    path: str
    """The path of a direct call."""
    items: Sequence[BatchItem]


@record
class BatchSearch:
    """A batch that may have been started before a crash."""

    tag: str
    item_count: int
    since: datetime
    """When it was planned."""
    known: frozenset[str]
    """The provider's ids of the batches that have other tags."""


class BatchApi(Protocol):
    """The batch API of one provider, at one endpoint."""

    async def submit(self, submission: BatchSubmission) -> str:
        """Start a batch and return the provider's id of it. It is sent once: a failure leaves open whether it began."""
        ...

    async def find(self, search: BatchSearch) -> str | None:
        """Return the provider's id of a batch, if it was started. Raise UndecidedBatchError if that is open yet."""
        ...

    async def progress(self, batch_id: str) -> BatchProgress: ...

    async def answers(self, batch_id: str) -> dict[str, ItemAnswer]:
        """Return the answers of a batch that has ended, by custom id. An item may be missing."""
        ...


def checked_provider_id(value: Any) -> str:
    """Return an id that a provider sent, which becomes a part of a path. Raise BadReplyError for anything unusual."""
    if isinstance(value, str) and _PROVIDER_ID.fullmatch(value):
        return value
    raise BadReplyError("The batch API answered with an id that cannot be used.", hint="Try again.")


_NO_BATCH_API = "This server may have no batch API. Check the base URL, or ask the judges directly."
_NO_SUCH_BATCH = (
    "Use the key of the account that submitted the batch. "
    "If the provider has deleted it, its votes cannot be collected."
)


class BatchServer:
    """The server of a batch API, at one endpoint: sends requests to it and checks every reply."""

    def __init__(
        self, provider: str, endpoint: str, model: str, headers: Mapping[str, str], *, once: Wire, retrying: Wire
    ) -> None:
        """`once` sends what must not be sent twice; `retrying` everything else."""
        self._provider = catalog.providers()[provider]
        self._endpoint = endpoint
        self._model = model
        self._headers = headers
        self._once = once
        self._retrying = retrying

    async def submit(self, path: str, body: Any, timeouts: Timeouts | None = None) -> str:
        """Start a batch, and return the provider's id of it."""
        request = WireRequest(self._endpoint, path, body, self._headers, "batch", timeouts=timeouts)
        return checked_provider_id(self._object(await self._once.send(request), _NO_BATCH_API).get("id"))

    async def upload(self, path: str, body: bytes, headers: Mapping[str, str]) -> str:
        """Send a file, and return the provider's id of it. One that is uploaded twice costs nothing."""
        request = WireRequest(self._endpoint, path, body, headers, "batch", timeouts=TRANSFER_TIMEOUTS)
        return checked_provider_id(self._object(await self._retrying.send(request), _NO_BATCH_API).get("id"))

    async def get_object(self, path: str) -> dict[str, Any]:
        return self._object(await self._get(path), _NO_SUCH_BATCH)

    async def pages(self, path: str, cursor: str) -> AsyncIterator[list[dict[str, Any]]]:
        """Yield the batches of a list, newest first, as far back as one is looked for that a crash left."""
        after = ""
        for _ in range(_MOST_PAGES):
            page = await self.get_object(f"{path}?limit={_PAGE}{after}")
            batches = object_list(page, "data")
            yield batches
            if not page.get("has_more") or not batches:
                return
            after = f"&{cursor}={checked_provider_id(batches[-1].get('id'))}"

    async def get_lines(self, path: str) -> Iterator[dict[str, Any]]:
        """Return the objects of a JSONL file."""
        reply = await self._get(path)
        self._check_status(reply, _NO_SUCH_BATCH)
        return _read_lines(reply.body)

    async def _get(self, path: str) -> WireReply:
        request = WireRequest(
            self._endpoint, path, None, self._headers, "batch", method="GET", timeouts=TRANSFER_TIMEOUTS
        )
        return await self._retrying.send(request)

    def _object(self, reply: WireReply, not_found_hint: str) -> dict[str, Any]:
        """Return the JSON object of a reply. Raise ProviderError for a refusal, or for anything else."""
        self._check_status(reply, not_found_hint)
        try:
            value = reply.json()
        except ValueError as error:
            raise _bad(self._provider, f"it is not JSON ({error})", reply) from error
        if not isinstance(value, dict):
            raise _bad(self._provider, "it is not a JSON object", reply)
        return value

    def _check_status(self, reply: WireReply, not_found_hint: str) -> None:
        if reply.status == 200:
            return
        error = provider_error(parse_error_body(reply), self._provider, self._model)
        if isinstance(error, UnknownModelError):  # a path names no model: it is something else that was not found
            raise RequestRefusedError(
                error.message, hint=not_found_hint, status=error.status, request_id=error.request_id
            )
        raise error


def _read_lines(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSONL file. A line that is none is left out: its item has no answer then."""
    for line in body.splitlines():
        try:
            value = json_codec.loads(line, nan=True)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _bad(provider: catalog.Provider, reason: str, reply: WireReply) -> BadReplyError:
    return BadReplyError(
        f"The batch API of {provider.title} gave an answer that cannot be used: {reason}.",
        hint="Try again. If it keeps happening, check that the base URL is that of this provider's API.",
        status=reply.status,
        request_id=reply.request_id,
    )
