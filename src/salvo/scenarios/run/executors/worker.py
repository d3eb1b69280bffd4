"""What runs in a worker: it builds its own session from the project's files and makes the runs that it is leased."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from salvo import __version__
from salvo.engine.jsonio import json_codec
from salvo.engine.rates.rate_shares import RateState
from salvo.engine.runtime.event_loop import Responsible
from salvo.engine.runtime.pool import call_blocking
from salvo.engine.wire.retry import Wait
from salvo.errors import InputError, SalvoError, StoreError, UsageError
from salvo.scenarios.destinations import destination_lines
from salvo.scenarios.result import Batch, Cause, ListedServer, Outcome
from salvo.scenarios.run.attempt import FinishedRun, abandoned_run
from salvo.scenarios.run.environment import PreparedScenario, Session
from salvo.scenarios.run.executors.base import EncodedRun, Lease, ReplayNote
from salvo.scenarios.run.executors.in_process import InProcess
from salvo.scenarios.run.executors.messages import Message, WorkerSetup, plain, run_message, typed
from salvo.scenarios.run.permanent_faults import check_endpoints
from salvo.scenarios.run.runner import RunLimits, RunListener
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.index import index_entry
from salvo.scenarios.store.store import RunStore, encode_run
from salvo.scenarios.workspace import Workspace

Send = Callable[[Message], None]
"""Sends a message to the driver. It may be called in any thread and does not block."""
LOST = 70
"""The exit status of a worker whose event loop was blocked for good."""


class Worker:
    """`receive` gets the driver's messages, in the event loop in which `serve` runs."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._ended = asyncio.Event()
        self._reports_cost = False
        self._session: Session | None = None
        self._store: RunStore | None = None
        """Where this worker stores its runs; None if the driver does."""
        self._executor: InProcess | None = None
        self._scenarios: dict[str, PreparedScenario] = {}
        self._running: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._accepted: dict[tuple[str, str], asyncio.Future[Any]] = {}
        """The lists of MCP servers that the driver was told and has not answered yet."""

    async def serve(self, setup: WorkerSetup) -> None:
        """Make runs until the driver ends this worker."""
        try:
            workspace, prepared = _prepare(setup)
        except SalvoError as error:
            self._send(Message("failed", {"message": error.message, "hint": error.hint, **_error_kind(error)}))
            return
        self._reports_cost = setup.reports_cost
        self._store = workspace.store() if setup.store_address else None
        self._scenarios = {item.batch.batch_id: item for item in prepared}
        listener = _Forwarding(self._send)
        limits = RunLimits(is_adaptive=setup.is_adaptive)
        runner = workspace.runner(limits, setup.recording, listener, use_cache=setup.use_cache)
        async with runner.open_session(prepared, self._spend, self._on_listed, self._add_room) as session:
            self._session = session
            self._executor = InProcess(session, self._scenarios)
            lines = destination_lines(workspace, [item.scenario for item in prepared])
            self._send(Message("ready", {"destinations": lines}))
            await self._ended.wait()
            for task in self._running.values():
                task.cancel()
            if self._running:
                await asyncio.wait(self._running.values())

    def receive(self, message: Message) -> None:
        fields = message.fields
        match message.kind:
            case "lease":
                for number in fields["numbers"]:
                    key = fields["batch_id"], number
                    self._running[key] = asyncio.create_task(self._make(*key))
            case "cancel":
                if (task := self._running.get((fields["batch_id"], fields["number"]))) is not None:
                    task.cancel()
            case "listing":
                self._accepted.pop((fields["batch_id"], fields["name"])).set_result(fields["server"])
            case "shares":
                if self._session is not None and self._session.pacer is not None:
                    shares = [RateState.from_plain(item) for item in fields["rates"]]
                    self._session.pacer.take_shares(shares, fields["workers"])
            case "end":
                self._ended.set()

    def end_lost_runs(self, blocker: Responsible, seconds: float, where: str) -> int:
        """Report the run that blocks the event loop for good as timed out. Called in the thread that watches."""
        session = self._session
        environment = None if session is None else dict(session.live).get(blocker)  # type: ignore[call-overload]
        if session is not None and environment is not None:
            prepared = environment.prepared
            result = abandoned_run(environment, session.redactor_for(prepared))
            encoded = _encode(FinishedRun(result, None, []))  # the driver stores it: this process ends now
            self._send(run_message(prepared.batch.batch_id, environment.number, encoded))
            self._send(Message("lost", {"seconds": seconds, "where": where}))
        return LOST

    async def _make(self, batch_id: str, number: int) -> None:
        if self._executor is None:
            raise RuntimeError("a lease came before the worker was ready")
        try:
            async for finished in self._executor.map([Lease(batch_id, (number,))]):
                encoded = _encode(finished)
                if self._store is not None and encoded.questions is None:
                    encoded = await call_blocking(_stored, self._store, encoded, in_thread=True)
                self._send(run_message(batch_id, number, encoded))
        except asyncio.CancelledError:
            pass  # the driver knows
        except Exception:  # noqa: BLE001 - a bug of ours, which the driver raises
            self._send(Message("raised", {"batch_id": batch_id, "number": number, "error": traceback.format_exc()}))
        finally:
            del self._running[batch_id, number]

    def _spend(self, cost: float | None, name: str = "") -> None:
        if self._reports_cost:
            self._send(Message("spent", {"cost": cost, "name": name}))

    def _add_room(self) -> None:
        self._send(Message("room"))

    async def _on_listed(self, batch: Batch, name: str) -> None:
        """Tell the driver what a server lists. What it answers is the list of the batch, perhaps another worker's."""
        key = batch.batch_id, name
        self._accepted[key] = accepted = asyncio.get_running_loop().create_future()
        fields = {"batch_id": batch.batch_id, "name": name, "server": plain(batch.mcp_servers[name])}
        self._send(Message("listing", fields))
        batch.mcp_servers[name] = typed(ListedServer, await accepted)


class _Forwarding(RunListener):
    """Tells the driver what happens to the calls of this worker's runs."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def waiting(self, wait: Wait) -> None:
        names = ("attempt", "status", "problem", "seconds", "lost")
        fields = {name: getattr(wait, name) for name in names}
        self._send(Message("waiting", {**fields, "endpoint": wait.request.endpoint}))

    def calling(self, count: int, seconds: float) -> None:
        self._send(Message("calling", {"count": count, "seconds": seconds}))

    def paced(self, rates: Sequence[RateState]) -> None:
        self._send(Message("rates", {"rates": [rate.as_plain() for rate in rates]}))

    def blocked(self, seconds: float, where: str) -> None:
        self._send(Message("blocked", {"seconds": seconds, "where": where}))

    def cache_failed(self, error: StoreError) -> None:
        self._send(Message("cache_failed", {"message": error.message, "hint": error.hint}))


def _prepare(setup: WorkerSetup) -> tuple[Workspace, list[PreparedScenario]]:
    """Read the project here. Raise UsageError unless everything is as the driver has it."""
    if setup.salvo_version != __version__:
        raise UsageError(
            f"The worker has Salvo {__version__}, and the command {setup.salvo_version}.",
            hint="Install the same version everywhere.",
        )
    root = Path(setup.root or Path.cwd()).resolve()
    project = Project(root, root / setup.cwd, store_address=setup.store_address or None)
    workspace = Workspace(
        project,
        patterns=setup.patterns,
        allow_env=frozenset(setup.allow_env),
        call_limits=setup.call_limits,
        price_file=None if setup.price_file is None else root / setup.price_file,
    )
    prepared = workspace.prepare_batches(setup.batches, [root / batch.source for batch in setup.batches])
    check_endpoints(prepared, workspace.all_endpoints())
    if setup.store_address:
        workspace.store().prepare()
    return workspace, prepared


def _encode(finished: FinishedRun) -> EncodedRun:
    result, recording = finished.result, finished.recording
    is_pending = finished.questions is not None
    content = json_codec.dumps(result) if is_pending else encode_run(result, lambda _: recording is not None)
    replay = ReplayNote(result.replayable, result.replay_note)
    return EncodedRun(index_entry(result), replay, finished.faults, content, recording, finished.questions)


def _stored(store: RunStore, run: EncodedRun) -> EncodedRun:
    """Store a run. Return it without its content, or with what prevented that: the run was paid for, so it is shown."""
    entry = run.entry
    try:
        if run.recording is not None:
            store.save_recording(entry.run_id, run.recording)
        store.save_encoded(entry, run.content or b"")
    except StoreError as error:
        entry = replace(entry, outcome=Outcome.ERROR, cause=Cause.STORE, error=str(error))
    return replace(run, entry=entry, content=None, recording=None)


def _error_kind(error: SalvoError) -> Mapping[str, Any]:
    return {"is_usage": isinstance(error, UsageError | InputError), "pid": os.getpid()}
