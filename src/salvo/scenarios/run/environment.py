"""The environment of a run: its wire, tools and clock. Live, or built from a recording; the same code uses both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from salvo.engine.chat import catalog
from salvo.engine.chat.model import WiredModel
from salvo.engine.jsonio.canonical import stable_key
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pricing import PriceBook
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import RecordingOptions, Wire
from salvo.engine.wire.call_order import CallCounter
from salvo.engine.wire.retry import RetryingWire, Wait
from salvo.engine.wire.streaming import StreamingWire
from salvo.errors import InputError, ProviderError, TapeMissError
from salvo.records import record
from salvo.scenarios.evaluators.base import LoadObject
from salvo.scenarios.evaluators.registry import Registry, builtin_registry
from salvo.scenarios.result import OWN_ADAPTERS, Batch
from salvo.scenarios.run.adapters.base import BaseAdapter, RunContext
from salvo.scenarios.run.call_limits import DEFAULT_LIMITS, CallLimits
from salvo.scenarios.run.journal import Journal, Spend
from salvo.scenarios.run.stopwatch import AgentWire, PendingCalls, Stopwatch
from salvo.scenarios.run.tools.discovery import FoundTool
from salvo.scenarios.run.tools.toolbox import Tool, ToolBox
from salvo.scenarios.spec.judge_server import JudgeServer, without_servers
from salvo.scenarios.spec.schema import Assertion, Scenario

if TYPE_CHECKING:
    from salvo.engine.chat.judge import JudgeVote, Question
    from salvo.engine.mcp.listing import ServerListing
    from salvo.engine.rates.pacing import Pacer
    from salvo.engine.wire.cache import CachingWire
    from salvo.scenarios.run.conversation.log import ConversationLog
    from salvo.scenarios.run.conversation.users import User
    from salvo.scenarios.run.run_recorder import RunRecorder
    from salvo.scenarios.run.tools.mcp_tools import McpServers, PreparedServer
    from salvo.scenarios.store.reply_cache import CacheSource

JudgeEndpoints: TypeAlias = Mapping[tuple[str, JudgeServer], str]
"""The name of the endpoint by the judge's provider and server."""


class CallTarget(NamedTuple):
    """A model that a scenario calls, and the name of the endpoint where it is."""

    endpoint: str
    model: str


@record
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
    call_limits: CallLimits = DEFAULT_LIMITS
    judge_endpoints: JudgeEndpoints | None = None
    """The endpoints of judges with a server of their own; None in a replay, which calls none."""
    servers: Sequence[PreparedServer] = ()

    user_endpoint: str | None = None
    """The name of the endpoint of a simulated user with a server of its own."""
    make_user: Callable[[RunEnvironment], User] | None = None
    """Returns the user of a conversation; None if the scenario is none."""
    private: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values of the case that must not be stored, by the name of their column."""
    judged_scenario: Scenario | None = None
    """The scenario with placeholders for the private values, as they are in a result before it is judged."""

    def assertions_scenario(self) -> Scenario:
        """Return the scenario whose assertions are evaluated."""
        return self.judged_scenario or self.scenario


@dataclass(slots=True)
class Session:
    """What all runs of a process share. It is built in each process and never pickled."""

    wire: Wire
    redactor: Redactor
    clock: Clock
    recording: RecordingOptions | None
    on_wait: Callable[[Wait], None]
    spend: Spend
    price_book: PriceBook = field(default_factory=PriceBook)
    cache: CacheSource | None = None
    servers: McpServers | None = None
    """None where no scenario has MCP servers."""
    pacer: Pacer | None = None
    """None where the number of runs at once is fixed."""
    registry: Registry = field(default_factory=builtin_registry)
    open_calls: PendingCalls = field(default_factory=PendingCalls)
    live: WeakValueDictionary[Stopwatch, RunEnvironment] = field(default_factory=WeakValueDictionary)
    """The environments of the runs that are under way, by what measures their time."""

    def redactor_for(self, prepared: PreparedScenario) -> Redactor:
        """Return the redactor of a scenario's runs. The private values of other cells would only make it slower."""
        return self.redactor.with_private(prepared.private) if prepared.private else self.redactor


@dataclass(slots=True, weakref_slot=True)
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
    recorder: RunRecorder | None = None
    agent_wire: Wire | None = None
    """The wire of the agent, if it is another one than that of the judges."""
    judge_wire: Wire | None = None
    """The wire of the judges, if their questions wait for a batch."""
    faults: list[tuple[ProviderError, CallTarget | None]] = field(default_factory=list)
    """What providers did wrong, each with the judge that was called, or None for the agent's model."""
    cache: CachingWire | None = None
    latency: float | None = None
    """The recorded latency in a replay, so that a slow machine changes nothing."""
    listings: Mapping[str, ServerListing] = field(default_factory=dict)
    """What each MCP server lists."""
    reported: set[str] = field(default_factory=set)
    """Which of `trace` and `tool_calls` the adapter returned itself. Salvo observed the others."""
    own_connections: set[str] = field(default_factory=set)
    """The addresses to which the adapter connected past the wire and the tools."""
    simulating: Journal | None = None
    """The calls of a simulated user, which are counted separately."""
    conversation: ConversationLog | None = None
    """The turns so far, if the scenario is a conversation."""

    @property
    def seed(self) -> int | None:
        first = self.prepared.scenario.seed
        return None if first is None else first + self.number - 1

    def context(self) -> RunContext:
        wire = self.agent_wire or self.wire
        endpoint = self.prepared.endpoint
        return RunContext(wire, self.toolbox, self.clock, self.seed, self.journal, endpoint, self.listings)

    def services(self, index: int) -> JudgingServices:
        """Return what an assertion may use, by its position among all assertions, also those inside others."""
        prepared = self.prepared
        return JudgingServices(
            self.judge_wire or self.wire,
            self.judging,
            prepared.load,
            prepared.assertions_scenario(),
            index,
            faults=self.faults,
            endpoints=prepared.judge_endpoints,
        )


@record
class JudgingServices:
    """What an evaluator may use, bound to one assertion of one run: its judges have a lane of their own."""

    wire: Wire
    journal: Journal
    load: LoadObject
    scenario: Scenario
    index: int
    lane_prefix: str = ""
    faults: list[tuple[ProviderError, CallTarget | None]] = field(default_factory=list)
    endpoints: JudgeEndpoints | None = None

    async def ask(
        self, model: str, question: Question, votes: int, server: JudgeServer | None = None
    ) -> list[JudgeVote]:
        endpoint = self._endpoint(model, server)
        chat = WiredModel(model, self.wire, endpoint=endpoint)
        lane = self.lane_prefix + judging_lane(self.scenario, self.index)
        if question.part:
            lane += f"/{question.part}"
        try:
            judge_votes = await question.poll(chat, votes, lane)
        except TapeMissError as miss:
            raise TapeMissError(
                "The recording holds no votes on this question: the rubric, or what the judge is shown, has changed."
            ) from miss
        target = CallTarget(endpoint or chat.provider, chat.model)
        self.faults.extend((vote.error, target) for vote in judge_votes if vote.error is not None)
        for vote in judge_votes:
            for reply in vote.replies:
                self.journal.record_reply(chat.provider, reply, chat.model)
        return judge_votes

    def _endpoint(self, model: str, server: JudgeServer | None) -> str | None:
        if server is None or self.endpoints is None:
            return None
        provider = catalog.find(model)[0]
        if (provider.name, server) not in self.endpoints:
            # Never the provider's own address instead: the transcript would go where the file does not send it.
            raise InputError("The server of this judge was not found in the scenario, so it is not asked.")
        return self.endpoints[provider.name, server]


def judging_lane(scenario: Scenario, index: int) -> str:
    """Return the lane by what is asked, not by its position, so that a re-evaluation finds votes after other assertions
    were added or removed."""
    keys = [_question_key(assertion) for _, assertion in scenario.all_assertions()[: index + 1]]
    earlier = keys[:-1].count(keys[-1])
    return f"judge/{keys[-1]}" + (f"-{earlier + 1}" if earlier else "")


def _question_key(assertion: Assertion) -> str:
    # Without the servers of judges: a stored key is redacted, so the lane would differ in a re-evaluation.
    fields = without_servers({**assertion.fields, "type": assertion.type})
    del fields["type"]
    return stable_key([assertion.type, fields])[:12]


def live_environment(
    prepared: PreparedScenario,
    number: int,
    session: Session,
    redactor: Redactor,
    server_tools: Sequence[Tool] = (),
    listings: Mapping[str, ServerListing] | None = None,
) -> RunEnvironment:
    """Return an environment over the shared connections: `Agent(Recording(Caching(Streaming(Retrying(Http)))))`.

    Each run has its own of all but the last, without those it does not need. Judges use the same without `Agent`.
    """
    clock = session.clock
    timestamp = clock.now().isoformat()
    stopwatch = Stopwatch(clock)

    def waiting(wait: Wait) -> None:
        stopwatch.exclude(wait)
        session.on_wait(wait)

    limits = prepared.call_limits
    retrying = RetryingWire(
        session.wire if session.pacer is None else session.pacer.wire(session.wire, stopwatch.paused),
        policy=limits.retry_policy(),
        clock=clock,
        listener=waiting,
        may_retry=lambda: not stopwatch.is_overdue,
    )
    live: Wire = retrying
    if prepared.scenario.adapter not in OWN_ADAPTERS:
        live = StreamingWire(retrying)
    cache = None if session.cache is None else session.cache.wire(live, redactor, prepared.scenario.scenario, number)
    inner = cache or live
    counter = CallCounter()
    recorder = None
    if session.recording is not None:
        from salvo.scenarios.run.run_recorder import RunRecorder  # most runs are not recorded

        ignored = prepared.scenario.record.ignore
        recorder = RunRecorder(inner, redactor, session.recording, counter=counter, ignored=ignored)
    wire = recorder or inner
    environment = RunEnvironment(
        prepared=prepared,
        number=number,
        timestamp=timestamp,
        wire=wire,
        agent_wire=AgentWire(wire, stopwatch, limits.timeouts(prepared.scenario.timeout), session.open_calls, clock),
        toolbox=ToolBox(
            [*(tool.make(clock) for tool in prepared.tools), *server_tools], clock, redactor, counter=counter
        ),
        journal=Journal(clock, spend=session.spend, price_book=session.price_book),
        judging=Journal(clock, spend=session.spend, price_book=session.price_book),
        stopwatch=stopwatch,
        clock=clock,
        recorder=recorder,
        cache=cache,
        listings=listings or {},
    )
    session.live[stopwatch] = environment
    return environment
