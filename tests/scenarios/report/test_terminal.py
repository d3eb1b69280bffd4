"""What a person sees: whole tables, as snapshots."""

from typing import Any

import click
from inline_snapshot import snapshot

from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.report.terminal import batch_table, list_batches, list_failures, run_in_full
from salvo.scenarios.result import AgentRunResult, Batch, Cause, Outcome, RunMetrics, SkippedRun
from salvo.scenarios.store.index import index_entry
from tests.support.runs import batch, book_flight, failing_run, judged, result


def summary(made: Batch, results: list[AgentRunResult], unmade: dict[int, SkippedRun] | None = None) -> BatchSummary:
    return summarise(made, [index_entry(run) for run in results], unmade)


def text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def test_the_table_of_the_document() -> None:
    assert text(batch_table(summary(*book_flight()))) == snapshot("""\
book_flight  10/10 runs  pass-rate: 80%  avg-score: 0.84
─────────────────────────────────────────────────────────
tool_sequence      10/10 passed   (required)
confirmation_id     8/10 passed
cost_limit         10/10 passed   avg: $0.032
latency_limit       9/10 passed   avg: 8.2s
─────────────────────────────────────────────────────────
2 failures recorded. Replay with:
  salvo replay 01k9batch-0003
  salvo replay 01k9batch-0007

verdict    failed: 8 of 10 completed runs passed (shown with 95% confidence: at most 98%); min_pass_rate is 100%
pass rate  80%, 95% interval 44% to 98%: 8 of 10 shows at least 44%
pass^k     1: 80% (44% to 98%)  3: 47% (8% to 93%)  5: 22% (1% to 89%)  (the chance that k runs all pass)
cost       $0.320, $0.032 per run
latency    p50 7.4s  p95 11.8s  max 15.4s
identical  10 of 10 runs have the same calls and output as another
""")


def test_the_documents_lines_are_its_own() -> None:
    lines = batch_table(summary(*book_flight()))
    assert lines[:9] == [
        "book_flight  10/10 runs  pass-rate: 80%  avg-score: 0.84",
        "─────────────────────────────────────────────────────────",
        "tool_sequence      10/10 passed   (required)",
        "confirmation_id     8/10 passed",
        "cost_limit         10/10 passed   avg: $0.032",
        "latency_limit       9/10 passed   avg: 8.2s",
        "─────────────────────────────────────────────────────────",
        "2 failures recorded. Replay with:",
        "  salvo replay 01k9batch-0003",
    ]


def troubled() -> BatchSummary:
    """Something of everything that can go wrong."""
    down: dict[str, Any] = {
        "outcome": Outcome.ERROR,
        "cause": Cause.PROVIDER,
        "error": "openai is overloaded, still, after 5 tries.",
    }
    unknown = RunMetrics(latency=2.0, cost=None)
    results = [
        result(1, eval_results=[judged("polite", True, "llm_judge"), judged("cost_limit", True, "cost_limit")]),
        result(2, metrics=unknown, eval_results=[judged("polite", True, "llm_judge")]),
        result(3, judge_cost=0.004, **down),
        result(4, **down),
        result(
            5,
            Outcome.ERROR,
            cause=Cause.JUDGE,
            error="No majority:\x1b[2J 1 of 3 votes could be read.",
            eval_results=[judged("polite", None, "llm_judge")],
        ),
        result(6, Outcome.FAILED, cause=Cause.TIMEOUT),
        *(
            result(number, Outcome.FAILED, eval_results=[judged("polite", False, "llm_judge")])
            for number in range(7, 12)
        ),
        result(12, Outcome.INTERRUPTED, cause=Cause.INTERRUPTED, error="Ctrl-C was pressed"),
    ]
    spent = SkippedRun(Outcome.NOT_RUN, Cause.BUDGET, "the budget is spent")
    return summary(batch(runs=20, min_pass_rate=0.5), results, dict.fromkeys(range(13, 17), spent))


def test_errors_stand_apart_from_failures_and_what_was_not_run_is_said() -> None:
    assert text(batch_table(troubled())) == snapshot("""\
book_flight  8/20 runs  pass-rate: 25%  avg-score: 0.25
─────────────────────────────────────────────────────────
polite        2/7 passed   1 not judged
cost_limit    1/1 passed   avg: at least $0.028
─────────────────────────────────────────────────────────
1 run failed: the agent timed out.
6 failures not recorded (`salvo run --record` records runs). Show with:
  salvo report 01k9batch-0006
  salvo report 01k9batch-0007
  salvo report 01k9batch-0008
  … and 3 more

3 runs could not be judged (errors, not failures):
  2 × the provider failed: openai is overloaded, still, after 5 tries.  (01k9batch-0003)
  1 × the judge failed: No majority:\\x1b[2J 1 of 3 votes could be read.  (01k9batch-0005)

Of 20 runs: 4 not run, 1 interrupted, 4 without a result.
  4 × not run: the budget is spent  (01k9batch-0013)
  1 × interrupted: Ctrl-C was pressed  (01k9batch-0012)
  salvo run --resume 01k9batch

verdict    open: 2 of 8 completed runs passed, and the verdict depends on the 9 without a result; min_pass_rate is 50%
pass rate  25%, 95% interval 3% to 66%: 2 of 8 shows at least 3%
pass^k     1: 25% (3% to 66%)  3: 0% (0% to 28%)  (the chance that k runs all pass)
cost       at least $0.352, at least $0.028 per run; judge: $0.0040 (unknown for 1 run)
latency    p50 8.2s  p95 8.2s  max 8.2s
identical  7 of 8 runs have the same calls and output as another
""")


def test_a_batch_without_a_completed_run() -> None:
    down = result(1, Outcome.ERROR, cause=Cause.PROVIDER, error="no key", metrics=RunMetrics())
    assert text(batch_table(summary(batch(runs=1), [down]))) == snapshot("""\
book_flight  0/1 runs  pass-rate: unknown  avg-score: unknown
─────────────────────────────────────────────────────────────

1 run could not be judged (errors, not failures):
  1 × the provider failed: no key  (01k9batch-0001)

verdict    error: no run was completed, so nothing is known about the agent
cost       unknown
""")


def test_a_batch_that_passed() -> None:
    assert text(batch_table(summary(batch(runs=1), [result(eval_results=[judged("ok", True)])]))) == snapshot("""\
book_flight  1/1 runs  pass-rate: 100%  avg-score: 1.00
─────────────────────────────────────────────────────────
ok    1/1 passed
─────────────────────────────────────────────────────────
No failures.

verdict    passed: 1 of 1 completed runs passed (observed; not shown: the runs are compatible with 2%); min_pass_rate is 100%
pass rate  100%, 95% interval 2% to 100%: 1 of 1 shows at least 2%
cost       $0.032, $0.032 per run
latency    p50 8.2s  p95 8.2s  max 8.2s
""")


def test_many_reasons_are_cut_short() -> None:
    runs = [result(number, Outcome.ERROR, cause=Cause.PROVIDER, error=f"fault {number}") for number in range(1, 9)]
    lines = batch_table(summary(batch(runs=8), runs))
    assert "  … and 3 more, for other reasons" in lines


def test_a_narrow_terminal_gets_a_narrow_rule() -> None:
    assert batch_table(summary(*book_flight()), width=20)[1] == "─" * 20


def test_colours_change_nothing_but_colours() -> None:
    for of in (summary(*book_flight()), troubled()):
        assert click.unstyle(text(batch_table(of, colour=True))) == text(batch_table(of))
        assert click.unstyle(text(list_batches([of], colour=True))) == text(list_batches([of]))
        assert click.unstyle(text(list_failures([of], colour=True))) == text(list_failures([of]))
    run = failing_run()
    assert text(run_in_full(run, colour=True)) != text(run_in_full(run))
    assert click.unstyle(text(run_in_full(run, colour=True))) == text(run_in_full(run))


def test_a_failing_run_in_full() -> None:
    assert text(run_in_full(failing_run())) == snapshot("""\
book_flight  run 3  failed (assertion)  score: 0.60
01k9batch-0003  openai/gpt-4o  2026-11-15 12:00  seed 42

Assertions
  passed  tool_sequence, required, weight 2
          3 calls as expected
  failed  confirmation_id (jmespath), weight 1
          final_output.confirmation_id is null
          expected  "^[A-Z]{6}$"
          actual    null
  error   polite (llm_judge), weight 1
          1 of 3 votes could be read

Tool calls
  1. search_flights  {"from": "SFO", "to": "JFK"}
     → [{"id": "F1", "price": 320}]  (120ms)
  2. book_flight  {"id": "F9"}
     → error: There is no flight F9.  (30ms)

Trace
     1.50s  model_reply  {"text": "Let me search."}
     1.62s  tool_call  {"name": "search_flights"}

Final output
  {"confirmation_id": null, "note": "\\u001b[31mred\\u001b[0m"}

Metrics
  latency  8.2s
  cost     $0.032; judge: $0.00040
  tokens   900 in, 120 out, 300 read from the cache
  calls    3 model calls, 2 tool calls, 1 tool error, 1 retry

Replay
  salvo replay 01k9batch-0003
""")


def test_a_run_that_could_not_be_judged_in_full() -> None:
    run = result(1, Outcome.ERROR, cause=Cause.PROVIDER, error="no key", metrics=RunMetrics(), judge_cost=None)
    assert text(run_in_full(run)) == snapshot("""\
book_flight  run 1  error (provider)
01k9batch-0001  openai/gpt-4o  2026-11-15 12:00
no key

Final output
  null

Metrics
  latency  0ms
  cost     unknown; judge: unknown
  calls    0 model calls, 0 tool calls, 0 tool errors, 0 retries

Replay
  not recorded; record runs with `salvo run --record`
""")


def test_batches_are_listed_a_line_each() -> None:
    empty = summary(batch("01k9empty", runs=3, model="", provider="function"), [])
    assert text(list_batches([summary(*book_flight()), troubled(), empty])) == snapshot("""\
BATCH      SCENARIO     MODEL     WHEN              RUNS   PASS-RATE  95%         SCORE  ERRORS  COST             VERDICT
01k9batch  book_flight  gpt-4o    2026-11-15 12:00  10/10  80%        44% to 98%  0.84           $0.320           failed
01k9batch  book_flight  gpt-4o    2026-11-15 12:00  8/20   25%        3% to 66%   0.25   3       at least $0.352  open
01k9empty  book_flight  function  2026-11-15 12:00  0/3                                          $0               error
""")


def test_failures_are_listed_a_line_each() -> None:
    assert text(list_failures([summary(*book_flight()), troubled()])) == snapshot("""\
RUN             SCENARIO     MODEL   SCORE  REPLAY  FAILED
01k9batch-0003  book_flight  gpt-4o  0.20   yes     confirmation_id
01k9batch-0007  book_flight  gpt-4o  0.20   yes     confirmation_id, latency_limit
01k9batch-0006  book_flight  gpt-4o  0.00   no      timeout
01k9batch-0007  book_flight  gpt-4o  0.00   no      polite
01k9batch-0008  book_flight  gpt-4o  0.00   no      polite
01k9batch-0009  book_flight  gpt-4o  0.00   no      polite
01k9batch-0010  book_flight  gpt-4o  0.00   no      polite
01k9batch-0011  book_flight  gpt-4o  0.00   no      polite

3 runs could not be judged (errors, not listed here).
""")


def test_no_failures_are_a_sentence() -> None:
    assert list_failures([summary(batch(runs=1), [result()])]) == ["No failures."]
