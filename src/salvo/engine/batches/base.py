"""What a batch API is: it takes requests, says how far it is, and gives back an answer for each of them.

A batch of ours has an id of its own, the tag, which is stored before anything is sent. After a crash the tag finds the
provider's batch again, so that nothing is paid for twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from salvo.engine.chat import catalog
from salvo.engine.chat.provider_errors import parse_error_body, provider_error
from salvo.engine.jsonio import json_codec
from salvo.engine.wire.base import BATCH_HEADER, Timeouts, WireReply, WireRequest
from salvo.errors import BadReplyError
from salvo.records import record

MOST_ITEMS = 10_000
MOST_BYTES = 100 * 1024 * 1024
"""Well below the limits of both providers, so that the answers of a batch can be read in one piece."""
PAGE = 100
MOST_PAGES = 50
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


def read_object(reply: WireReply, provider: catalog.Provider, model: str) -> dict[str, Any]:
    """Return the JSON object of a reply. Raise ProviderError for a refusal, or for anything else."""
    check_status(reply, provider, model)
    try:
        value = reply.json()
    except ValueError as error:
        raise _bad(provider, f"it is not JSON ({error})", reply) from error
    if not isinstance(value, dict):
        raise _bad(provider, "it is not a JSON object", reply)
    return value


def check_status(reply: WireReply, provider: catalog.Provider, model: str) -> None:
    if reply.status != 200:
        raise provider_error(parse_error_body(reply), provider, model)


def read_lines(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSONL file. A line that is none is left out: its item has no answer then."""
    for line in body.splitlines():
        try:
            value = json_codec.loads(line, nan=True)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def get(endpoint: str, path: str, headers: Mapping[str, str] | None = None) -> WireRequest:
    return WireRequest(endpoint, path, None, headers or {}, "batch", method="GET", timeouts=TRANSFER_TIMEOUTS)


def _bad(provider: catalog.Provider, reason: str, reply: WireReply) -> BadReplyError:
    return BadReplyError(
        f"The batch API of {provider.title} gave an answer that cannot be used: {reason}.",
        hint="Try again. If it keeps happening, check that the base URL is that of this provider's API.",
        status=reply.status,
        request_id=reply.request_id,
    )
