"""The executor that makes runs in workers, wherever they are. It knows them by their WorkerLinks alone.

WorkerExecutor.map(leases)   each run goes to the worker with the fewest
  _flush()                   runs of one batch that are leased at the same time go to a worker in one message
  _read(worker)              results, what was spent, and signs of life
    _lose(worker)            a worker that ended is replaced; what it did not report is leased again
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from salvo.engine.rates.rate_shares import RateState, equal_shares
from salvo.engine.runtime.pool import gather
from salvo.engine.text.formatting import pluralize
from salvo.engine.wire.base import WireRequest
from salvo.engine.wire.retry import Wait
from salvo.errors import SalvoError, StoreError, UsageError, WorkerLostError
from salvo.scenarios.result import ListedServer
from salvo.scenarios.run.executors.base import MOST_RUNS_IN_LEASE, Driver, EncodedRun, Lease, ReplayNote
from salvo.scenarios.run.executors.messages import Message, WorkerSetup, encoded_run, plain, typed
from salvo.scenarios.store.index import index_entry

MOST_LOSSES = 3
"""How many workers may end while they make one run, before it is given up: it may be what ends them."""

_Run: TypeAlias = tuple[str, int]
"""Batch id and number."""


class WorkerLink(Protocol):
    """The connection to one worker."""

    async def start(self, setup: WorkerSetup) -> None: ...

    def send(self, messages: Sequence[Message]) -> None:
        """Send messages, without waiting for anything."""
        ...

    async def receive(self) -> Sequence[Message]:
        """Return the next messages, or none if the worker has ended."""
        ...

    async def close(self) -> None:
        """End the worker. Ask it to first, so that it can end what it started."""
        ...

    def describe_end(self) -> str:
        """Return how the worker ended, such as "process 12 was killed by signal 9"."""
        ...


@dataclass(slots=True, eq=False)
class _WorkerState:
    link: WorkerLink
    runs: dict[_Run, asyncio.Future[EncodedRun]] = field(default_factory=dict)
    unsent: list[_Run] = field(default_factory=list)
    calling: tuple[int, float] = (0, 0.0)
    """How many calls are under way, and for how long the oldest has been."""
    rates: list[RateState] = field(default_factory=list)
    """The models whose calls it limits."""
    rates_at: float = 0.0
    """When it said so, by the clock of the event loop."""
    blocked_by: str = ""
    """What it ended by, if a run blocked it for good: that run was reported, and the others did nothing."""


class WorkerExecutor:
    """An Executor. `open_workers` opens one."""

    def __init__(self, driver: Driver, setup: WorkerSetup, make_link: Callable[[], WorkerLink]) -> None:
        self._driver = driver
        self._setup = setup
        self._make_link = make_link
        self._batches = {batch.batch_id: batch for batch in driver.batches}
        self._workers: list[_WorkerState] = []
        self._readers: set[asyncio.Task[None]] = set()
        self._waiting: dict[_Run, asyncio.Future[EncodedRun]] = {}
        """Runs for which there is no worker at the moment."""
        self._losses: Counter[_Run] = Counter()
        self._is_flushing = False
        self._failure: SalvoError | None = None
        """Why no worker can be started any more."""

    async def map(self, leases: Iterable[Lease]) -> AsyncIterator[EncodedRun]:
        runs = [(lease.batch_id, number) for lease in leases for number in lease.numbers]
        futures = {run: self._submit(run) for run in runs}
        try:
            for finished in asyncio.as_completed(futures.values()) if len(futures) > 1 else futures.values():
                yield await finished
        finally:
            for run, future in futures.items():
                if not future.done() or future.cancelled():
                    self._cancel(run)

    async def start(self, count: int) -> None:
        """Start so many workers at once. Raise the error of the first that cannot."""
        await gather(self._start_worker() for _ in range(count))

    async def close(self) -> None:
        for task in self._readers:
            task.cancel()
        if self._readers:
            await asyncio.wait(self._readers)
        await gather(worker.link.close() for worker in self._workers)

    def _submit(self, run: _Run) -> asyncio.Future[EncodedRun]:
        future: asyncio.Future[EncodedRun] = asyncio.get_running_loop().create_future()
        self._assign(run, future)
        return future

    def _assign(self, run: _Run, future: asyncio.Future[EncodedRun]) -> None:
        if self._failure is not None:
            future.set_exception(self._failure)
        elif not self._workers:
            self._waiting[run] = future
        else:
            worker = min(self._workers, key=lambda state: len(state.runs))
            worker.runs[run] = future
            worker.unsent.append(run)
            if not self._is_flushing:
                self._is_flushing = True
                asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._is_flushing = False
        for worker in self._workers:
            if worker.unsent:
                unsent, worker.unsent = worker.unsent, []
                worker.link.send([_lease_message(lease) for lease in _leases(unsent)])

    def _cancel(self, run: _Run) -> None:
        self._waiting.pop(run, None)
        for worker in self._workers:
            if worker.runs.pop(run, None) is not None:
                if run in worker.unsent:
                    worker.unsent.remove(run)
                else:
                    worker.link.send([Message("cancel", {"batch_id": run[0], "number": run[1]})])

    async def _start_worker(self) -> None:
        link = self._make_link()
        try:
            await link.start(self._setup)
            await self._wait_until_ready(link)
        except BaseException:
            await link.close()
            raise
        worker = _WorkerState(link)
        self._workers.append(worker)
        reader = asyncio.create_task(self._read(worker))
        self._readers.add(reader)
        reader.add_done_callback(self._readers.discard)
        waiting, self._waiting = self._waiting, {}
        for run, future in waiting.items():
            self._assign(run, future)

    async def _wait_until_ready(self, link: WorkerLink) -> None:
        while messages := await link.receive():
            for message in messages:
                if message.kind == "ready":
                    self._driver.listener.connected(message.fields["destinations"])
                    return
                if message.kind == "failed":
                    kind = UsageError if message.fields["is_usage"] else SalvoError
                    raise kind(message.fields["message"], hint=message.fields["hint"])
        raise WorkerLostError(f"A worker ended before it could make a run: {link.describe_end()}.")

    async def _read(self, worker: _WorkerState) -> None:
        while messages := await worker.link.receive():
            for message in messages:
                if message.kind == "lost":
                    worker.blocked_by = _describe_block(**message.fields)
                else:
                    await self._handle(worker, message)
        await self._lose(worker)

    async def _handle(self, worker: _WorkerState, message: Message) -> None:
        fields, listener = message.fields, self._driver.listener
        match message.kind:
            case "run" | "raised":
                self._finish(worker, message)
            case "spent":
                self._driver.spend(fields["cost"], fields["name"])
            case "calling":
                worker.calling = fields["count"], fields["seconds"]
                others = [state.calling for state in self._workers]
                listener.calling(sum(count for count, _ in others), max(seconds for _, seconds in others))
            case "waiting":
                request = WireRequest(fields["endpoint"], "")
                values = [fields[name] for name in ("attempt", "status", "problem", "seconds", "lost")]
                listener.waiting(Wait(request, *values))
            case "blocked":
                listener.blocked(fields["seconds"], fields["where"])
            case "cache_failed":
                listener.cache_failed(StoreError(fields["message"], hint=fields["hint"]))
            case "room":
                self._driver.add_room()
            case "rates":
                self._take_rates(worker, fields)
            case "listing":
                await self._accept_listing(worker, fields)

    def _finish(self, worker: _WorkerState, message: Message) -> None:
        run = message.fields["batch_id"], message.fields["number"]
        future = worker.runs.pop(run, None)
        if future is None or future.done():
            return  # it was cancelled
        if message.kind == "run":
            future.set_result(encoded_run(message))
        else:
            future.set_exception(RuntimeError(f"A worker failed:\n{message.fields['error']}"))

    def _take_rates(self, worker: _WorkerState, fields: Any) -> None:
        worker.rates = [RateState.from_plain(item) for item in fields["rates"]]
        worker.rates_at = asyncio.get_running_loop().time()
        self.share_rates()
        if self._driver.exchange is not None:
            self._driver.exchange.wake()

    def rates(self) -> list[list[RateState]]:
        """Return how fast each worker sends."""
        now = asyncio.get_running_loop().time()
        return [[state.after(now - worker.rates_at) for state in worker.rates] for worker in self._workers]

    def share_rates(self) -> None:
        """Tell all workers their equal shares of what the providers accept from all of them, and from other shards."""
        rates, exchange = self.rates(), self._driver.exchange
        shares, count = (equal_shares(rates), len(rates)) if exchange is None else exchange.shares(rates)
        message = Message("shares", {"rates": [share.as_plain() for share in shares], "workers": count})
        for worker in self._workers:
            worker.link.send([message])
        self._driver.listener.paced([share.times(len(rates)) for share in shares])

    async def _accept_listing(self, worker: _WorkerState, fields: Any) -> None:
        """Answer with the list of the batch: this one, unless another worker was first."""
        batch, name = self._batches[fields["batch_id"]], fields["name"]
        if name not in batch.mcp_servers:
            batch.mcp_servers[name] = typed(ListedServer, fields["server"])
            await self._driver.on_listed(batch, name)
        worker.link.send([Message("listing", {**fields, "server": plain(batch.mcp_servers[name])})])

    async def _lose(self, worker: _WorkerState) -> None:
        """Replace a worker that ended, and make again what is not stored of what it had."""
        self._workers.remove(worker)
        run_ids = [self._batches[batch_id].run_id(number) for batch_id, number in worker.runs]
        reason = worker.blocked_by or worker.link.describe_end()
        await worker.link.close()
        self._driver.listener.worker_lost(reason, run_ids)
        lost: dict[str, list[int]] = {}
        for run, run_id in zip(list(worker.runs), run_ids, strict=True):
            self._losses[run] += not worker.blocked_by
            if not self._lease_again(run, run_id, worker.runs[run], reason) and run not in worker.unsent:
                lost.setdefault(run[0], []).append(run[1])
        for batch_id, numbers in lost.items():
            await self._driver.save_lost(self._batches[batch_id], numbers)
        try:
            await self._start_worker()
        except SalvoError as error:
            if not self._workers:
                self._fail(error)

    def _lease_again(self, run: _Run, run_id: str, future: asyncio.Future[EncodedRun], reason: str) -> bool:
        """Make a run again, unless it is stored. Return whether it has a result, or is not waited for any more."""
        if future.done():
            return True
        if (stored := self._driver.stored_run(run_id)) is not None:
            replay = ReplayNote(stored.replayable, stored.replay_note)
            future.set_result(EncodedRun(index_entry(stored), replay, []))
            return True
        if self._losses[run] < MOST_LOSSES:
            self._assign(run, future)
        else:
            workers = pluralize(MOST_LOSSES, "worker")
            future.set_exception(WorkerLostError(f"{workers} ended while making this run, the last because {reason}"))
        return False

    def _fail(self, error: SalvoError) -> None:
        self._failure = error
        for future in self._waiting.values():
            future.set_exception(error)
        self._waiting = {}


@asynccontextmanager
async def open_workers(
    driver: Driver,
    setup: WorkerSetup,
    make_link: Callable[[], WorkerLink],
    count: int,
) -> AsyncIterator[WorkerExecutor]:
    executor = WorkerExecutor(driver, setup, make_link)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(executor.close)
        await executor.start(count)
        if driver.exchange is not None:
            await stack.enter_async_context(driver.exchange.opened(executor.rates, executor.share_rates))
        yield executor


def _leases(runs: Iterable[_Run]) -> Iterator[Lease]:
    """Yield runs of one batch together, as many as a lease may have."""
    by_batch: dict[str, list[int]] = {}
    for batch_id, number in runs:
        by_batch.setdefault(batch_id, []).append(number)
    for batch_id, numbers in by_batch.items():
        for start in range(0, len(numbers), MOST_RUNS_IN_LEASE):
            yield Lease(batch_id, tuple(numbers[start : start + MOST_RUNS_IN_LEASE]))


def _describe_block(seconds: float, where: str) -> str:
    return f"a run blocked its event loop for {seconds:.0f} s at {where}, and could not be interrupted"


def _lease_message(lease: Lease) -> Message:
    return Message("lease", {"batch_id": lease.batch_id, "numbers": lease.numbers})
