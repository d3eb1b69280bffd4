"""The agent acts, within its time; what it did becomes a result, whether it got to its end or not."""

from __future__ import annotations

import asyncio
import math
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from salvo import __version__
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, reader
from salvo.errors import ProviderError, SalvoError, TapeError
from salvo.scenarios.result import (
    AdapterRequest,
    AdapterResponse,
    AgentRunResult,
    Batch,
    Cause,
    Outcome,
    RunMetrics,
    Stopped,
    ToolCall,
)
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.environment import PreparedScenario, RunEnvironment


class AttemptResult(NamedTuple):
    """What came of it: a response, or why there is none."""

    response: AdapterResponse | None
    cause: Cause | None = None
    error: str | None = None


def request_for(prepared: PreparedScenario, stage: RunEnvironment, seed: int | None) -> AdapterRequest:
    scenario = prepared.scenario
    return AdapterRequest(
        model=scenario.model,
        system_prompt=scenario.system_prompt,
        user_message=scenario.user_message,
        tools=stage.toolbox.definitions,
        timeout_seconds=scenario.timeout,
        seed=seed,
        temperature=scenario.temperature,
        max_turns=scenario.max_turns,
        output_schema=scenario.output_schema,
        options=prepared.options,
    )


async def attempt(adapter: BaseAdapter, request: AdapterRequest, stage: RunEnvironment) -> AttemptResult:
    """Runs the adapter. Its own faults fail it; a provider's, or a bug in its code, are errors."""
    deadline = asyncio.timeout(request.timeout_seconds)
    try:
        async with deadline:
            stage.stopwatch.under(deadline)
            response: object = await adapter.run(request)
    except TimeoutError as fault:
        if deadline.expired():
            return AttemptResult(None, Cause.TIMEOUT, f"It took longer than {request.timeout_seconds:g} s.")
        return AttemptResult(None, Cause.ADAPTER, describe_exception(fault))
    except ProviderError as fault:
        return AttemptResult(None, Cause.PROVIDER, str(fault))
    except TapeError:
        raise  # a replay that diverges is no outcome of the agent's
    except SalvoError as fault:
        return AttemptResult(None, Cause.ADAPTER, str(fault))
    except asyncio.CancelledError as fault:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # we are ended from outside
        return AttemptResult(None, Cause.ADAPTER, describe_exception(fault))
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - whatever a user's adapter raises belongs into its result
        return AttemptResult(None, Cause.ADAPTER, describe_exception(fault))
    finally:
        stage.stopwatch.under(None)
    if not isinstance(response, AdapterResponse):
        return AttemptResult(
            None, Cause.ADAPTER, f"The adapter returned {type(response).__name__}, not AdapterResponse."
        )
    return AttemptResult(response)


def describe_exception(fault: BaseException) -> str:
    """An exception in a user's code: what it says, and the line it comes from."""
    frames = traceback.extract_tb(fault.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(fault).__name__}: {fault}{where}"


def result_of(
    batch: Batch, number: int, seed: int | None, timestamp: str, acted: AttemptResult, stage: RunEnvironment
) -> AgentRunResult:
    """Everything that is known of the run, before it is evaluated."""
    response = acted.response or AdapterResponse(None)
    text = response.final_output if isinstance(response.final_output, str) else None
    calls = response.tool_calls or stage.toolbox.calls
    return AgentRunResult(
        run_id=batch.run_id(number),
        batch_id=batch.batch_id,
        scenario_id=batch.scenario_id,
        number=number,
        provider=batch.provider,
        model=batch.model,
        timestamp=timestamp,
        seed=seed,
        outcome=Outcome.ERROR if acted.cause not in (None, Cause.TIMEOUT) else Outcome.FAILED,
        cause=acted.cause or _cause(response.stopped),
        error=acted.error or response.error,
        final_output=response.final_output if text is None else json_codec.value_of(text),
        final_text=text,
        tool_calls=calls,
        trace=response.trace or stage.journal.events,
        metrics=_metrics(response.metrics, calls, stage),
        details=_details(response, stage),
        salvo_version=__version__,
    )


def _cause(stopped: Stopped | None) -> Cause | None:
    return None if stopped is None else Cause(stopped.value)


def _metrics(given: RunMetrics, calls: list[ToolCall], stage: RunEnvironment) -> RunMetrics:
    """What we counted; where an adapter calls its model by other means, what it says it counted."""
    journal = stage.journal
    counted = journal.model_calls > 0
    return RunMetrics(
        latency=stage.stopwatch.seconds() if stage.latency is None else stage.latency,
        tokens=journal.usage if counted else given.tokens,
        cost=journal.cost if counted else given.cost,
        tool_count=len(calls),
        tool_errors=sum(call.error is not None for call in calls),
        model_calls=journal.model_calls or given.model_calls,
        retries=journal.retries or given.retries,
    )


def _details(response: AdapterResponse, stage: RunEnvironment) -> dict[str, Any]:
    journal = stage.journal
    known: dict[str, Any] = {"models": journal.models, "dropped": sorted(journal.dropped)}
    return {**response.details, **{name: value for name, value in known.items() if value}}


def as_stored(result: AgentRunResult) -> AgentRunResult:
    """What a user's own adapter made, as it will be read again; ValueError where it could not be."""
    from pydantic import ValidationError

    try:
        stored = reader(AgentRunResult).validate_python(json_codec.plain(result))
    except ValidationError as fault:
        raise ValueError(": ".join(first_error(fault))) from fault
    except RecursionError:
        raise ValueError("nested too deeply") from None
    cost = stored.metrics.cost
    if cost is not None and not 0 <= cost < math.inf:
        raise ValueError(f"metrics.cost: {cost} is no amount of dollars")
    return stored
