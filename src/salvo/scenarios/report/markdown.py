"""Batches as Markdown for a pull request: first the verdicts, then what failed and the commands to inspect it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from salvo.engine.text.formatting import first_lines, pluralize, seconds, truncate
from salvo.engine.text.markdown import code, inline, markdown_table
from salvo.scenarios.analysis.grid import build_grids
from salvo.scenarios.analysis.suite import summarise_suite
from salvo.scenarios.analysis.summary import AssertionSummary, BatchSummary, BatchVerdict, Failure, Group
from salvo.scenarios.report import labels, run_labels
from salvo.scenarios.report.grid import grid_markdown
from salvo.scenarios.result import AgentRunResult, full_model

_MORE_FIGURES = ("corrected", "turns", "bounds", "in flight")
_MOST_LINES = 10
"""Failures, and groups of errors, that are listed. A summary on GitHub may have up to 1 MB."""
_MOST_CELLS = 20
_MESSAGE = 300
_COLUMNS = ("scenario", "verdict", "runs", "passed", "pass rate", "95% interval", "score", "p95", "cost")


def as_markdown(summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult]) -> bytes:
    by_id = {result.run_id: result for result in results}
    grids = build_grids(summaries)
    in_grids = {cell.batch_id for grid in grids for cell in grid.cells}
    single = [summary for summary in summaries if summary.batch_id not in in_grids]
    # There may be very many cells. The grid lists them, so only those that did not pass are described.
    cells = [item for item in summaries if item.batch_id in in_grids and item.verdict is not BatchVerdict.PASSED]
    blocks = [
        f"**{_headline(summaries)}**",
        *([markdown_table(_COLUMNS, [_row(summary) for summary in single])] if single else []),
        *(block for grid in grids for block in grid_markdown(grid)),
        *(block for summary in [*single, *cells[:_MOST_CELLS]] for block in _batch(summary, by_id)),
    ]
    if len(cells) > _MOST_CELLS:
        blocks.append(f"… and {pluralize(len(cells) - _MOST_CELLS, 'other cell')} that did not pass.")
    return "\n\n".join(blocks).encode()


def _headline(summaries: Sequence[BatchSummary]) -> str:
    suite = summarise_suite(summaries)
    counts = f"{labels.suite_counts(suite)}."
    if len(summaries) < 2:
        return counts
    return " ".join(filter(None, [f"{suite.verdict.capitalize()}.", counts, labels.suite_mean(suite)]))


def _row(summary: BatchSummary) -> tuple[str, ...]:
    return (
        _foreign(summary.scenario_id, 40),
        f"**{summary.verdict}**",
        f"{summary.completed} of {summary.runs}",
        str(summary.passed),
        labels.rate(summary),
        labels.interval(summary),
        labels.score(summary.average_score),
        seconds(summary.latency.p95) if summary.latency else "unknown",
        inline(labels.total(summary.cost)),
    )


def _batch(summary: BatchSummary, by_id: dict[str, AgentRunResult]) -> Iterator[str]:
    yield f"### {_foreign(summary.scenario_id, 100)}: {summary.verdict}"
    model = _foreign(full_model(summary.provider, summary.model), 100)
    yield f"{inline(labels.why(summary))}. Model: {model}; batch {code(summary.batch_id)}."
    if summary.assertions:
        yield markdown_table(("assertion", "passed", ""), [_assertion(assertion) for assertion in summary.assertions])
    yield from (inline(line) for line in labels.tolerated_failures(summary))
    if summary.failures:
        yield _list(
            f"{pluralize(len(summary.failures), 'run')} failed:",
            [_failure(failure, by_id) for failure in summary.failures],
        )
    if summary.errors:
        yield _list(
            f"{pluralize(summary.errors, 'run')} could not be judged (errors, not failures):",
            [_error(group) for group in summary.error_groups],
        )
    yield from (f"{row.name}: {inline(row.value)}." for row in labels.figures(summary) if row.name in _MORE_FIGURES)
    if summary.pending:
        yield f"{labels.pending(summary)} (`salvo collect {summary.batch_id}`)"
    if summary.without_result:
        yield _list(
            f"{pluralize(summary.without_result, 'run')} without a result "
            f"({code(labels.continue_command(summary.batch_id))}):",
            [f"{group.count} × {_foreign(labels.skip_reason(group), _MESSAGE)}" for group in summary.not_made],
        )


def _assertion(assertion: AssertionSummary) -> tuple[str, str, str]:
    notes = ["required"] * assertion.required + [f"{assertion.unjudged} not judged"] * bool(assertion.unjudged)
    return _foreign(assertion.label, 60), f"{assertion.passed} of {assertion.judged}", ", ".join(notes)


def _failure(failure: Failure, by_id: dict[str, AgentRunResult]) -> str:
    command = f"salvo {'replay' if failure.recorded else 'report'} {failure.run_id}"
    result = by_id.get(failure.run_id)
    failed = [item for item in result.eval_results if item.passed is False] if result else []
    messages = [
        ": ".join(filter(None, [run_labels.label(item) + run_labels.turn(item), item.message])) for item in failed
    ]
    reason = "; ".join(filter(None, [failure.error or "", *(messages or failure.assertions)]))
    return f"run {failure.number}: {_foreign(reason, _MESSAGE) or 'unknown reason'} ({code(command)})"


def _error(group: Group) -> str:
    reason = _foreign(labels.error(group), _MESSAGE)
    return f"{group.count} × {reason} ({code(f'salvo report {group.run_ids[0]}')})"


def _list(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([heading, "", *(f"- {line}" for line in first_lines(lines, _MOST_LINES))])


def _foreign(text: str, length: int) -> str:
    """Return a text of a scenario or an agent, truncated and escaped."""
    return inline(truncate(text, length))
