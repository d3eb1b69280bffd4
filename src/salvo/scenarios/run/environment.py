"""The environment of a run: its wire, tools and clock. Live, or built from a recording; the same code uses both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from salvo.engine.chat import judge
from salvo.engine.chat.judge import JudgeVote, Question
from salvo.engine.chat.model import WiredModel
from salvo.engine.jsonio.canonical import stable_key
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Wire
from salvo.engine.wire.record import RecordingOptions, RecordingWire
from salvo.engine.wire.retry import RetryingWire, Wait
from salvo.errors import TapeMissError
from salvo.scenarios.evaluators.base import LoadObject
from salvo.scenarios.evaluators.registry import Registry, builtin_registry
from salvo.scenarios.result import Batch
from salvo.scenarios.run.adapters.base import BaseAdapter, RunContext
from salvo.scenarios.run.journal import Journal, Spend
from salvo.scenarios.run.tools.discovery import FoundTool
from salvo.scenarios.run.tools.toolbox import ToolBox
from salvo.scenarios.spec.schema import Scenario


@dataclass(frozen=True, slots=True)
class PreparedScenario:
    """A scenario that is ready to run: everything is looked up once for all its runs."""

    batch: Batch
    scenario: Scenario
    tools: list[FoundTool]
    make_adapter: Callable[[], BaseAdapter]
    load: LoadObject
    options: Mapping[str, Any]
    """The adapter's options with environment variables expanded. They must not be stored."""
    endpoint: str | None = None


@dataclass(slots=True)
class Session:
    """What all runs of a process share. It is built in each process and never pickled."""

    wire: Wire
    redactor: Redactor
    clock: Clock
    recording: RecordingOptions | None
    on_wait: Callable[[Wait], None]
    spend: Spend
    registry: Registry = field(default_factory=builtin_registry)


class Stopwatch:
    """Measures the agent's own time: waits between retries count neither for the latency nor for the deadline."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started = clock.monotonic()
        self._waited = 0.0
        self._waiting_until = self._started
        self.deadline: asyncio.Timeout | None = None

    def exclude(self, wait: Wait) -> None:
        """Exclude a wait. Time in which several calls wait at once is excluded only once."""
        now = self._clock.monotonic()
        until = max(now + wait.seconds, self._waiting_until)
        more = until - max(now, self._waiting_until)
        self._waiting_until = until
        self._waited += more
        if self.deadline is not None and (when := self.deadline.when()) is not None:
            self.deadline.reschedule(when + more)

    def seconds(self) -> float:
        return self._clock.monotonic() - self._started - self._waited


@dataclass(slots=True)
class RunEnvironment:
    prepared: PreparedScenario
    wire: Wire
    toolbox: ToolBox
    journal: Journal
    judging: Journal
    """The calls of the judges, which are counted separately."""
    stopwatch: Stopwatch
    clock: Clock
    number: int
    timestamp: str
    recorder: RecordingWire | None = None
    latency: float | None = None
    """The recorded latency in a replay, so that a slow machine changes nothing."""

    @property
    def seed(self) -> int | None:
        first = self.prepared.scenario.seed
        return None if first is None else first + self.number - 1

    def context(self) -> RunContext:
        return RunContext(self.wire, self.toolbox, self.clock, self.seed, self.journal, self.prepared.endpoint)

    def services(self, index: int) -> JudgingServices:
        return JudgingServices(self.wire, self.judging, self.prepared.load, self.prepared.scenario, index)


@dataclass(frozen=True, slots=True)
class JudgingServices:
    """What an evaluator may use, bound to one assertion of one run: its judges have a lane of their own."""

    wire: Wire
    journal: Journal
    load: LoadObject
    scenario: Scenario
    index: int
    lane_prefix: str = ""

    async def ask(self, model: str, question: Question, votes: int) -> list[JudgeVote]:
        chat = WiredModel(model, self.wire)
        lane = self.lane_prefix + _judging_lane(self.scenario, self.index)
        try:
            judge_votes = await judge.poll(chat, question, votes, lane)
        except TapeMissError as miss:
            raise TapeMissError(
                "The recording holds no votes on this question: the rubric, or what the judge is shown, has changed."
            ) from miss
        for vote in judge_votes:
            for reply in vote.replies:
                self.journal.record_reply(chat.provider, reply)
        return judge_votes


def _judging_lane(scenario: Scenario, index: int) -> str:
    """Return the lane by what is asked, not by its position, so that a re-evaluation finds votes after other assertions
    were added or removed."""
    keys = [stable_key([assertion.type, assertion.fields])[:12] for assertion in scenario.assertions[: index + 1]]
    earlier = keys[:-1].count(keys[-1])
    return f"judge/{keys[-1]}" + (f"-{earlier + 1}" if earlier else "")


def live_environment(prepared: PreparedScenario, number: int, session: Session) -> RunEnvironment:
    """Return an environment over the shared connections: `Recording(Retrying(Http))`, the outer two for each run."""
    clock, redactor = session.clock, session.redactor
    timestamp = clock.now().isoformat()
    stopwatch = Stopwatch(clock)

    def waiting(wait: Wait) -> None:
        stopwatch.exclude(wait)
        session.on_wait(wait)

    retrying = RetryingWire(session.wire, clock=clock, listener=waiting)
    recorder = None if session.recording is None else RecordingWire(retrying, redactor, session.recording)
    return RunEnvironment(
        prepared=prepared,
        number=number,
        timestamp=timestamp,
        wire=recorder or retrying,
        toolbox=ToolBox([tool.make(clock) for tool in prepared.tools], clock, redactor),
        journal=Journal(clock, spend=session.spend),
        judging=Journal(clock, spend=session.spend),
        stopwatch=stopwatch,
        clock=clock,
        recorder=recorder,
    )
