"""The stage of a run: everything it acts on. Live, or made from a recording; the same code plays on both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from salvo.engine.chat import catalog
from salvo.engine.jsonio.canonical import stable_key
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.http import Wire
from salvo.engine.wire.retry import RetryingWire, Wait
from salvo.errors import TapeMissError
from salvo.scenarios.result import Batch
from salvo.scenarios.run.adapters.base import BaseAdapter, RunContext
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.run.tools.discovery import FoundTool
from salvo.scenarios.run.tools.toolbox import ToolBox
from salvo.scenarios.spec.schema import Scenario

if TYPE_CHECKING:
    import asyncio

    from salvo.engine.chat.judge import JudgeVote, Question
    from salvo.engine.wire.record import RecordingOptions, RecordingWire


class PreparedScenario(NamedTuple):
    """A scenario that is ready to be run: everything looked up once, whatever the number of runs."""

    batch: Batch
    scenario: Scenario
    file: Path
    tools: list[FoundTool]
    make_adapter: Callable[[], BaseAdapter]
    load: Callable[[str], Any]
    """A user's object by its dotted path, as seen from the scenario's folder."""
    options: Mapping[str, Any]
    """The adapter's options with the environment's values in: not to be stored."""
    endpoint: str | None = None


class Stopwatch:
    """Time that is the agent's own: our waits between retries are taken out, of the latency and of the deadline."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started = clock.monotonic()
        self._waited = 0.0
        self._waiting_until = self._started
        self._deadline: asyncio.Timeout | None = None

    def under(self, deadline: asyncio.Timeout | None) -> None:
        """The deadline that is in force from now on; None when there is none any more."""
        self._deadline = deadline

    def waiting(self, wait: Wait) -> None:
        """Calls may wait at the same time: what two of them wait together is taken out once."""
        now = self._clock.monotonic()
        until = max(now + wait.seconds, self._waiting_until)
        more = until - max(now, self._waiting_until)
        self._waiting_until = until
        self._waited += more
        if self._deadline is not None and (when := self._deadline.when()) is not None:
            self._deadline.reschedule(when + more)

    def seconds(self) -> float:
        return self._clock.monotonic() - self._started - self._waited


@dataclass(slots=True)
class RunEnvironment:
    wire: Wire
    toolbox: ToolBox
    journal: Journal
    judging: Journal
    """What the judges said, paid for apart."""
    stopwatch: Stopwatch
    clock: Clock
    load: Callable[[str], Any]
    scenario: Scenario
    recorder: RecordingWire | None = None
    latency: float | None = None
    """Known beforehand in replay, where a slow machine must change nothing."""

    def context(self, seed: int | None, endpoint: str | None) -> RunContext:
        return RunContext(self.wire, self.toolbox, self.clock, seed, self.journal, endpoint)

    def services(self, index: int) -> JudgingServices:
        return JudgingServices(self, index)


class JudgingServices(NamedTuple):
    """What an evaluator may use, bound to one assertion of one run: its judges ask in lanes of their own."""

    stage: RunEnvironment
    assertion: int

    async def ask(self, model: str, question: Question, votes: int) -> list[JudgeVote]:
        from salvo.engine.chat import judge

        chat = catalog.chat_model(model, self.stage.wire)
        try:
            cast = await judge.poll(chat, question, votes, judging_lane(self.stage.scenario, self.assertion))
        except TapeMissError as miss:
            raise TapeMissError(
                "The recording holds no votes on this question: the rubric, or what the judge is shown, has changed."
            ) from miss
        for vote in cast:
            for reply in vote.replies:
                self.stage.judging.said(chat.provider, reply)
        return cast

    def load(self, path: str) -> Any:
        return self.stage.load(path)


def judging_lane(scenario: Scenario, index: int) -> str:
    """By what is asked, not by its place: votes are found again when assertions around this one come and go."""
    asked = [stable_key([assertion.type, assertion.fields])[:12] for assertion in scenario.assertions[: index + 1]]
    twins = asked[:-1].count(asked[-1])
    return f"judge/{asked[-1]}" + (f"-{twins + 1}" if twins else "")


def live_environment(
    prepared: PreparedScenario,
    wire: Wire,
    *,
    clock: Clock,
    redactor: Redactor,
    recording: RecordingOptions | None,
    on_wait: Callable[[Wait], None] | None = None,
) -> RunEnvironment:
    """Over the shared connections: `Recording(Retrying(Http))`, each run with its own two outer ones."""
    stopwatch = Stopwatch(clock)

    def waiting(wait: Wait) -> None:
        stopwatch.waiting(wait)
        if on_wait is not None:
            on_wait(wait)

    retrying = RetryingWire(wire, clock=clock, listener=waiting)
    recorder = _recorder(retrying, redactor, recording) if recording is not None else None
    return RunEnvironment(
        wire=recorder or retrying,
        toolbox=ToolBox([tool.make(clock) for tool in prepared.tools], clock, redactor),
        journal=Journal(clock),
        judging=Journal(clock),
        stopwatch=stopwatch,
        clock=clock,
        load=prepared.load,
        scenario=prepared.scenario,
        recorder=recorder,
    )


def _recorder(wire: Wire, redactor: Redactor, options: RecordingOptions) -> RecordingWire:
    from salvo.engine.wire.record import RecordingWire

    return RecordingWire(wire, redactor, options)
