"""Results and batches as the runner makes them, with only what a test is about spelt out."""

from pathlib import Path
from typing import Any

from salvo.engine.chat.base import Usage
from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.result import AgentRunResult, Batch, Cause, EvalResult, Outcome, RunMetrics, ToolCall, TraceEvent
from salvo.scenarios.store.index import index_entry
from salvo.scenarios.store.score_store import RunScore, ScoreStore, Scoring
from salvo.scenarios.store.store import RunStore


def batch(batch_id: str = "01k9batch", runs: int = 10, **settings: Any) -> Batch:
    known: dict[str, Any] = {
        "scenario_id": "book_flight",
        "created_at": "2026-11-15T12:00:00+00:00",
        "adapter": "openai",
        "provider": "openai",
        "model": "gpt-4o",
        "seed": None,
        "threshold": 0.8,
        "min_pass_rate": 1.0,
        "recorded": True,
        "scenario": {"scenario": "book_flight"},
    }
    return Batch(batch_id=batch_id, runs=runs, **{**known, **settings})


def result(
    number: int = 1, outcome: Outcome = Outcome.PASSED, batch_id: str = "01k9batch", **settings: Any
) -> AgentRunResult:
    known: dict[str, Any] = {
        "scenario_id": "book_flight",
        "provider": "openai",
        "model": "gpt-4o",
        "timestamp": "2026-11-15T12:00:01+00:00",
        "seed": None,
        "cause": Cause.ASSERTION if outcome is Outcome.FAILED else None,
        "passed": outcome is Outcome.PASSED,
        "weighted_score": {Outcome.PASSED: 1.0, Outcome.FAILED: 0.0}.get(outcome),
        "metrics": RunMetrics(latency=8.2, tokens=Usage(900, 120), cost=0.032, tool_count=3, model_calls=4),
    }
    return AgentRunResult(
        run_id=f"{batch_id}-{number:04d}",
        batch_id=batch_id,
        number=number,
        outcome=outcome,
        **{**known, **settings},
    )


def stored(folder: Path, *batches: tuple[Batch, list[AgentRunResult]]) -> RunStore:
    """A store in the folder, with these batches and their runs."""
    store = RunStore(folder / ".salvo")
    store.prepare()
    for made, results in batches:
        store.save_batch(made)
        for run in results:
            store.save_run(run)
    return store


def judged(name: str, passed: bool | None, kind: str = "jmespath", **settings: Any) -> EvalResult:
    score = None if passed is None else float(passed)
    return EvalResult(passed=passed, score=score, name=name, type=kind, **settings)


def book_flight() -> tuple[Batch, list[AgentRunResult]]:
    """The batch of the document's table: ten runs, two of which fail, one of them too slow as well."""
    return batch(), [_flight(number) for number in range(1, 11)]


def _flight(number: int) -> AgentRunResult:
    confirmed, fast = number not in (3, 7), number != 7
    return result(
        number,
        Outcome.PASSED if confirmed else Outcome.FAILED,
        weighted_score=1.0 if confirmed else 0.2,
        recorded=True,
        metrics=RunMetrics(
            latency=7.4 if fast else 15.4, tokens=Usage(900, 120), cost=0.032, tool_count=3, model_calls=4
        ),
        eval_results=[
            judged("tool_sequence", True, "tool_sequence", required=True, weight=2.0),
            judged("confirmation_id", confirmed),
            judged("cost_limit", True, "cost_limit"),
            judged("latency_limit", fast, "latency_limit"),
        ],
    )


def failing_run() -> AgentRunResult:
    """One run with something in every section, hostile text too."""
    return result(
        3,
        Outcome.FAILED,
        weighted_score=0.6,
        seed=42,
        recorded=True,
        replayable="full",
        final_output={"confirmation_id": None, "note": "\x1b[31mred\x1b[0m"},
        eval_results=[
            judged("tool_sequence", True, "tool_sequence", required=True, weight=2.0, message="3 calls as expected"),
            judged(
                "confirmation_id",
                False,
                message="final_output.confirmation_id is null",
                expected="^[A-Z]{6}$",
                actual=None,
            ),
            judged("polite", None, "llm_judge", message="1 of 3 votes could be read", cause=Cause.JUDGE),
        ],
        tool_calls=[
            ToolCall("search_flights", {"from": "SFO", "to": "JFK"}, [{"id": "F1", "price": 320}], seconds=0.12),
            ToolCall("book_flight", {"id": "F9"}, error="There is no flight F9.", seconds=0.03),
        ],
        trace=[
            TraceEvent("model_reply", {"text": "Let me search."}, 1.5),
            TraceEvent("tool_call", {"name": "search_flights"}, 1.62),
        ],
        metrics=RunMetrics(
            latency=8.2,
            tokens=Usage(900, 120, cache_read=300),
            cost=0.032,
            tool_count=2,
            tool_errors=1,
            model_calls=3,
            retries=1,
        ),
        judge_cost=0.0004,
    )


def run_of_every_outcome() -> tuple[list[BatchSummary], list[AgentRunResult]]:
    """One run of each outcome, and one without a result."""
    results = [
        result(1),
        result(5, Outcome.INTERRUPTED, error="Ctrl-C"),
        result(4, Outcome.NOT_RUN, cause=Cause.BUDGET),
        result(
            3,
            Outcome.ERROR,
            cause=Cause.JUDGE,
            error="No votes & no <verdict>.\x00\x1b\ud83d\ufffe",
            eval_results=[judged("polite", None, "llm_judge", error="no votes")],
        ),
        failing_run(),
    ]
    results[-1].run_id, results[-1].number = "01k9batch-0002", 2
    batch_of_six = batch(runs=6, min_pass_rate=0.5)
    return [summarise(batch_of_six, [index_entry(run) for run in results])], results


def save_scoring(store: RunStore, scored: Batch, outcomes: list[Outcome], **settings: Any) -> Scoring:
    """Save a scoring of the first runs of a stored batch, with these verdicts."""
    known: dict[str, Any] = {
        "score_id": f"score-{scored.batch_id}",
        "created_at": "2026-11-16T12:00:00+00:00",
        "source": "stricter.yaml",
        "min_pass_rate": 1.0,
    }
    scoring = Scoring(
        batch_id=scored.batch_id,
        scenario=scored.scenario,
        threshold=1.0,
        confidence=None,
        runs=len(outcomes),
        salvo_version="1",
        **{**known, **settings},
    )
    scores = ScoreStore(store)
    scores.save(scoring)
    for number, outcome in enumerate(outcomes, 1):
        verdict = EvalResult(passed=outcome is Outcome.PASSED, name="strict", type="llm_judge")
        run = result(number, outcome, scored.batch_id, eval_results=[verdict], judge_cost=0.01)
        scores.save_run(scoring.score_id, RunScore.from_result(run, {}))
    return scoring
