"""Batches as Markdown for a pull request, read by a real parser."""

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from markdown_it import MarkdownIt

from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.report.markdown import as_markdown
from salvo.scenarios.result import AgentRunResult, Cause, Outcome
from salvo.scenarios.store.index import index_entry
from tests.support.runs import batch, book_flight, failing_run, judged, result

HOSTILE = (
    "<img src=x> [x](javascript:x) @all #12 https://evil.example | `a` **b**\n\n# heading\n\n| a |\n| - |\u202e\x1b[2J"
)


def told_apart() -> tuple[list[BatchSummary], list[AgentRunResult]]:
    results = [
        result(1),
        failing_run(),
        result(3, Outcome.ERROR, cause=Cause.JUDGE, error="No votes.", eval_results=[judged("polite", None)]),
        result(4, Outcome.NOT_RUN, cause=Cause.BUDGET),
    ]
    results[1].run_id, results[1].number = "01k9batch-0002", 2
    return [summarise(batch(runs=5, min_pass_rate=0.5), [index_entry(run) for run in results])], results


def shown(summaries: list[BatchSummary], results: list[AgentRunResult]) -> str:
    return as_markdown(summaries, results).decode()


def test_a_batch_in_which_everything_happened() -> None:
    assert shown(*told_apart()) == snapshot("""\
**1 scenario: 1 open.**

| scenario | verdict | runs | passed | pass rate | 95% interval | score | p95 | cost |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| book\\_flight | **open** | 2 of 5 | 1 | 50% | 1% to 99% | 0.80 | 8.2s | \\$0.096 |

### book\\_flight: open

1 of 2 completed runs passed, and the verdict depends on the 2 without a result; min\\_pass\\_rate is 50%. Model: openai/gpt-4o; batch `01k9batch`.

| assertion | passed |  |
| --- | --- | --- |
| tool\\_sequence | 1 of 1 | required |
| confirmation\\_id | 0 of 1 |  |
| polite | 0 of 0 | 1 not judged |
| polite | 0 of 0 | 1 not judged |

1 run failed:

- run 2: confirmation\\_id: final\\_output.confirmation\\_id is null (`salvo replay 01k9batch-0002`)

1 run could not be judged (errors, not failures):

- 1 × the judge failed: No votes. (`salvo report 01k9batch-0003`)

2 runs without a result (`salvo run --resume 01k9batch`):

- 1 × not run: budget\
""")


def test_the_verdicts_of_several_scenarios_come_first() -> None:
    made, results = book_flight()
    summaries = [summarise(made, [index_entry(run) for run in results])]
    verdict = summaries[0].verdict.__class__("passed")
    passed = replace(summaries[0], batch_id="another", scenario_id="other", verdict=verdict)
    assert shown([*summaries, passed], results).splitlines()[0] == snapshot(
        "**Failed. 2 scenarios: 1 passed, 1 failed. Mean pass rate of the scenarios: 80%, 95% interval 54% to 93% (standard error 0.0 points, clustered by scenario).**"
    )


def test_what_is_not_known_is_said_to_be_unknown() -> None:
    nothing = summarise(batch(runs=2), [])
    assert shown([nothing], []).splitlines()[4] == snapshot(
        "| book\\_flight | **error** | 0 of 2 | 0 | unknown | unknown | unknown | unknown | \\$0 |"
    )


def test_a_thousand_failures_stay_readable() -> None:
    failures = []
    for number in range(1, 1001):
        run = failing_run()
        run.run_id, run.number = f"01k9batch-{number:04d}", number
        failures.append(run)
    summary = summarise(batch(runs=1000), [index_entry(run) for run in failures])
    text = shown([summary], failures)
    assert text.endswith("- … and 990 more")
    assert len(text) < 5000


@given(text=st.text(min_size=1) | st.sampled_from(HOSTILE.split()))
@example(text=HOSTILE)
def test_nothing_that_an_agent_did_or_a_name_says_is_markup(text: str) -> None:
    summaries, results = told_apart()
    harmless = _kinds(shown(_poisoned(summaries, "x"), results))
    assert _kinds(shown(_poisoned(summaries, text), results)) == harmless
    for run in results:
        run.error = text
        run.eval_results = [item.model_copy(update={"name": text, "message": text}) for item in run.eval_results]
    foreign = [summarise(batch(runs=5, min_pass_rate=0.5), [index_entry(run) for run in results])]
    assert _kinds(shown(foreign, results)) <= harmless | {"code_inline"}


def _poisoned(summaries: list[BatchSummary], text: str) -> list[BatchSummary]:
    return [
        replace(of, scenario_id=text, model=text, assertions=[replace(each, label=text) for each in of.assertions])
        for of in summaries
    ]


def _kinds(text: str) -> set[str]:
    """Which kinds of things a reader of Markdown finds."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    return {each.type for token in tokens for each in (token, *(token.children or []))}
