"""What a run is, from the request an adapter gets to the result that is stored. Plain data throughout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from salvo.engine.chat.base import ToolDefinition, Usage


@dataclass(slots=True)
class AdapterRequest:
    """What an adapter is asked to do, once."""

    model: str
    system_prompt: str
    user_message: str
    tools: list[ToolDefinition]
    timeout_seconds: float
    seed: int | None = None
    temperature: float | None = None
    max_turns: int = 20
    output_schema: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class ToolCall:
    """A tool that was asked for, and what came of it. `error` is what the agent was told instead of a result."""

    name: str
    arguments: Any
    result: Any = None
    error: str | None = None
    seconds: float = 0.0


@dataclass(slots=True)
class TraceEvent:
    """A safe event: what was said and done, never private reasoning."""

    type: str
    data: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(slots=True)
class RunMetrics:
    """Latency in seconds without our own waits; cost in dollars, None where it is not known."""

    latency: float = 0.0
    tokens: Usage | None = None
    cost: float | None = None
    tool_count: int = 0
    tool_errors: int = 0
    model_calls: int = 0
    retries: int = 0


class Stopped(StrEnum):
    """Why an agent ended without having finished. Its own fault, each of them."""

    TURN_LIMIT = "turn_limit"
    REFUSAL = "refusal"
    LENGTH = "length"
    CONTEXT = "context"
    EXIT = "exit"
    """A program ended by an error of its own."""


@dataclass(slots=True)
class AdapterResponse:
    """What an agent did. An adapter that calls tools through its RunContext need not list them again."""

    final_output: Any
    tool_calls: list[ToolCall] = field(default_factory=list)
    trace: list[TraceEvent] = field(default_factory=list)
    metrics: RunMetrics = field(default_factory=RunMetrics)
    stopped: Stopped | None = None
    error: str | None = None
    """What there is to say about `stopped`."""
    details: dict[str, Any] = field(default_factory=dict)
    """What is known beyond the contract: returned models, fingerprints, parameters dropped, prices used."""


@dataclass(slots=True)
class EvalResult:
    """What one assertion came to. `passed` is None where it could not be judged, and `error` says why."""

    passed: bool | None
    score: float | None
    message: str = ""
    expected: Any = None
    actual: Any = None
    error: str | None = None
    cause: Cause | None = None
    details: dict[str, Any] = field(default_factory=dict)
    attachments: dict[str, Any] = field(default_factory=dict)
    """What an evaluator wants stored beside the run."""
    name: str = ""
    type: str = ""
    required: bool = False
    weight: float = 1.0

    @classmethod
    def judged(cls, passed: bool, message: str = "", *, expected: Any = None, actual: Any = None) -> EvalResult:
        return cls(passed, 1.0 if passed else 0.0, message, expected, actual)

    @classmethod
    def unjudged(cls, error: str, cause: Cause) -> EvalResult:
        return cls(None, None, error, error=error, cause=cause)


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """Could not be judged; never counted against the agent."""
    NOT_RUN = "not_run"
    INTERRUPTED = "interrupted"


class Cause(StrEnum):
    """Why a run did not pass: the agent's own faults, then what is not its fault, then what was never tried."""

    ASSERTION = "assertion"
    TURN_LIMIT = "turn_limit"
    TIMEOUT = "timeout"
    REFUSAL = "refusal"
    LENGTH = "length"
    CONTEXT = "context"
    EXIT = "exit"
    PROVIDER = "provider"
    ADAPTER = "adapter"
    JUDGE = "judge"
    EVALUATOR = "evaluator"
    PRICE_UNKNOWN = "price_unknown"
    STORE = "store"
    BUDGET = "budget"
    STOP_FIRST = "stop_first"
    INTERRUPTED = "interrupted"


UNFINISHED = frozenset({Cause.TURN_LIMIT, Cause.TIMEOUT, Cause.CONTEXT, Cause.EXIT, Cause.PROVIDER, Cause.ADAPTER})
"""How an agent ended without having finished: nothing is left to evaluate. The other causes are the evaluation's."""


class SkippedRun(NamedTuple):
    """A run that was never started, or was ended in the middle. It is not stored, so that it can be resumed."""

    outcome: Outcome
    cause: Cause
    reason: str


CUSTOM = "custom"
"""The provider of a batch whose adapter is the user's own."""

COMMAND = "command"
"""The adapter that runs a program."""


def full_model(provider: str, model: str) -> str:
    """As people name it: with its provider, where both are known."""
    return "/".join(filter(None, [provider, model]))


Replayable = Literal["full", "model-only", "frozen-tools", "no"]


@dataclass(slots=True)
class AgentRunResult:
    """One run, as it is stored and as JMESPath sees it."""

    run_id: str
    batch_id: str
    scenario_id: str
    number: int
    provider: str
    model: str
    timestamp: str
    seed: int | None
    outcome: Outcome
    cause: Cause | None = None
    passed: bool = False
    weighted_score: float | None = None
    error: str | None = None
    final_output: Any = None
    final_text: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)
    trace: list[TraceEvent] = field(default_factory=list)
    metrics: RunMetrics = field(default_factory=RunMetrics)
    judge_cost: float | None = 0.0
    eval_results: list[EvalResult] = field(default_factory=list)
    recorded: bool = False
    replayable: Replayable = "no"
    replay_note: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    salvo_version: str = ""


@dataclass(slots=True)
class Batch:
    """The N runs of one command on one scenario. Written before the first call, so that a crash can be resumed."""

    batch_id: str
    scenario_id: str
    created_at: str
    adapter: str
    provider: str
    model: str
    runs: int
    seed: int | None
    threshold: float
    min_pass_rate: float
    recorded: bool
    scenario: dict[str, Any]
    """The scenario as it was resolved, includes and options filled in, secrets redacted."""
    source: str = ""
    """Where the scenario came from, relative to the project's root."""
    tools: dict[str, str] = field(default_factory=dict)
    """Each tool's name and a hash of what it is: two different tools make no one batch."""
    settings: dict[str, Any] = field(default_factory=dict)
    salvo_version: str = ""
    confidence: float | None = None
    """With which the runs must show that the pass rate holds, or does not; None: the pass rate itself decides."""
    max_runs: int | None = None
    """Runs are made in rounds until it is settled, at most so many; `runs` are those begun so far. None: `runs`."""
    command: str = ""
    """What the batches of one command share: they go on together. It sorts before their ids."""

    def run_id(self, number: int) -> str:
        """Of the number-th run, from 1. Runs of a batch sort behind it and among themselves."""
        return f"{self.batch_id}-{number:04d}"
