"""A store of scenario runs as weeks of work leave it: days, models, scenarios, runs that pass, fail and break."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from salvo.engine.chat.base import Usage
from salvo.engine.jsonio import json_codec
from salvo.scenarios.result import AgentRunResult, Batch, Cause, EvalResult, Outcome, RunMetrics, ToolCall, TraceEvent
from salvo.scenarios.store.index import index_entry
from salvo.scenarios.store.store import RunStore
from tests.support import runs as support_runs

FIRST_DAY = datetime(2026, 11, 1, 9, tzinfo=UTC)
MODELS = (("openai", "gpt-5.4-mini", 0.95), ("anthropic", "claude-haiku-4-5", 0.7))
SCENARIOS: dict[str, dict[str, Any]] = {
    "refund_order": {
        "scenario": "refund_order",
        "adapter": "openai",
        "system_prompt": "You are the support desk of a shop. Check the policy before you refund.",
        "user_message": "Please refund order A-1001: it arrived broken.",
        "tools": ["find_order", "check_policy", "refund"],
        "timeout": 30.0,
        "assertions": [
            {"type": "tool_sequence", "expected": ["find_order", "check_policy", "refund"], "required": True},
            {"type": "jmespath", "name": "right amount", "path": "tool_calls[?name=='refund'].arguments.amount | [0]"}
            | {"operator": "eq", "value": 49.5},
            {"type": "jmespath", "path": "final_output.status", "operator": "eq", "value": "refunded"},
            {"type": "llm_judge", "name": "polite", "criteria": "The answer is polite."},
            {"type": "cost_limit", "max_usd": 0.02},
        ],
    },
    "book_flight": {
        "scenario": "book_flight",
        "adapter": "openai",
        "system_prompt": "You are a travel assistant.",
        "user_message": "Book the cheapest flight from SFO to JFK on March 15.",
        "tools": ["search_flights", "book_flight"],
        "timeout": 30.0,
        "assertions": [
            {"type": "tool_sequence", "expected": ["search_flights", "book_flight"], "required": True},
            {"type": "jmespath", "path": "final_output.confirmation_id", "operator": "exists"},
            {"type": "latency_limit", "max_seconds": 12},
        ],
    },
}


def fill(folder: Path, *, days: int = 10, runs: int = 50, hollow: bool = False) -> RunStore:
    """`days` × two scenarios × two models × `runs`, the same at every call; the folder is the project's.

    With `hollow` the runs' files are there and empty: a long history in less time.
    """
    store = RunStore(folder / ".salvo")
    store.prepare()
    for batch, results in batches(days, runs):
        store.save_batch(batch)
        if hollow:
            with (store.folder / "history.jsonl").open("ab") as history:
                history.writelines(json_codec.dumps(index_entry(result)) + b"\n" for result in results)
            for result in results:
                (store.folder / "runs" / f"{result.run_id}.json").touch()
        else:
            for result in results:
                store.save_run(result)
    return store


def batches(days: int, runs: int) -> Iterator[tuple[Batch, list[AgentRunResult]]]:
    chance = Random(7)
    for day in range(days):
        for place, (scenario, model) in enumerate((scenario, model) for scenario in SCENARIOS for model in MODELS):
            yield a_batch(day * 4 + place, scenario, model, runs, chance)


def a_batch(
    number: int, scenario_id: str, model: tuple[str, str, float], runs: int, chance: Random
) -> tuple[Batch, list[AgentRunResult]]:
    provider, name, rate = model
    began = FIRST_DAY + timedelta(hours=6 * number)
    batch = Batch(
        batch_id=f"1m7{number:06d}stored",
        scenario_id=scenario_id,
        created_at=began.isoformat(),
        adapter=provider,
        provider=provider,
        model=name,
        runs=runs,
        seed=None,
        threshold=0.8,
        min_pass_rate=0.8,
        recorded=False,
        scenario={**SCENARIOS[scenario_id], "adapter": provider, "model": name},
        source=f"scenarios/{scenario_id}.yaml",
        tools=dict.fromkeys(SCENARIOS[scenario_id]["tools"], "0" * 64),
        salvo_version="0.1.0",
        command=f"1m7{number:06d}a",
    )
    make = _refund if scenario_id == "refund_order" else _flight
    return batch, [make(batch, run, began + timedelta(seconds=run), chance, rate) for run in range(1, runs + 1)]


def _refund(batch: Batch, number: int, began: datetime, chance: Random, rate: float) -> AgentRunResult:
    find = ToolCall("find_order", {"order": "A-1001"}, {"order": "A-1001", "total": 49.5, "state": "delivered"})
    check = ToolCall("check_policy", {"reason": "arrived broken"}, {"refund": "full"})
    paid, drawn = 49.5, chance.random()
    calls = [find, check]
    if drawn > rate:
        # Either it does not look at the policy, or it refunds another amount: the two ways it goes wrong.
        calls, paid = ([find], 49.5) if chance.random() < 0.6 else ([find, check], 4.95)
    calls.append(ToolCall("refund", {"order": "A-1001", "amount": paid}, {"ok": True}))
    answer = {"status": "refunded", "message": f"Your {paid} € are on their way. Sorry for the trouble!"}
    in_order, right = len(calls) == 3, paid == 49.5
    results = [
        _judged("tool_sequence", in_order, "tool_sequence", required=True)
        if in_order
        else _judged(
            "tool_sequence", False, "tool_sequence", "expected check_policy as call 2, got refund", required=True
        ),
        _judged(
            "right amount", right, "jmespath", "" if right else "expected 49.5, got 4.95", expected=49.5, actual=paid
        ),
        _judged("status", True, "jmespath"),
        _judged("polite", True, "llm_judge", "3 of 3 votes"),
        _judged("cost_limit", True, "cost_limit"),
    ]
    return _run(batch, number, began, calls, answer, results, chance)


def _flight(batch: Batch, number: int, began: datetime, chance: Random, rate: float) -> AgentRunResult:
    search = ToolCall(
        "search_flights", {"from": "SFO", "to": "JFK"}, [{"id": "F1", "price": 289}, {"id": "F2", "price": 212}]
    )
    if number % 41 == 0:
        return _broken(batch, number, began, [search])
    booked = chance.random() < rate
    book = ToolCall("book_flight", {"id": "F2"}, {"confirmation_id": "QWERTZ"})
    lost = ToolCall("book_flight", {"id": "F9"}, error="There is no flight F9.")
    answer = {"confirmation_id": "QWERTZ"} if booked else {"sorry": "The flight could not be booked."}
    missing = "expected final_output.confirmation_id to exist, but the path is missing"
    results = [
        _judged("tool_sequence", True, "tool_sequence", required=True),
        _judged("confirmation_id", booked, "jmespath", "" if booked else missing),
        _judged("latency_limit", True, "latency_limit"),
    ]
    return _run(batch, number, began, [search, book if booked else lost], answer, results, chance)


def _judged(name: str, passed: bool, kind: str, message: str = "", **more: Any) -> EvalResult:
    return EvalResult(passed=passed, score=float(passed), message=message, name=name, type=kind, **more)


def _run(
    batch: Batch,
    number: int,
    began: datetime,
    calls: list[ToolCall],
    answer: dict[str, Any],
    results: list[EvalResult],
    chance: Random,
) -> AgentRunResult:
    failed = any(not of.passed for of in results)
    trace = []
    for call in calls:
        call.seconds = 0.02 + chance.random() / 10
        told = {"error": call.error} if call.error is not None else {"result": call.result}
        trace += [
            TraceEvent("model", {"text": "", "stop": "tool_use", "tools": [call.name], "tokens": 410}, 0.6),
            TraceEvent("tool", {"name": call.name, "arguments": call.arguments, **told}, call.seconds),
        ]
    text = " ".join(str(value) for value in answer.values())
    trace.append(TraceEvent("model", {"text": text, "stop": "end", "tokens": 520}, 0.9))
    return AgentRunResult(
        run_id=batch.run_id(number),
        batch_id=batch.batch_id,
        scenario_id=batch.scenario_id,
        number=number,
        provider=batch.provider,
        model=batch.model,
        timestamp=began.isoformat(),
        seed=None,
        outcome=Outcome.FAILED if failed else Outcome.PASSED,
        cause=Cause.ASSERTION if failed else None,
        passed=not failed,
        weighted_score=0.0 if failed else 1.0,
        final_output=answer,
        tool_calls=calls,
        trace=trace,
        metrics=RunMetrics(
            latency=2.0 + chance.random() * 4,
            tokens=Usage(1200 + 90 * len(calls), 160),
            cost=0.004 + chance.random() / 500,
            tool_count=len(calls),
            tool_errors=sum(call.error is not None for call in calls),
            model_calls=len(calls) + 1,
        ),
        eval_results=results,
        salvo_version="0.1.0",
    )


def _broken(batch: Batch, number: int, began: datetime, calls: list[ToolCall]) -> AgentRunResult:
    """Nobody's failure: the provider was out of reach."""
    return AgentRunResult(
        run_id=batch.run_id(number),
        batch_id=batch.batch_id,
        scenario_id=batch.scenario_id,
        number=number,
        provider=batch.provider,
        model=batch.model,
        timestamp=began.isoformat(),
        seed=None,
        outcome=Outcome.ERROR,
        cause=Cause.PROVIDER,
        error="The provider did not answer in time.",
        tool_calls=calls,
        metrics=RunMetrics(latency=30.0, tool_count=len(calls), model_calls=1, retries=3),
        salvo_version="0.1.0",
    )


def save_runs(store: RunStore, *runs: AgentRunResult, **settings: Any) -> None:
    """Save a batch of these runs."""
    store.save_batch(support_runs.batch(runs=len(runs), **settings))
    for run in runs:
        store.save_run(run)
