"""The runner: runs the scenarios of one command through one pool, and stores each run when it finishes.

Runner.run(work)            batches are saved, Ctrl-C is handled, all scenarios share one pool and one executor
  _run_scenario(runs)       the pending runs of one scenario, then further rounds while its verdict is open
    _run_numbers(numbers)   as many at once as the pool and the scenario allow
      Executor.map(…)       one run, as data, here or in a worker (executors/); it does not touch the store
      _save(…)              the recording, then the run
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.event_loop import Responsible, watched_loop
from salvo.engine.runtime.pool import TERMINATED, Budget, Pool, PoolStopped, call_blocking, cancel_on_interrupt, gather
from salvo.engine.runtime.pricing import PriceBook
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire import http_wire
from salvo.engine.wire.base import Endpoint, HttpOptions, RecordingOptions, Wire
from salvo.engine.wire.retry import Wait
from salvo.errors import StoreError, WorkerLostError
from salvo.records import record
from salvo.scenarios.analysis.confidence_gate import is_unsettled
from salvo.scenarios.result import AgentRunResult, Batch, Cause, Outcome, SkippedRun
from salvo.scenarios.run.attempt import FinishedRun, abandoned_run
from salvo.scenarios.run.call_limits import DEFAULT_LIMITS, CallLimits
from salvo.scenarios.run.environment import PreparedScenario, Session
from salvo.scenarios.run.executors.base import (
    Driver,
    EncodedRun,
    Executor,
    Lease,
    OnListed,
    OpenWorkers,
    ReplayNote,
)
from salvo.scenarios.run.executors.in_process import InProcess
from salvo.scenarios.run.journal import Spend
from salvo.scenarios.run.losses import LossRecorder
from salvo.scenarios.run.permanent_faults import PermanentFaults, check_endpoints
from salvo.scenarios.run.saving import SavedRun, save_run
from salvo.scenarios.shards import Shard
from salvo.scenarios.store.index import IndexEntry
from salvo.scenarios.store.run_entries import RunEntries
from salvo.scenarios.store.started_runs import StartedRuns
from salvo.scenarios.store.store import RunStore

if TYPE_CHECKING:
    from salvo.engine.rates.pacing import Pacer
    from salvo.engine.rates.rate_shares import RateState
    from salvo.scenarios.run.sharing.shard_sharing import ShardSharing
    from salvo.scenarios.run.sharing.shared_rates import RateExchange
    from salvo.scenarios.run.sharing.shared_rounds import SharedRounds
    from salvo.scenarios.run.tools.mcp_tools import McpServers
    from salvo.scenarios.store.reply_cache import CacheSource

_MAX_EARLIER = 200
"""How many batches are searched for the one before."""
INTERRUPTED = "Ctrl-C was pressed"
_FIRST_FAILED = "a run failed, and -x stops at the first"
_FIRST_ERROR = "a run could not be judged, and -x stops at the first"
_NOT_STORED = "results cannot be stored"
_LEASE_LOST = "the store was out of reach for so long that others may make these runs now"
_CAUSES = {
    INTERRUPTED: Cause.INTERRUPTED,
    TERMINATED: Cause.INTERRUPTED,
    _FIRST_FAILED: Cause.STOP_FIRST,
    _FIRST_ERROR: Cause.STOP_FIRST,
    _NOT_STORED: Cause.STORE,
    _LEASE_LOST: Cause.STORE,
}
"""The cause of a skipped run by the reason the pool was stopped with. The pool itself stops only for its budget."""
_SECONDS_BETWEEN_SIGNS = 1.0
"""Between two notices about calls that are under way."""


@dataclass(slots=True)
class ScenarioRuns:
    """The runs of one scenario in one command: to be made, stored earlier, finished, and skipped."""

    batch: Batch
    prepared: PreparedScenario | None
    """None where nothing is left to run."""
    pending: Sequence[int] = ()
    """The numbers of the runs to make; with `--until-sure` those of the first round."""
    earlier: RunEntries = field(default_factory=RunEntries)
    finished: RunEntries = field(default_factory=RunEntries)
    skipped: dict[int, SkippedRun] = field(default_factory=dict)
    shard: Shard | None = None
    """The part of the batch that this command makes, if other commands make the others."""
    shared_rounds: SharedRounds | None = None
    """With `--until-sure`, where the other shards use the same store: `pending` is empty then."""

    @property
    def entries(self) -> RunEntries:
        """All stored runs of the batch."""
        return self.earlier | self.finished if self.earlier else self.finished


@record
class RunLimits:
    concurrency: int = 10
    max_cost: float | None = None
    """Dollars after which no more runs are started."""
    stop_at_first_failure: bool = False
    is_adaptive: bool = False
    """Whether more runs are made at once while providers accept their calls, up to MOST_AT_ONCE."""


MOST_AT_ONCE = 200


class RunListener:
    """Is notified of the progress of a runner. Subclasses override what they need."""

    def planned(self, count: int) -> None:
        """So many more runs will be made."""

    def started(self, prepared: PreparedScenario, number: int) -> None: ...

    def waiting(self, wait: Wait) -> None:
        """A call waits before it is tried again."""

    def calling(self, count: int, seconds: float) -> None:
        """So many calls of agents are under way, the oldest for so long. Called every second."""

    def grown(self, at_once: int) -> None:
        """So many runs may be made at once now (`-j auto`)."""

    def paced(self, rates: Sequence[RateState]) -> None:
        """Calls to these models are limited. Called every second (`-j auto`)."""

    def blocked(self, seconds: float, where: str) -> None:
        """Code at this place blocked the event loop, so that no run could go on."""

    def unpriced(self, name: str) -> None:
        """The first call that `max_cost` cannot count was made, to the model or adapter of this name."""

    def cache_failed(self, error: StoreError) -> None:
        """The cache cannot be written any more. The runs go on without it."""

    def relisted(self, batch: Batch, server: str, earlier: str, changes: Sequence[str]) -> None:
        """An MCP server lists other tools than in the earlier batch of the scenario."""

    def connected(self, destinations: Iterable[str]) -> None:
        """A worker is ready. These lines say where its calls will go."""

    def worker_lost(self, reason: str, run_ids: Sequence[str]) -> None:
        """A worker ended while it was making these runs. They are made again: what they had spent is lost."""

    def made_again(self, run_ids: Sequence[str]) -> None:
        """These runs are made again: an earlier command ended while it was making them, and what they spent is lost."""

    def finished(self, prepared: PreparedScenario, entry: IndexEntry, replay: ReplayNote) -> None:
        """A run was made, and stored unless its entry says why not."""


@record
class RunnerResult:
    interrupted: bool = False


@dataclass(slots=True, kw_only=True)
class Runner:
    """Runs scenarios once. What a run produced is added to its ScenarioRuns as it finishes."""

    endpoints: Mapping[str, Endpoint]
    store: RunStore
    redactor: Redactor
    clock: Clock
    limits: RunLimits
    recording: RecordingOptions | None
    listener: RunListener
    call_limits: CallLimits = DEFAULT_LIMITS
    """For calls that are not an agent's, such as those of judges."""
    price_book: PriceBook = field(default_factory=PriceBook)
    use_cache: bool = False
    open_workers: OpenWorkers | None = None
    """Opens workers that make the runs; None: this process makes them."""
    has_keys: bool = True
    """Whether the keys are in the environment of this process. Those of a cluster are in that of its nodes."""
    _pool: Pool = field(init=False)
    _faults: PermanentFaults = field(init=False, default_factory=PermanentFaults)
    _started: StartedRuns = field(init=False)
    _session: Session | None = field(init=False, default=None)
    _sharing: ShardSharing | None = field(init=False, default=None)
    """With the commands that make other runs of the same batches."""
    _exchange: RateExchange | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        limits = self.limits
        budget = Budget(limits.max_cost, self.listener.unpriced)
        most = max(MOST_AT_ONCE, limits.concurrency) if limits.is_adaptive else limits.concurrency
        self._pool = Pool(most, budget, start=limits.concurrency)
        self._started = StartedRuns(self.store.folder, self.clock.new_id())

    async def run(self, work: Sequence[ScenarioRuns]) -> RunnerResult:
        if self.has_keys:
            check_endpoints([runs.prepared for runs in work if runs.prepared], self.endpoints)
        self.store.prepare()
        batches = [runs.batch for runs in work if runs.prepared is not None]
        with self.store.hold(batches, self.clock.now().isoformat()):
            self._sharing = self._open_sharing(work)
            for batch in batches:  # before the first call, so that a crash can be resumed
                (self.store if self._sharing is None else self._sharing).save_batch(batch)
            self._name_unfinished(work)
            self.listener.planned(sum(len(runs.pending) for runs in work if runs.prepared is not None))
            async with self._open_budget():
                try:
                    outcome = await self._run_all(work)
                finally:
                    self._started.close()
            for runs in work:
                if all(skipped.outcome is not Outcome.INTERRUPTED for skipped in runs.skipped.values()):
                    self._started.forget(runs.batch.batch_id)
            return outcome

    def _name_unfinished(self, work: Sequence[ScenarioRuns]) -> None:
        """Name the runs that an earlier command was making when it was killed."""
        losses = self._losses()
        prepared = [runs for runs in work if runs.prepared is not None]
        again = [
            runs.batch.run_id(number) for runs in prepared for number in losses.take_over(runs.batch, runs.pending)
        ]
        if again:
            self.listener.made_again(again)

    def _losses(self) -> LossRecorder:
        return LossRecorder(self.store, self.clock, self._sharing is not None)

    async def _save_lost(self, batch: Batch, numbers: Sequence[int]) -> None:
        with suppress(StoreError):  # if nothing can be stored, the next run says so
            await call_blocking(self._losses().add_worker, batch, numbers, in_thread=self.store.is_shared)

    def _open_sharing(self, work: Sequence[ScenarioRuns]) -> ShardSharing | None:
        if all(runs.shard is None for runs in work):
            return None
        # Most commands make all runs of their batches.
        from salvo.scenarios.run.sharing.shard_sharing import ShardSharing

        return ShardSharing.of_work(work, self.store, self.clock)

    @asynccontextmanager
    async def _open_budget(self) -> AsyncIterator[None]:
        """Count what all shards spend together in this block, if there is a limit."""
        if self._sharing is None or self.limits.max_cost is None:
            yield
            return
        self._pool.budget = budget = self._sharing.budget(self.limits.max_cost, self.listener.unpriced)
        async with budget.opened():
            yield

    async def _run_all(self, work: Sequence[ScenarioRuns]) -> RunnerResult:
        async with AsyncExitStack() as stack:
            executor = await stack.enter_async_context(self._open_executor(work))
            jobs = [self._run_scenario(runs, runs.prepared, executor) for runs in work if runs.prepared]
            with cancel_on_interrupt(self._pool, INTERRUPTED):
                await gather(jobs)
        return RunnerResult(self._pool.is_cancelled)

    @asynccontextmanager
    async def _open_executor(self, work: Sequence[ScenarioRuns]) -> AsyncIterator[Executor]:
        """Open the place where runs are made: this process, or workers."""
        scenarios = {runs.batch.batch_id: runs.prepared for runs in work if runs.prepared}
        spend = self._pool.budget.spend
        if self._sharing is not None and self.limits.is_adaptive:
            self._exchange = self._sharing.rate_exchange()
        if self.open_workers is not None:
            batches = [prepared.batch for prepared in scenarios.values()]
            callbacks = self._save_listing, self._save_lost, self._stored_run, self._add_room
            driver = Driver(batches, self.listener, spend, *callbacks, self._exchange)
            async with self.open_workers(driver) as workers:
                yield workers
            return
        async with self.open_session(scenarios.values(), spend, self._save_listing, self._add_room) as session:
            self._session = session
            async with _exchanging(self._exchange, session.pacer):
                yield InProcess(session, scenarios)

    @asynccontextmanager
    async def open_session(
        self,
        scenarios: Iterable[PreparedScenario],
        spend: Spend,
        on_listed: OnListed,
        add_room: Callable[[], None],
    ) -> AsyncIterator[Session]:
        """Open what the runs of a process share. A worker calls this, too."""
        if (loop := watched_loop()) is not None:
            loop.on_blocked = self.listener.blocked
        async with AsyncExitStack() as stack:
            pacer = self._pacer(add_room)
            options = HttpOptions(self.call_limits.timeouts(), also_keep=pacer.headers if pacer else ())
            http = http_wire(self.endpoints, self.redactor, self.clock, options)
            wire = await stack.enter_async_context(http)
            session = Session(
                wire,
                self.redactor,
                self.clock,
                self.recording,
                self.listener.waiting,
                spend,
                self.price_book,
                self._cache(),
                await self._start_servers(scenarios, wire, on_listed, stack),
                pacer,
            )
            async with self._showing_life(session):
                yield session

    def end_lost_runs(self, work: Sequence[ScenarioRuns], blocker: Responsible, where: str) -> RunnerResult:
        """Save the run that blocks the event loop for good as timed out; the others that are missing were interrupted.

        Called in another thread while the loop stands still.
        """
        reason = f"another run blocked the event loop at {where}, and could not be interrupted"
        session = self._session
        if session is None:
            return RunnerResult()
        live = list(session.live.items())
        started = {(id(environment.prepared), environment.number) for _, environment in live}
        for runs in work:
            if (prepared := runs.prepared) is None:
                continue
            numbers = {entry.number for entry in runs.entries}
            for stopwatch, environment in live:
                is_missing = environment.prepared is prepared and environment.number not in numbers
                if stopwatch is blocker and is_missing:
                    result = abandoned_run(environment, session.redactor_for(prepared))
                    entry, replay, _ = self._save(FinishedRun(result, None, []))
                    runs.finished.append(entry)
                    self.listener.finished(prepared, entry, replay)
                    numbers.add(environment.number)
            for number in set(range(1, runs.batch.runs + 1)) - numbers - runs.skipped.keys():
                outcome = Outcome.INTERRUPTED if (id(prepared), number) in started else Outcome.NOT_RUN
                runs.skipped[number] = SkippedRun(outcome, Cause.INTERRUPTED, reason)
        return RunnerResult()

    def _add_room(self) -> None:
        self._pool.grow()
        self.listener.grown(self._pool.at_once)

    def _pacer(self, add_room: Callable[[], None]) -> Pacer | None:
        if not self.limits.is_adaptive:
            return None
        from salvo.engine.rates.pacing import Pacer  # most commands have a fixed number of runs at once

        return Pacer(self.clock, add_room, self._on_cut)

    def _on_cut(self, rates: Sequence[RateState]) -> None:
        self.listener.paced(rates)
        if self._exchange is not None:
            self._exchange.wake()

    def _cache(self) -> CacheSource | None:
        if not self.use_cache:
            return None
        from salvo.scenarios.store.reply_cache import CacheSource, open_cache  # only with --cache

        replies = open_cache(self.store, self.listener.cache_failed)
        replies.prepare()
        return CacheSource(replies, self.endpoints)

    async def _run_scenario(self, runs: ScenarioRuns, prepared: PreparedScenario, executor: Executor) -> None:
        if runs.shared_rounds is not None:
            await self._run_shared_rounds(runs, prepared, runs.shared_rounds, executor)
            return
        await self._run_numbers(runs, prepared, runs.pending, executor)
        completed_before = None
        while not runs.skipped and is_unsettled(runs.batch, runs.entries):
            completed = sum(entry.outcome in (Outcome.PASSED, Outcome.FAILED) for entry in runs.entries)
            if completed == completed_before:
                break  # no run of the last round could be judged: something is broken, and more runs would only cost
            completed_before = completed
            await self._run_numbers(runs, prepared, self._next_round(runs.batch, prepared), executor)

    async def _run_shared_rounds(
        self, runs: ScenarioRuns, prepared: PreparedScenario, rounds: SharedRounds, executor: Executor
    ) -> None:
        """Make runs in rounds together with other shards, until the verdict is settled."""
        budget = self._pool.budget
        while not runs.skipped:
            numbers = await rounds.next_numbers(
                self.store, runs.batch, is_stopped=lambda: self._pool.is_stopped, on_wait=budget.give_back
            )
            if not numbers:
                break
            self.listener.planned(len(numbers))
            await self._run_numbers(runs, prepared, numbers, executor)
        own = {entry.number for entry in runs.finished}
        entries = await call_blocking(self.store.batch_entries, runs.batch, in_thread=self.store.is_shared)
        runs.earlier = RunEntries(entry for entry in entries if entry.number not in own)

    async def _start_servers(
        self, scenarios: Iterable[PreparedScenario], wire: Wire, on_listed: OnListed, stack: AsyncExitStack
    ) -> McpServers | None:
        """Return what starts the MCP servers of the scenarios and ends them with the stack; None if there are none."""
        if not any(prepared.servers for prepared in scenarios):
            return None
        from salvo.scenarios.run.tools.mcp_tools import McpServers  # most commands need none of it

        return await stack.enter_async_context(McpServers(wire, self.clock, on_listed))

    async def _save_listing(self, batch: Batch, name: str) -> None:
        """Save what a server lists, and report how that differs from the scenario's batch before."""
        if self._sharing is None:
            self.store.save_batch(batch)
        else:
            self._sharing.save_listing(batch, name)
        earlier = islice(self.store.newest_first(), _MAX_EARLIER)
        for before in earlier:
            if (
                before.scenario_id == batch.scenario_id
                and before.batch_id != batch.batch_id
                and name in before.mcp_servers
            ):
                changes = list(before.mcp_servers[name].changes_to(batch.mcp_servers[name]))
                if changes:
                    self.listener.relisted(batch, name, before.batch_id, changes)
                return

    def _stored_run(self, run_id: str) -> AgentRunResult | None:
        return self.store.load_run(run_id) if self.store.has_run(run_id) else None

    def _next_round(self, batch: Batch, prepared: PreparedScenario) -> list[int]:
        """Return the numbers of the next round's runs. They are saved in the batch first, so that it can be resumed."""
        first = batch.runs + 1
        at_once = prepared.scenario.concurrency or self.limits.concurrency
        batch.runs = min(batch.runs + at_once, batch.max_runs or 0)
        batch.rounds.append(batch.runs)
        self.store.save_batch(batch)
        numbers = list(range(first, batch.runs + 1))
        self.listener.planned(len(numbers))
        return numbers

    async def _run_numbers(
        self, runs: ScenarioRuns, prepared: PreparedScenario, numbers: Sequence[int], executor: Executor
    ) -> None:
        """Run these numbers with a fixed number of workers: a task for each run would take too much memory."""
        remaining = iter(numbers)

        async def worker() -> None:
            for number in remaining:
                await self._run_number(runs, prepared, number, executor)

        at_once = min(prepared.scenario.concurrency or self._pool.limit, len(numbers))
        await gather(worker() for _ in range(at_once))

    async def _run_number(
        self, runs: ScenarioRuns, prepared: PreparedScenario, number: int, executor: Executor
    ) -> None:
        async def job() -> SavedRun | SkippedRun:
            if (reason := self._faults.reason(prepared)) is not None:
                return SkippedRun(Outcome.NOT_RUN, Cause.PROVIDER, reason)
            if not self.store.is_held():
                self._pool.stop(_LEASE_LOST)
                return SkippedRun(Outcome.NOT_RUN, Cause.STORE, _LEASE_LOST)
            self.listener.started(prepared, number)
            self._started.note(prepared.batch.batch_id, number)
            [finished] = [run async for run in executor.map([Lease(prepared.batch.batch_id, (number,))])]
            await self._settle_budget()
            in_thread = self.store.is_shared  # it takes a while, in which other runs go on
            saved = await call_blocking(self._save, finished, in_thread=in_thread)
            self._faults.record(finished.faults)
            return saved

        try:
            result = await self._pool.run(job)
        except WorkerLostError as error:
            self._started.note_lost(prepared.batch.batch_id, number)
            result = SkippedRun(Outcome.INTERRUPTED, Cause.INTERRUPTED, error.message)
        except StoreError:  # of a shared budget: the job itself raises none
            self._pool.stop(_NOT_STORED)
            result = SkippedRun(Outcome.NOT_RUN, Cause.STORE, _NOT_STORED)
        if isinstance(result, PoolStopped):
            outcome = Outcome.INTERRUPTED if result.started else Outcome.NOT_RUN
            result = SkippedRun(outcome, _CAUSES.get(result.reason, Cause.BUDGET), result.reason)
        if isinstance(result, SkippedRun):
            runs.skipped[number] = result
            return
        entry, replay, _ = result
        runs.finished.append(entry)
        self.listener.finished(prepared, entry, replay)
        if self.limits.stop_at_first_failure and entry.outcome not in (Outcome.PASSED, Outcome.PENDING):
            self._pool.stop(_FIRST_FAILED if entry.outcome is Outcome.FAILED else _FIRST_ERROR)

    async def _settle_budget(self) -> None:
        """Report what was spent to the other shards, before a run is stored that cost it."""
        try:
            await self._pool.budget.settle()
        except StoreError:
            self._pool.stop(_NOT_STORED)

    @asynccontextmanager
    async def _showing_life(self, session: Session) -> AsyncIterator[None]:
        """Notify the listener of open calls every second, while this block runs."""

        async def notify() -> None:
            while True:
                await asyncio.sleep(_SECONDS_BETWEEN_SIGNS)
                if session.pacer is not None:
                    self.listener.paced(session.pacer.rates)
                if (oldest := session.open_calls.oldest_start) is not None:
                    self.listener.calling(session.open_calls.count, self.clock.monotonic() - oldest)

        task = asyncio.create_task(notify())
        try:
            yield
        finally:
            task.cancel()

    def _save(self, run: FinishedRun | EncodedRun) -> SavedRun:
        saved = save_run(self.store, run)
        if not saved.is_stored:  # it was paid for, so it is shown; but no further run is started that cannot be stored
            self._pool.stop(_NOT_STORED)
        return saved


@asynccontextmanager
async def _exchanging(exchange: RateExchange | None, pacer: Pacer | None) -> AsyncIterator[None]:
    """Share the rates of this process with those of other shards in this block."""
    if exchange is None or pacer is None:
        yield
        return
    async with exchange.opened(lambda: [pacer.rates], lambda: pacer.take_shares(*exchange.shares([pacer.rates]))):
        yield
