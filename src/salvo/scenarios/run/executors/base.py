"""The seam between the runner, which decides what is run, and the place where runs are made. It has one method.

    InProcess             in_process.py      this process, the default
    WorkerExecutor        worker_pool.py     worker processes, reached through a WorkerLink each:
      ProcessLink         processes.py         on this machine (`--processes`)
      RayLink             ray_cluster.py       on a cluster of Ray (`--on`)
        Worker            worker.py            what runs in a worker; messages.py is what crosses

Plain data crosses: a lease there, a finished run back. A worker builds its own session from the project's files.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import type_adapter
from salvo.records import record
from salvo.scenarios.result import AgentRunResult, Batch, Replayable
from salvo.scenarios.run.attempt import FinishedRun
from salvo.scenarios.run.journal import Spend
from salvo.scenarios.run.permanent_faults import PermanentFault
from salvo.scenarios.store.index import IndexEntry

if TYPE_CHECKING:
    from salvo.scenarios.run.runner import RunListener
    from salvo.scenarios.run.sharing.shared_rates import RateExchange

MOST_RUNS_IN_LEASE = 50
OnListed: TypeAlias = Callable[[Batch, str], Awaitable[None]]
"""Called when the first run of a batch has listed the tools of an MCP server, which the batch has by this name."""


class ReplayNote(NamedTuple):
    """How far the recording of a run can be replayed, and why not further."""

    replayable: Replayable
    reason: str


class Lease(NamedTuple):
    """Runs of one batch that an executor is to make."""

    batch_id: str
    numbers: tuple[int, ...]


@record
class EncodedRun:
    """A run as a worker sends it: what lists show of it, and the content of its file as bytes."""

    entry: IndexEntry
    replay: ReplayNote
    faults: list[PermanentFault]
    content: bytes | None = None
    """What the file of the run will hold; None if the run is stored already."""
    recording: dict[str, bytes] | None = None
    questions: bytes | None = None
    """The questions to its judges, if they wait for a batch. Then the content is the whole result."""


def decode_result(run: EncodedRun) -> AgentRunResult:
    """Return the result of a run whose judges wait for a batch."""
    document = json_codec.loads(run.content or b"", max_depth=json_codec.MAX_DEPTH_STORED)
    return type_adapter(AgentRunResult).validate_python(document)


class Executor(Protocol):
    def map(self, leases: Iterable[Lease]) -> AsyncIterator[FinishedRun | EncodedRun]:
        """Make the runs of these leases and yield each when it finishes. One with a content is not stored yet.

        The caller decides how many are made at once, by what it leases. Raises WorkerLostError for a run whose workers
        ended again and again.
        """
        ...


@record
class Driver:
    """What workers tell the process that leases them runs, and what it knows."""

    batches: Sequence[Batch]
    listener: RunListener
    spend: Spend
    on_listed: OnListed
    save_lost: Callable[[Batch, Sequence[int]], Awaitable[None]]
    """Saves that a worker ended while it was making these runs of a batch."""
    stored_run: Callable[[str], AgentRunResult | None]
    """Returns a run that is stored already, wherever it was made."""
    add_room: Callable[[], None]
    """Called when calls were accepted, so that one more run may be made at once (`-j auto`)."""
    exchange: RateExchange | None = None
    """With other shards whose workers send calls to the same models (`-j auto`)."""


OpenWorkers: TypeAlias = Callable[[Driver], AbstractAsyncContextManager[Executor]]
