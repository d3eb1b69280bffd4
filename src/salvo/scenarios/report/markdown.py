"""Batches as Markdown for a pull request: the verdicts first, then what failed and how to look at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from salvo.engine.text.formatting import at_least, at_most, pluralize, seconds, truncate
from salvo.engine.text.markdown import code, inline, markdown_table
from salvo.scenarios.analysis.summary import AssertionSummary, BatchSummary, Failure, Group
from salvo.scenarios.report import labels
from salvo.scenarios.result import AgentRunResult

_LISTED = 10
"""Failures, and groups of errors, that are told one by one. A summary on GitHub may have 1 MB."""
_MESSAGE = 300
_COLUMNS = ("scenario", "verdict", "runs", "passed", "pass rate", "95% interval", "score", "p95", "cost")


def as_markdown(summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult]) -> bytes:
    made = {result.run_id: result for result in results}
    blocks = [
        f"**{_sentence(summaries)}**",
        markdown_table(_COLUMNS, [_row(summary) for summary in summaries]),
        *(block for summary in summaries for block in _batch(summary, made)),
    ]
    return "\n\n".join(blocks).encode()


def _sentence(summaries: Sequence[BatchSummary]) -> str:
    counts = Counter(summary.verdict.value for summary in summaries)
    told = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
    return f"{pluralize(len(summaries), 'scenario')}: {told}."


def _row(summary: BatchSummary) -> tuple[str, ...]:
    known = summary.completed > 0
    return (
        _foreign(summary.scenario_id, 40),
        f"**{summary.verdict}**",
        f"{summary.completed} of {summary.runs}",
        str(summary.passed),
        labels.rate(summary),
        f"{at_least(summary.interval.low)} to {at_most(summary.interval.high)}" if known else "unknown",
        labels.score(summary.average_score),
        seconds(summary.latency.p95) if summary.latency else "unknown",
        inline(labels.total(summary.cost)),
    )


def _batch(summary: BatchSummary, made: dict[str, AgentRunResult]) -> Iterator[str]:
    yield f"### {_foreign(summary.scenario_id, 100)}: {summary.verdict}"
    model = "/".join(filter(None, [summary.provider, summary.model]))
    yield f"{inline(labels.why(summary))}. Asked: {_foreign(model, 100)}; batch {code(summary.batch_id)}."
    if summary.assertions:
        yield markdown_table(("assertion", "passed", ""), [_assertion(of) for of in summary.assertions])
    if summary.failures:
        yield _list(
            f"{pluralize(len(summary.failures), 'run')} failed:", [_failure(of, made) for of in summary.failures]
        )
    if summary.errors:
        yield _list(
            f"{pluralize(summary.errors, 'run')} could not be judged (errors, not failures):",
            [_error(group) for group in summary.error_groups],
        )
    if summary.without_result:
        yield _list(
            f"{pluralize(summary.without_result, 'run')} not made (`salvo run --resume {summary.batch_id}`):",
            [f"{group.count} × {_foreign(group.why, _MESSAGE)}" for group in summary.not_made],
        )


def _assertion(of: AssertionSummary) -> tuple[str, str, str]:
    notes = ["required"] * of.required + [f"{of.unjudged} not judged"] * bool(of.unjudged)
    return _foreign(of.label, 60), f"{of.passed} of {of.judged}", ", ".join(notes)


def _failure(of: Failure, made: dict[str, AgentRunResult]) -> str:
    look = f"salvo {'replay' if of.recorded else 'report'} {of.run_id}"
    result = made.get(of.run_id)
    judged = [each for each in result.eval_results if each.passed is False] if result else []
    told = [": ".join(filter(None, [labels.label(each), each.message])) for each in judged]
    why = "; ".join(filter(None, [of.error or "", *(told or of.assertions)]))
    return f"run {of.number}: {_foreign(why, _MESSAGE) or 'no reason is known'} ({code(look)})"


def _error(group: Group) -> str:
    why = _foreign(labels.error(group), _MESSAGE)
    return f"{group.count} × {why} ({code(f'salvo report {group.run_ids[0]}')})"


def _list(heading: str, lines: Sequence[str]) -> str:
    more = len(lines) - _LISTED
    return "\n".join(
        [heading, "", *(f"- {line}" for line in lines[:_LISTED]), *([f"- … and {more} more"] if more > 0 else [])]
    )


def _foreign(text: str, length: int) -> str:
    """Names and what agents did may hold anything."""
    return inline(truncate(text, length))
