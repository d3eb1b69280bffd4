"""Workers on a Ray cluster (`--on ray`, `--on ray://HOST:10001`): async actors that get a copy of the project's folder.

A worker's keys come from the environment of its node: nothing of this process's environment is sent.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from salvo.engine.text.messages import install_hint
from salvo.errors import UsageError
from salvo.scenarios.run.executors.base import Driver, Executor, OpenWorkers
from salvo.scenarios.run.executors.messages import Message, WorkerSetup, pack, plain, unpack
from salvo.scenarios.run.executors.ray_worker import COLLECT_SECONDS, PARTS, RayWorker
from salvo.scenarios.run.executors.worker_pool import open_workers

RUNS_PER_WORKER = 50
"""How many runs a worker has in flight at least, if there are so many."""
_START_SECONDS = 300.0
"""How long a worker may take to start. The cluster must have a free CPU for it and install the project's copy."""
_END_SECONDS = 10.0
"""How long a worker may take to end what it started."""
_CONNECT_SECONDS = 60.0
"""How long the cluster may take to answer. It gets a copy of the project's folder in this time."""
_CALLS_AT_ONCE = 1000
_NOT_COPIED = (
    ".git",
    ".salvo",
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    ".netrc",
    ".npmrc",
    ".pypirc",
    "byop_runs.db*",
    ".venv*",
    "venv",
    "node_modules",
    "__pycache__",
    "*.pyc",
)
"""Keys and the texts of playbook evaluations never cross, and what can be made again need not."""


class RayConnection:
    """A connection to a Ray cluster. `close` ends it, and every worker with it."""

    def __init__(self, address: str, root: Path) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        self._ray = ray = _import_ray()
        failures: list[Exception] = []

        def connect() -> None:
            try:
                ray.init(
                    address="auto" if address == "ray" else address,
                    runtime_env={"working_dir": str(root), "excludes": list(_NOT_COPIED)},
                    log_to_driver=False,
                    logging_level="ERROR",
                )
            except Exception as error:  # noqa: BLE001 - raised below: this is a thread
                failures.append(error)

        # In a thread, because Ray may wait for an address for ever, and cannot be interrupted.
        thread = threading.Thread(target=connect, name="salvo-ray-connection", daemon=True)
        thread.start()
        thread.join(_CONNECT_SECONDS)
        if thread.is_alive():
            raise _unreachable(address, f"it did not answer within {_CONNECT_SECONDS:.0f} s")
        for error in failures:
            if isinstance(error, ConnectionError | ValueError | RuntimeError):
                raise _unreachable(address, _first_line(error)) from error
            raise error

    def cpus(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 0))

    def new_link(self) -> RayLink:
        actor = self._ray.remote(RayWorker).options(
            num_cpus=1,
            max_restarts=0,
            max_task_retries=0,  # a run that was stored must not be paid for again
            max_concurrency=_CALLS_AT_ONCE,
            scheduling_strategy="SPREAD",
        )
        return RayLink(self._ray, actor)

    def close(self) -> None:
        self._ray.shutdown()


class RayLink:
    """A WorkerLink to an actor.

    Each call of an actor costs more CPU than the messages that it carries. So what follows from the messages of one
    call, such as the next leases, is collected and sent with the next.
    """

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray = ray
        self._class = actor
        self._actor: Any = None
        self._outgoing: list[bytes] = []
        self._has_follow_up = asyncio.Event()
        """Whether something is to be sent since the messages of the latest exchange came."""
        self._is_exchanging = False
        """Whether a call waits for messages of the worker, so that what is to be sent needs another one."""
        self._sending: asyncio.Task[None] | None = None
        self._end = "it has ended"
        self._rest = b""
        """The beginning of a message whose end has not come yet."""

    async def start(self, setup: WorkerSetup) -> None:
        self._actor = self._class.remote()
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._actor.start.remote(pack([Message("setup", plain(setup))]))
        except TimeoutError:
            raise UsageError(
                f"The cluster has not started a worker within {_START_SECONDS:.0f} s.",
                hint="Each worker needs a free CPU: `ray status` shows what is used. Set how many with --processes.",
            ) from None
        except self._ray.exceptions.RayError as error:
            raise UsageError(
                f"The cluster cannot start a worker: {_first_line(error)}",
                hint="Its nodes need Salvo and the packages of the agent, in the versions that you have here.",
            ) from error

    def send(self, messages: Sequence[Message]) -> None:
        self._outgoing.append(pack(messages))
        self._has_follow_up.set()
        if self._is_exchanging and (self._sending is None or self._sending.done()):
            self._sending = asyncio.create_task(self._send_soon())

    async def receive(self) -> Sequence[Message]:
        messages: list[Message] = []
        try:
            while not messages:
                content = await self._exchange()
                if not content:
                    self._end = await self._actor.end.remote()
                    break
                messages, self._rest = unpack(self._rest + content)
        except self._ray.exceptions.RayError as error:
            self._end = _first_line(error)
            return []
        else:
            return messages

    async def close(self) -> None:
        if self._actor is None:
            return
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._send(self._take_outgoing() + pack([Message("end")]))
                await self._actor.end.remote()
        except (TimeoutError, self._ray.exceptions.RayError):
            pass  # it is ended below
        finally:
            self._ray.kill(self._actor)

    def describe_end(self) -> str:
        return self._end

    async def _exchange(self) -> bytes:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_follow_up.wait(), COLLECT_SECONDS)
        self._is_exchanging = True
        try:
            exchange = self._actor.exchange.options(num_returns=PARTS)
            parts: list[bytes] = [await part for part in exchange.remote(self._take_outgoing())]
        finally:
            self._is_exchanging = False
            self._has_follow_up.clear()
        return b"".join(parts)

    def _take_outgoing(self) -> bytes:
        content, self._outgoing = b"".join(self._outgoing), []
        return content

    async def _send_soon(self) -> None:
        await asyncio.sleep(COLLECT_SECONDS)
        if content := self._take_outgoing():  # it may have been sent with an exchange
            await self._send(content)

    async def _send(self, content: bytes) -> None:
        try:
            await self._actor.send.remote(content)
        except self._ray.exceptions.RayError as error:  # `receive` returns that the worker has ended
            self._end = _first_line(error)


def on_cluster(
    address: str, root: Path, setup: WorkerSetup, count: int | None, pending: int
) -> tuple[int, OpenWorkers, Callable[[], None]]:
    """Connect to a cluster. Return the number of workers, what opens them, and what ends the connection."""
    cluster = RayConnection(address, root)
    workers = count or max(1, min(cluster.cpus(), math.ceil(pending / RUNS_PER_WORKER)))

    @asynccontextmanager
    async def opened(driver: Driver) -> AsyncIterator[Executor]:
        async with open_workers(driver, setup, cluster.new_link, workers) as executor:
            yield executor

    return workers, opened, cluster.close


def _import_ray() -> Any:
    try:
        import ray  # an optional dependency, and heavy
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise UsageError(
            "--on needs the package ray, which is not installed.",
            hint=install_hint("ray"),
        ) from None
    return ray


def _unreachable(address: str, reason: str) -> UsageError:
    place = os.environ.get("RAY_ADDRESS", address) if address == "ray" else address
    return UsageError(
        f"There is no Ray cluster to be reached at {place}: {reason}",
        hint="Start one with `ray start --head`, or name one: --on ray://HOST:10001. "
        "Nothing was run, and nothing was spent.",
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
