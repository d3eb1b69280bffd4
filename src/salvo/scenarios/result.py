"""The data of a run, from the request that an adapter gets to the result that is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, Strict, model_validator

from salvo.engine.chat.base import ToolDefinition, Usage
from salvo.engine.jsonio import json_codec
from salvo.records import record


def _with_text_keys(value: Any) -> Any:
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else value


def _as_usage(value: Any) -> Any:
    return Usage(input=value) if isinstance(value, int) and not isinstance(value, bool) else value


Details = Annotated[dict[str, Any], BeforeValidator(_with_text_keys)]


TranscriptMessage: TypeAlias = dict[str, str]
"""A message of a conversation in the form that most clients take: its `role`, user or assistant, and its `content`."""


class AdapterRequest(BaseModel):
    """What an adapter is asked to do in one run, or in one turn of a conversation."""

    model_config = ConfigDict(extra="forbid")

    model: str
    system_prompt: str
    user_message: str
    tools: list[ToolDefinition]
    timeout_seconds: float
    seed: int | None = None
    temperature: float | None = None
    max_turns: int = 20
    output_schema: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = Field(default_factory=dict)
    messages: list[TranscriptMessage] = Field(default_factory=list)
    """What was said so far, with the user's message as the last one."""


@dataclass(slots=True)
class ToolCall:
    """A call of a tool. `error` is what the agent got instead of a result."""

    name: str
    arguments: Any
    result: Any = None
    error: str | None = None
    seconds: float = 0.0


@dataclass(slots=True)
class TraceEvent:
    """An event of a run: a reply, a tool call or another step, never private reasoning."""

    type: str
    data: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


class RunMetrics(BaseModel):
    """The metrics of a run: latency in seconds without waits between retries, cost in dollars, None if unknown.

    `tokens` can be a plain number, which counts as input tokens.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    latency: float = 0.0
    tokens: Annotated[Usage | None, BeforeValidator(_as_usage)] = None
    cost: float | None = None
    tool_count: int = 0
    tool_errors: int = 0
    model_calls: int = 0
    retries: int = 0

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            latency: float = 0.0,
            tokens: Usage | int | None = None,
            cost: float | None = None,
            tool_count: int = 0,
            tool_errors: int = 0,
            model_calls: int = 0,
            retries: int = 0,
        ) -> None: ...


class Stopped(StrEnum):
    """Why an agent stopped before it had finished. All of these count against the agent."""

    TURN_LIMIT = "turn_limit"
    REFUSAL = "refusal"
    LENGTH = "length"
    CONTEXT = "context"
    EXIT = "exit"
    """A program ended with an error."""


class AdapterResponse(BaseModel):
    """What an agent did. An adapter that calls tools through its RunContext need not list them again."""

    model_config = ConfigDict(extra="forbid")

    final_output: Any
    tool_calls: list[ToolCall] = Field(default_factory=list)
    trace: list[TraceEvent] = Field(default_factory=list)
    metrics: RunMetrics = Field(default_factory=RunMetrics)
    """What the adapter measured. It is stored as `reported_metrics`. Assertions use what Salvo measured; only tokens,
    cost and calls are taken from here where no model was called through the RunContext."""
    stopped: Stopped | None = None
    error: str | None = None
    """An explanation of `stopped`."""
    details: Details = Field(default_factory=dict)
    """Anything else worth storing."""

    def __init__(self, final_output: Any, **fields: Any) -> None:
        super().__init__(final_output=final_output, **fields)


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """Could not be judged; never counted against the agent."""
    NOT_RUN = "not_run"
    INTERRUPTED = "interrupted"
    PENDING = "pending"
    """Its judges' votes wait for a provider's batch (`--judges batch`). Neither passed nor failed."""


class Cause(StrEnum):
    """Why a run did not pass: faults of the agent, then faults of others, then reasons why it was skipped."""

    ASSERTION = "assertion"
    TURN_LIMIT = "turn_limit"
    TIMEOUT = "timeout"
    REFUSAL = "refusal"
    LENGTH = "length"
    CONTEXT = "context"
    EXIT = "exit"
    PROVIDER = "provider"
    ADAPTER = "adapter"
    MCP = "mcp"
    """An MCP server ended, did not answer in time, changed its tools, or broke the protocol."""
    SIMULATOR = "simulator"
    """The user of a conversation: a simulated one broke its rules or could not be reached, or a class failed."""
    JUDGE = "judge"
    JUDGE_PENDING = "judge_pending"
    """The judges' votes wait for a provider's batch."""
    EVALUATOR = "evaluator"
    PRICE_UNKNOWN = "price_unknown"
    STORE = "store"
    BUDGET = "budget"
    STOP_FIRST = "stop_first"
    INTERRUPTED = "interrupted"


class EvalResult(BaseModel):
    """The result of one assertion. `passed` is None if it could not be judged; `error` says why."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    passed: Annotated[bool | None, Strict()]
    score: Annotated[float | None, Strict()] = None
    """From 0 to 1; None means 1 if it passed and 0 if not."""
    message: str = ""
    expected: Any = None
    actual: Any = None
    error: str | None = None
    cause: Cause | None = None
    details: Details = Field(default_factory=dict)
    attachments: Details = Field(default_factory=dict)
    """What an evaluator wants to store with the run."""
    name: str = ""
    type: str = ""
    required: bool = False
    weight: float = 1.0
    turn: int | None = None
    """The turn of a conversation that it is about: of `at: every turn`, the first that did not pass. None: the end."""

    @classmethod
    def judged(cls, passed: bool, message: str = "", *, expected: Any = None, actual: Any = None) -> EvalResult:
        return cls(passed=passed, score=1.0 if passed else 0.0, message=message, expected=expected, actual=actual)

    @classmethod
    def unjudged(cls, error: str, cause: Cause) -> EvalResult:
        return cls(passed=None, message=error, error=error, cause=cause)


UNFINISHED = frozenset(
    {Cause.TURN_LIMIT, Cause.TIMEOUT, Cause.CONTEXT, Cause.EXIT, Cause.PROVIDER, Cause.ADAPTER, Cause.MCP}
    | {Cause.SIMULATOR}
)
"""The causes of runs that did not finish, so that there is nothing to evaluate."""


@record
class SkippedRun:
    """A run that was not started, or was interrupted. It is not stored, so that it can be resumed."""

    outcome: Outcome
    cause: Cause
    reason: str


CUSTOM = "custom"
"""The provider of a batch whose adapter is the user's own."""

COMMAND = "command"
"""The adapter that runs a program."""

MCP = "mcp"
"""The adapter that tests MCP servers without an agent."""

PROVIDER_ADAPTERS = ("openai", "anthropic")
"""The adapters that ask a provider's model themselves."""

OWN_ADAPTERS = (*PROVIDER_ADAPTERS, MCP)
"""The adapters that run Salvo's own code only; every other one runs code of the user's."""


DEFAULT_JUDGES: Mapping[str, str] = {
    "anthropic": "anthropic/claude-haiku-4-5",
    "openai": "openai/gpt-5.4-mini",
}
"""By adapter: the judge of an assertion that names none."""

CASE = "case"
"""The parameter of a cell that is the id of its case."""


def full_model(provider: str, model: str) -> str:
    """Return the model's name with its provider, where both are known."""
    return "/".join(filter(None, [provider, model]))


@record
class RunIdentity:
    """Which run it is, of which scenario and model. These are the first fields of an AgentRunResult, too."""

    run_id: str
    batch_id: str
    scenario_id: str
    number: int
    """From 1."""
    provider: str
    model: str
    timestamp: str


Replayable = Literal["full", "model-only", "frozen-tools", "no"]

SAME_AS_FINAL_TEXT: dict[str, str] = {"same_as": "final_text"}
"""In a stored trace, in place of a large text that is the final one."""


class ConversationTurn(BaseModel):
    """A message of the user, and what the agent did until it had answered.

    A run stores its tool calls and its trace once. A turn says which of them are its own.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    number: int
    """From 1."""
    user: str
    agent: str | None = None
    """The agent's answer as text; None if it gave none."""
    agent_is_final_text: bool = Field(False, exclude_if=lambda value: not value)
    """In a stored file: the answer is large, and stored as `final_text` of the run."""
    first_call: int = 0
    """The index of the turn's first call among the run's tool calls."""
    call_count: int = 0
    first_event: int = 0
    """The index of the turn's first event in the run's trace."""
    event_count: int = 0
    stopped: Stopped | None = None
    metrics: RunMetrics = Field(default_factory=RunMetrics)
    """What the agent needed for this turn."""
    user_tries: int = 1
    """How many messages the simulated user needed until one kept the rules."""

    _tool_calls: list[ToolCall] = PrivateAttr(default_factory=list)
    _trace: list[TraceEvent] = PrivateAttr(default_factory=list)

    def attach(self, calls: list[ToolCall], events: list[TraceEvent]) -> None:
        """Find the turn's own among those of the run."""
        self._tool_calls = calls[self.first_call : self.first_call + self.call_count]
        self._trace = events[self.first_event : self.first_event + self.event_count]

    @property
    def tool_calls(self) -> list[ToolCall]:
        return self._tool_calls

    @property
    def trace(self) -> list[TraceEvent]:
        return self._trace

    @property
    def output(self) -> Any:
        """The agent's answer, read as JSON if it is."""
        return None if self.agent is None else json_codec.loads_or_text(self.agent)


class AgentRunResult(BaseModel):
    """One run, as it is stored and as JMESPath sees it."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

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
    answer_in_recording: bool = Field(False, exclude_if=lambda value: not value)
    """In a stored file: the answer is large, and only the recording has it."""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    trace: list[TraceEvent] = Field(default_factory=list)
    metrics: RunMetrics = Field(default_factory=RunMetrics)
    """What Salvo measured. The assertions use these."""
    reported_metrics: RunMetrics | None = None
    """What a custom adapter reported; None if it reported nothing."""
    turns: list[ConversationTurn] = Field(default_factory=list)
    """The conversation, if the scenario is one."""
    judge_cost: float | None = 0.0
    user_cost: float | None = 0.0
    """What the simulated user cost, which is not part of the agent's cost."""
    eval_results: list[EvalResult] = Field(default_factory=list)
    recorded: bool = False
    replayable: Replayable = "no"
    replay_note: str = ""
    details: Details = Field(default_factory=dict)
    salvo_version: str = ""
    from_cache: bool = False
    """Whether a model's replies came from a cache: such a run repeats another one, and is no new evidence."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        self.derive_answer()
        for turn in self.turns:
            turn.attach(self.tool_calls, self.trace)
        return self

    def derive_answer(self) -> None:
        """Derive the final text from the final output, or the other way round: a large one is stored only once."""
        if self.final_text is None and self.final_output is not None:
            with suppress(TypeError, ValueError, RecursionError):  # an adapter may return what is no JSON
                self.final_text = json_codec.as_text(self.final_output)
        elif self.final_output is None and self.final_text is not None:
            self.final_output = json_codec.loads_or_text(self.final_text)
            for event in self.trace:
                if event.data.get("text") == SAME_AS_FINAL_TEXT:
                    event.data["text"] = self.final_text
            for turn in self.turns:
                if turn.agent_is_final_text:
                    turn.agent, turn.agent_is_final_text = self.final_text, False

    @property
    def output_text(self) -> str:
        """The final output as text, for a judge."""
        return json_codec.as_text(self.final_output) if self.final_text is None else self.final_text


@record
class CodeVersion:
    """Which code was run. What is not known is None."""

    commit: str | None = None
    """The git commit that was checked out in the project."""
    dirty: bool | None = None
    """Whether tracked files differed from that commit."""
    agent: str | None = None
    """A hash of the agent's own code; None for an agent without code, and if the code was not found."""

    @property
    def commit_text(self) -> str | None:
        """The commit for people, with whether there were changes."""
        if self.commit is None:
            return None
        changes = {True: " with uncommitted changes", False: "", None: ", perhaps with uncommitted changes"}
        return f"{self.commit[:12]}{changes[self.dirty]}"


@dataclass(slots=True)
class ListedServer:
    """What an MCP server said of itself in the first run of a batch, with the fingerprint of each tool."""

    name: str
    version: str
    protocol: str
    tools: dict[str, str] = field(default_factory=dict)

    def changes_to(self, now: ListedServer) -> Iterator[str]:
        """Yield how the tools of a later list differ, one phrase each."""
        for name in sorted({*self.tools, *now.tools}):
            if name not in now.tools:
                yield f"{name} is gone"
            elif name not in self.tools:
                yield f"{name} is new"
            elif self.tools[name] != now.tools[name]:
                yield f"{name} has changed"


@record
class LostAttempts:
    """Runs that were in flight when what made them ended. What they had spent is in no result."""

    id: str
    """That of the command that ended, or of the end of its worker: no end is counted twice."""
    ended: Literal["worker", "command"]
    numbers: list[int]


@dataclass(slots=True)
class Batch:
    """The runs of one scenario in one command. It is stored before the first call, so that a crash can be resumed."""

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
    """The scenario with its imports and options resolved and secrets redacted."""
    source: str = ""
    """The scenario's file, relative to the project's root."""
    tools: dict[str, str] = field(default_factory=dict)
    """The fingerprint of each tool by its name. All runs of a batch use the same tools."""
    mcp_servers: dict[str, ListedServer] = field(default_factory=dict)
    """What each MCP server lists, by the server's name in the scenario. All runs of a batch use the same list."""
    settings: dict[str, Any] = field(default_factory=dict)
    salvo_version: str = ""
    confidence: float | None = None
    """The confidence with which the runs must show whether the pass rate holds; None: the observed rate decides."""
    max_runs: int | None = None
    """With --until-sure: the most runs. `runs` is then the number of runs of all rounds so far."""
    rounds: list[int] = field(default_factory=list)
    """With --until-sure: the number of runs after each round, at which the verdict was looked at."""
    one_sided: bool = False
    """Whether the confidence is that of each bound, and not of the interval: then fewer runs settle a verdict."""
    command: str = ""
    """The id that all batches of one command share. It sorts before their ids."""
    code: CodeVersion = field(default_factory=CodeVersion)
    suite: str = ""
    """The scenario's name in its file, if the file has cases or a matrix; the scenario is one cell of it."""
    parameters: dict[str, str] = field(default_factory=dict)
    """The ids of the cell's case and of its values of the matrix, by name."""
    lost_attempts: list[LostAttempts] = field(default_factory=list)
    """Runs that were in flight when a worker or a command ended. They were made again, or are missing."""

    @property
    def defers_judges(self) -> bool:
        """Whether the judges of its runs are asked through a provider's batch API (`--judges batch`)."""
        return self.settings.get("batch_judges") is True

    def run_id(self, number: int) -> str:
        """Return the id of a run by its number, from 1."""
        return f"{self.batch_id}-{number:04d}"

    def add_lost(self, lost: LostAttempts) -> None:
        """Add runs that were in flight when something ended, unless they are there already."""
        others = [item for item in self.lost_attempts if item.id != lost.id]
        numbers = {number for item in self.lost_attempts if item.id == lost.id for number in item.numbers}
        merged = replace(lost, numbers=sorted({*numbers, *lost.numbers}))
        self.lost_attempts = sorted([*others, merged], key=lambda item: item.id)
