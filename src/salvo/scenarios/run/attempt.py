"""One run, from the agent's first request to its verdict. Nothing is stored here: a run comes back as data."""

from __future__ import annotations

import asyncio
import math
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from functools import partial
from typing import Any, NamedTuple

from pydantic import ValidationError

from salvo import __version__
from salvo.engine.chat.base import Usage
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.engine.runtime import user_code
from salvo.engine.runtime.event_loop import BLOCKED_SECONDS, BlockingInterrupted, responsible_for_blocking
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.network_guard import observed_connections
from salvo.errors import McpError, ProviderError, SalvoError, SimulatorError, TapeError
from salvo.records import record
from salvo.scenarios.evaluators.registry import Registry
from salvo.scenarios.result import (
    COMMAND,
    CUSTOM,
    MCP,
    AdapterRequest,
    AdapterResponse,
    AgentRunResult,
    Cause,
    Outcome,
    RunMetrics,
    ToolCall,
)
from salvo.scenarios.run.adapters.base import RESPOND, BaseAdapter
from salvo.scenarios.run.adapters.tool_loop import ProviderAdapter
from salvo.scenarios.run.conversation.driver import hold_conversation
from salvo.scenarios.run.conversation.users import USER_LANE
from salvo.scenarios.run.environment import PreparedScenario, RunEnvironment, Session, live_environment
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.run.judging import TOLERATED, judge
from salvo.scenarios.run.permanent_faults import PermanentFault, permanent_faults
from salvo.scenarios.run.redaction import redact_verdicts, redacted
from salvo.scenarios.run.stopwatch import Stopwatch


@record
class AttemptResult:
    """What the adapter returned, or why it returned nothing."""

    response: AdapterResponse | None
    cause: Cause | None = None
    error: str | None = None
    fault: ProviderError | None = None
    """What the provider did wrong, if that ended the attempt."""


class FinishedRun(NamedTuple):
    """A run with its verdict. The result says how far the recording can be replayed."""

    result: AgentRunResult
    recording: dict[str, bytes] | None
    """The files of the recording, if there is one."""
    faults: list[PermanentFault]
    """What providers did wrong, if every further run would meet it."""
    questions: bytes | None = None
    """The questions to its judges, if they wait for a batch: a tape as JSON."""


async def run_once(prepared: PreparedScenario, number: int, session: Session) -> FinishedRun:
    """Run the agent once and evaluate what it did."""
    redactor = session.redactor_for(prepared)
    environment, result = await _run_live(prepared, number, session, redactor)
    if prepared.batch.provider == CUSTOM and not environment.journal.model_calls:
        session.spend(result.metrics.cost, f"{prepared.batch.adapter}, whose calls it does not see")
    questions = await judge_or_defer(
        result, environment, session.registry, redactor, defer=prepared.batch.defers_judges
    )
    faults = permanent_faults(prepared, environment.faults)
    if environment.cache is not None:
        result.from_cache = environment.cache.hits > 0
        environment.cache.keep(partial(_is_good_lane, result))
    if environment.recorder is None or session.recording is None:
        result.replayable, result.replay_note = "no", "It was not recorded; run with --record."
        return FinishedRun(result, None, faults, questions=questions)
    files = environment.recorder.recording_files(result, environment, session.recording, redactor)
    return FinishedRun(result, files, faults, questions=questions)


async def judge_or_defer(
    result: AgentRunResult, environment: RunEnvironment, registry: Registry, redactor: Redactor, *, defer: bool
) -> bytes | None:
    """Evaluate and score the result, or return the questions to its judges. Nothing private stays in the verdicts."""
    questions = None
    if defer:
        from salvo.scenarios.run.deferred_judging import defer_judges  # most runs are judged at once

        questions = await defer_judges(result, environment, registry, redactor)
    else:
        await judge(result, environment, registry)
    redact_verdicts(result, redactor)
    return questions


def _is_good_lane(result: AgentRunResult, lane: str) -> bool:
    """Return whether the replies of a lane may be given again. An error would be repeated for ever."""
    if result.cause is Cause.PROVIDER or (result.cause is Cause.SIMULATOR and lane.startswith(USER_LANE)):
        return False
    return not (lane.startswith("judge/") and any(item.cause is Cause.JUDGE for item in result.eval_results))


async def _run_live(
    prepared: PreparedScenario, number: int, session: Session, redactor: Redactor
) -> tuple[RunEnvironment, AgentRunResult]:
    """Run the agent while its MCP servers run. What they take to start does not count as its time."""
    if session.servers is None or not prepared.servers:
        without_servers = live_environment(prepared, number, session, redactor)
        return without_servers, await _run_observed(without_servers, redactor)
    batch = prepared.batch
    try:
        async with AsyncExitStack() as stack:
            servers = await session.servers.open(batch, prepared.scenario.adapter, prepared.servers, stack)
            environment = live_environment(prepared, number, session, redactor, servers.tools, servers.listings)
            result = await _run_observed(environment, redactor)
            try:
                await servers.check_changes(batch)
            except McpError as error:  # what the agent did is kept
                result.outcome, result.cause = Outcome.ERROR, Cause.MCP
                result.error = redactor.text(str(error))
            return environment, result
    except McpError as error:
        environment = live_environment(prepared, number, session, redactor)
        attempted = AttemptResult(None, Cause.MCP, str(error))
        return environment, redacted(build_result(attempted, environment), redactor)


async def _run_observed(environment: RunEnvironment, redactor: Redactor) -> AgentRunResult:
    """Run the agent, and note the connections of a user's code that is recorded, past the wire and the tools."""
    batch = environment.prepared.batch
    is_users_code = batch.provider == CUSTOM and batch.adapter not in (COMMAND, MCP)
    observing: AbstractContextManager[set[str]] = nullcontext(environment.own_connections)
    if environment.recorder is not None and is_users_code:
        observing = observed_connections()
    with observing as environment.own_connections:
        return await run_agent(environment, redactor)


async def run_agent(environment: RunEnvironment, redactor: Redactor) -> AgentRunResult:
    """Run the agent in its environment and return the result before evaluation. Replay calls this, too."""
    prepared = environment.prepared
    try:
        adapter = prepared.make_adapter()
        adapter.context = environment.context()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the constructor of a user's class may raise anything
        attempted = AttemptResult(None, Cause.ADAPTER, user_code.describe_exception(error))
    else:
        attempted = await attempt(adapter, _request(environment), environment)
    fault = attempted.fault
    if attempted.cause is Cause.ADAPTER:  # a user's adapter may have raised its own error in place of the provider's
        fault = environment.journal.tolerated_fault
    if fault is not None:
        environment.faults.append((fault, None))
    try:
        result = build_result(attempted, environment)
        return redacted(_as_stored(result) if prepared.batch.provider == CUSTOM else result, redactor)
    except Exception as error:  # noqa: BLE001 - a user's adapter may return anything, also what no file can hold
        attempted = AttemptResult(None, Cause.ADAPTER, f"What the adapter returned cannot be stored: {error}.")
        return redacted(build_result(attempted, environment), redactor)


async def attempt(adapter: BaseAdapter, request: AdapterRequest, environment: RunEnvironment) -> AttemptResult:
    """Run the adapter. Its own faults fail the run; a provider's fault, or a bug in its code, is an error."""
    stopwatch = environment.stopwatch
    try:
        with responsible_for_blocking(stopwatch):
            async with stopwatch.limited_to(request.timeout_seconds):
                response: object = await _run_scenario(adapter, request, environment)
    except ProviderError as error:
        return _provider_fault(error)
    except (McpError, SimulatorError) as error:
        return AttemptResult(None, Cause.MCP if isinstance(error, McpError) else Cause.SIMULATOR, str(error))
    except TapeError:
        raise  # a replay that diverges is not an outcome of the agent
    except SalvoError as error:
        return AttemptResult(None, Cause.ADAPTER, str(error))
    except BlockingInterrupted:
        return AttemptResult(None, Cause.TIMEOUT, _timeout_message(request, stopwatch))
    except (Exception, SystemExit, asyncio.CancelledError) as error:  # what a user's adapter raises is its result
        if isinstance(error, TimeoutError) and stopwatch.is_expired:
            return _out_of_time(environment, request)
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise  # the run is cancelled from outside
        return AttemptResult(None, Cause.ADAPTER, user_code.describe_exception(error))
    if not isinstance(response, AdapterResponse):
        return AttemptResult(
            None, Cause.ADAPTER, f"The adapter returned {type(response).__name__}, not AdapterResponse."
        )
    return AttemptResult(response)


def abandoned_run(environment: RunEnvironment, redactor: Redactor) -> AgentRunResult:
    """Return the result of a run whose agent blocks the event loop for good: its time is over, and it never ends."""
    error = _timeout_message(_request(environment), environment.stopwatch)
    result = build_result(AttemptResult(None, Cause.TIMEOUT, error), environment)
    result.weighted_score = 0.0
    result.replayable, result.replay_note = "no", "It was not recorded, because its agent never ended."
    return redacted(result, redactor)


async def _run_scenario(adapter: BaseAdapter, request: AdapterRequest, environment: RunEnvironment) -> object:
    """Run the adapter once, or once for each message of a conversation."""
    make_user = environment.prepared.make_user
    try:
        if make_user is None:
            return await _run_adapter(adapter, request)
        answer = BaseAdapter.run if callable(getattr(adapter, RESPOND, None)) else _run_adapter
        return await hold_conversation(partial(answer, adapter), request, make_user(environment), environment)
    finally:
        await adapter.end_conversation()


async def _run_adapter(adapter: BaseAdapter, request: AdapterRequest) -> object:
    """Run the adapter. A sync `run` gets a thread, and one that ignores that it is cancelled is abandoned."""
    if isinstance(adapter, ProviderAdapter):  # our own code, which neither blocks nor goes on
        return await adapter.run(request)
    return await user_code.call(adapter.run, request)


def _timeout_message(request: AdapterRequest, stopwatch: Stopwatch) -> str:
    message = f"It took longer than {request.timeout_seconds:g} s."
    if stopwatch.blocked >= BLOCKED_SECONDS:
        message += (
            f" It blocked the event loop for {stopwatch.blocked:.0f} s at {stopwatch.blocked_at}: in an async "
            "function, await what takes time, or make the function sync, so that it gets a thread."
        )
    return message


def _provider_fault(error: ProviderError) -> AttemptResult:
    return AttemptResult(None, Cause.PROVIDER, str(error), error)


def _out_of_time(environment: RunEnvironment, request: AdapterRequest) -> AttemptResult:
    """Return whose fault it is that the time is over."""
    stopwatch = environment.stopwatch
    if stopwatch.fault is not None:
        return _provider_fault(stopwatch.fault)
    if servers := environment.toolbox.servers_in_use:
        error = (
            f"The time limit of {request.timeout_seconds:g} s was over while the MCP server {', '.join(servers)} had "
            "not answered a call, so this run says nothing about the agent."
        )
        return AttemptResult(None, Cause.MCP, error)
    return AttemptResult(None, Cause.TIMEOUT, _timeout_message(request, stopwatch))


def build_result(attempted: AttemptResult, environment: RunEnvironment) -> AgentRunResult:
    """Return everything that is known of the run before it is evaluated."""
    batch, journal = environment.prepared.batch, environment.journal
    response = _whole_response(attempted.response or AdapterResponse(None), environment)
    text = response.final_output if isinstance(response.final_output, str) else None
    calls = response.tool_calls or environment.toolbox.calls
    environment.reported = {name for name in ("trace", "tool_calls") if getattr(response, name)}
    measured: dict[str, Any] = {"models": journal.models, "dropped": sorted(journal.dropped)}
    measured["prices"] = journal.known_prices()
    measured[TOLERATED] = journal.tolerated_fault and str(journal.tolerated_fault)
    return AgentRunResult(
        run_id=batch.run_id(environment.number),
        batch_id=batch.batch_id,
        scenario_id=batch.scenario_id,
        number=environment.number,
        provider=batch.provider,
        model=batch.model,
        timestamp=environment.timestamp,
        seed=environment.seed,
        outcome=Outcome.ERROR if attempted.cause not in (None, Cause.TIMEOUT) else Outcome.FAILED,
        cause=attempted.cause or (response.stopped and Cause(response.stopped.value)),
        error=attempted.error or response.error,
        final_output=response.final_output if text is None else json_codec.loads_or_text(text),
        final_text=text,
        tool_calls=calls,
        trace=response.trace or journal.events,
        turns=environment.conversation.turns if environment.conversation else [],
        user_cost=_user_cost(environment.simulating),
        metrics=_metrics(response.metrics, calls, environment),
        reported_metrics=response.metrics if response.metrics.model_fields_set else None,
        details={
            **{name: value for name, value in response.details.items() if name != TOLERATED},
            **{name: value for name, value in measured.items() if value},
        },
        salvo_version=__version__,
    )


def _whole_response(last: AdapterResponse, environment: RunEnvironment) -> AdapterResponse:
    """Return the response of a whole conversation: that of its last turn, with what was reported in any turn."""
    log = environment.conversation
    if log is None:
        return last
    calls = log.calls if "tool_calls" in log.reported else []
    trace = log.events if "trace" in log.reported else []
    return last.model_copy(update={"tool_calls": calls, "trace": trace, "metrics": log.total_metrics()})


def _user_cost(simulating: Journal | None) -> float | None:
    return simulating.cost if simulating is not None and simulating.model_calls else 0.0


def _request(environment: RunEnvironment) -> AdapterRequest:
    scenario = environment.prepared.scenario
    return AdapterRequest(
        model=scenario.model,
        system_prompt=scenario.system_prompt,
        user_message=scenario.user_message,
        tools=environment.toolbox.definitions,
        timeout_seconds=scenario.timeout,
        seed=environment.seed,
        temperature=scenario.temperature,
        max_turns=scenario.max_turns,
        output_schema=scenario.output_schema,
        options=environment.prepared.options,
        messages=[{"role": "user", "content": scenario.user_message}],
    )


def _metrics(reported: RunMetrics, calls: list[ToolCall], environment: RunEnvironment) -> RunMetrics:
    """Return what we measured. Tokens and cost of calls that bypass us are what the adapter reports."""
    journal = environment.journal
    measured = journal.model_calls > 0
    conversation = environment.conversation
    if conversation is not None and not conversation.turns:  # its user failed before the agent had anything to do
        reported = RunMetrics(tokens=Usage(), cost=0.0)
    return RunMetrics(
        latency=_latency(environment),
        tokens=journal.usage if measured else reported.tokens,
        cost=journal.cost if measured else reported.cost,
        tool_count=len(calls),
        tool_errors=sum(call.error is not None for call in calls),
        model_calls=journal.model_calls or reported.model_calls,
        retries=journal.retries or reported.retries,
    )


def _latency(environment: RunEnvironment) -> float:
    if environment.latency is not None:
        return environment.latency
    # A reply from the cache counts with the time that it took when it was made.
    return environment.stopwatch.seconds() + (environment.cache.seconds if environment.cache else 0.0)


def _as_stored(result: AgentRunResult) -> AgentRunResult:
    """Return the result of a user's adapter as it will be read from its file. Raise ValueError if it cannot be."""
    try:
        stored = type_adapter(AgentRunResult).validate_python(json_codec.plain(result))
    except ValidationError as error:
        raise ValueError(": ".join(first_error(error))) from error
    except RecursionError:
        raise ValueError("nested too deeply") from None
    cost = stored.metrics.cost
    if cost is not None and not 0 <= cost < math.inf:
        raise ValueError(f"metrics.cost: {cost} is no amount of dollars")
    return stored
