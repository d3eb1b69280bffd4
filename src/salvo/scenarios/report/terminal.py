"""Summaries and runs as lines of text. Pure: the caller prints them, and decides whether they are coloured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from salvo.engine.text.formatting import (
    display_json,
    first_lines,
    format_time,
    pluralize,
    seconds,
    truncate,
)
from salvo.engine.text.terminal import Paint, table
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.analysis.summary import AssertionSummary, BatchSummary, Failure, Group
from salvo.scenarios.report import labels, run_labels
from salvo.scenarios.result import AgentRunResult, Batch, Cause, EvalResult, Outcome, ToolCall, TraceEvent, full_model
from salvo.scenarios.store.index import IndexEntry

RULE = 57
_FAILURE_COLUMNS = ("RUN", "SCENARIO", "MODEL", "SCORE", "REPLAY", "FAILED")
_REPLAYS = 3
_GROUPS = 5
_LONGEST_MESSAGE = 1000
_COLOURS = {
    "passed": "green",
    "failed": "red",
    "error": "yellow",
    "not_run": "yellow",
    "interrupted": "yellow",
    "pending": "yellow",
    "open": "yellow",
    "inconclusive": "yellow",
    "not judged": "yellow",
}


class VerdictPaint(Paint):
    """Paints a verdict or an outcome in its own colour."""

    def verdict(self, word: str) -> str:
        return self(word, _COLOURS.get(word), bold=True)


def batch_table(
    summary: BatchSummary,
    *,
    colour: bool = False,
    width: int | None = None,
    scoring: bool = False,
    pass_at_k: bool = False,
) -> list[str]:
    """Return a batch as a table, followed by its verdict and statistics. With `scoring` it is one of stored runs."""
    paint = VerdictPaint(colour)
    header = _header(summary)
    rows = list(_assertion_rows(summary))
    length = max([RULE, len(header), *(len(row) for _, row in rows)])
    rule = paint("─" * min(length, width or length), dim=True)
    body = [*(paint(row, _row_colour(assertion)) for assertion, row in rows), rule] if rows else []
    sections = [
        [paint(header, bold=True), rule, *body, *(_scored_failures(summary) if scoring else _failures(summary))],
        list(_errors(summary, paint)),
        list(_skipped(summary, paint, scoring=scoring)),
        list(_pending(summary, paint)),
        list(_numbers(summary, paint, pass_at_k)),
    ]
    return [line for section in sections if section for line in ("", *section)][1:]


def _header(summary: BatchSummary) -> str:
    runs = f"{summary.completed}/{summary.runs} runs"
    rate, score = labels.rate(summary), labels.score(summary.average_score)
    return f"{printable(summary.scenario_id)}  {runs}  pass-rate: {rate}  avg-score: {score}"


def _assertion_rows(summary: BatchSummary) -> Iterator[tuple[AssertionSummary, str]]:
    names = [truncate(printable(assertion.label), 40) for assertion in summary.assertions]
    counts = [f"{assertion.passed}/{assertion.judged}" for assertion in summary.assertions]
    label_width = max(map(len, names), default=0)
    count_width = max(map(len, counts), default=0)
    for assertion, label, count in zip(summary.assertions, names, counts, strict=True):
        required = ["(required)"] if assertion.required else []
        notes = "  ".join([*required, *labels.notes(assertion, summary)])
        yield assertion, f"{label:<{label_width}}    {count:>{count_width}} passed   {notes}".rstrip()


def _row_colour(assertion: AssertionSummary) -> str | None:
    if assertion.passed < assertion.judged:
        return "red"
    return "yellow" if assertion.unjudged else None


def _failures(summary: BatchSummary) -> Iterator[str]:
    yield from map(printable, labels.stopped(summary))
    if replays := [f"salvo replay {failure.run_id}" for failure in summary.failures if failure.recorded]:
        yield f"{pluralize(len(replays), 'failure')} recorded. Replay with:"
        yield from (f"  {line}" for line in first_lines(replays, _REPLAYS))
        if len(replays) > _REPLAYS:
            yield f"All of them: salvo replay --failed {summary.batch_id}"
    if reports := [f"salvo report {failure.run_id}" for failure in summary.failures if not failure.recorded]:
        yield f"{pluralize(len(reports), 'failure')} not recorded (`salvo run --record` records runs). Show with:"
        yield from (f"  {line}" for line in first_lines(reports, _REPLAYS))
    if not summary.failures and summary.completed:
        yield "No failures."
    yield from map(printable, labels.tolerated_failures(summary))


def cache_note(batches: Iterable[tuple[Batch, Iterable[IndexEntry]]]) -> list[str]:
    """Return a line if runs got replies from the cache."""
    counts = [(batch, sum(entry.from_cache for entry in entries)) for batch, entries in batches]
    cached = [(batch, count) for batch, count in counts if count]
    if not cached:
        return []
    runs = f"{sum(count for _, count in cached)} of {pluralize(sum(batch.runs for batch, _ in cached), 'run')}"
    where = printable(cached[0][0].scenario_id) if len(cached) == 1 else pluralize(len(cached), "scenario")
    meaning = (
        "They repeat earlier runs, so they are no independent evidence, and what those replies cost was paid before."
    )
    return [f"{where}: {runs} got replies from the cache. {meaning}"]


def _scored_failures(summary: BatchSummary) -> Iterator[str]:
    yield from labels.stopped(summary)
    if summary.failures:
        yield f"{pluralize(len(summary.failures), 'failure')}. Show with:"
        reports = [f"salvo report {failure.run_id} --score {summary.batch_id}" for failure in summary.failures]
        yield from (f"  {line}" for line in first_lines(reports, _REPLAYS))
    elif summary.completed:
        yield "No failures."


def _errors(summary: BatchSummary, paint: VerdictPaint) -> Iterator[str]:
    if summary.errors:
        yield paint(f"{pluralize(summary.errors, 'run')} could not be judged (errors, not failures):", "yellow")
        yield from _grouped(summary.error_groups, labels.error)


def _skipped(summary: BatchSummary, paint: VerdictPaint, *, scoring: bool) -> Iterator[str]:
    if counts := labels.skipped(summary):
        yield paint(counts, "yellow")
        yield from _grouped(summary.not_made, labels.skip_reason)
        resume = f"salvo score --resume {summary.batch_id}" if scoring else labels.continue_command(summary.batch_id)
        yield f"  {resume}"


def _pending(summary: BatchSummary, paint: VerdictPaint) -> Iterator[str]:
    if text := labels.pending(summary):
        yield paint(text, "yellow")
        yield f"  salvo collect {summary.batch_id}"


def _grouped(groups: Sequence[Group], reason: Callable[[Group], str]) -> Iterator[str]:
    for group in groups[:_GROUPS]:
        yield f"  {group.count} × {printable(reason(group))}  ({group.run_ids[0]})"
    if len(groups) > _GROUPS:
        yield f"  … and {sum(group.count for group in groups[_GROUPS:])} more, for other reasons"


def _numbers(summary: BatchSummary, paint: VerdictPaint, pass_at_k: bool) -> Iterator[str]:
    yield f"verdict    {verdict(summary, paint)}"
    yield from (f"{row.name:<10} {row.value}" for row in labels.figures(summary, pass_at_k=pass_at_k))


def verdict(summary: BatchSummary, paint: VerdictPaint | None = None) -> str:
    return f"{(paint or VerdictPaint(False)).verdict(summary.verdict)}: {labels.why(summary)}"


def list_batches(summaries: Sequence[BatchSummary], *, colour: bool = False) -> list[str]:
    """Return one line per batch, in the given order."""
    paint = VerdictPaint(colour)
    header = ("BATCH", "SCENARIO", "MODEL", "WHEN", "RUNS", "PASS-RATE", "95%", "SCORE", "ERRORS", "COST", "VERDICT")
    return _coloured_table(header, [_batch_row(summary) for summary in summaries], paint)


def _batch_row(summary: BatchSummary) -> tuple[str, ...]:
    return (
        summary.batch_id,
        truncate(printable(summary.scenario_id), 30),
        truncate(printable(summary.model or summary.provider), 30),
        format_time(summary.created_at),
        f"{summary.completed}/{summary.runs}",
        "" if summary.pass_rate is None else labels.rate(summary),
        labels.interval(summary) if summary.completed else "",
        "" if summary.average_score is None else f"{summary.average_score:.2f}",
        str(summary.errors or ""),
        labels.total(summary.cost),
        summary.verdict,
    )


def list_failures(summaries: Sequence[BatchSummary], *, colour: bool = False) -> list[str]:
    """Return one line per failed run, and the number of runs that could not be judged."""
    paint = VerdictPaint(colour)
    rows = [
        (
            failure.run_id,
            truncate(printable(summary.scenario_id), 30),
            truncate(printable(summary.model), 30),
            *_failure_cells(failure),
        )
        for summary in summaries
        for failure in summary.failures
    ]
    lines = _coloured_table(_FAILURE_COLUMNS, rows, paint) if rows else ["No failures."]
    if errors := sum(summary.errors for summary in summaries):
        lines += ["", paint(f"{pluralize(errors, 'run')} could not be judged (errors, not listed here).", "yellow")]
    if pending := sum(summary.pending for summary in summaries):
        wait = "waits for its judges" if pending == 1 else "wait for their judges"
        lines += ["", paint(f"{pluralize(pending, 'run')} {wait} (salvo collect).", "yellow")]
    return lines


def _failure_cells(failure: Failure) -> tuple[str, str, str]:
    reasons = [printable(label) for label in failure.assertions]
    if failure.cause not in (None, Cause.ASSERTION):
        reasons.insert(0, str(failure.cause))
    return (
        "" if failure.score is None else f"{failure.score:.2f}",
        "yes" if failure.recorded else "no",
        ", ".join(reasons),
    )


def _coloured_table(header: Sequence[str], rows: Sequence[tuple[str, ...]], paint: Paint) -> list[str]:
    return table(header, rows, paint, [_COLOURS.get(row[-1]) for row in rows])


def run_in_full(result: AgentRunResult, *, colour: bool = False) -> list[str]:
    """Return everything about one run that helps to see what went wrong."""
    paint = VerdictPaint(colour)
    return [
        *_run_header(result, paint),
        *_section("Conversation", conversation_lines(result), paint),
        *_section("Assertions", _eval_lines(result.eval_results, paint), paint),
        *_section("Tool calls", _call_lines(result.tool_calls), paint),
        *_section("Trace", _trace_lines(result.trace), paint),
        *_section("Final output", [display_json(result.final_output, 2000)], paint),
        *_section("Metrics", (f"{row.name:<8} {row.value}" for row in run_labels.metrics(result)), paint),
        *_section("Replay", [printable(run_labels.replay(result))], paint),
    ]


def failed_run(result: AgentRunResult) -> list[str]:
    """Return the header of a run and the assertions that did not pass."""
    paint = VerdictPaint(False)
    failed = [item for item in result.eval_results if not item.passed]
    return [*_run_header(result, paint), *(f"  {line}" for line in _eval_lines(failed, paint))]


def _run_header(result: AgentRunResult, paint: VerdictPaint) -> Iterator[str]:
    score = "" if result.weighted_score is None else f"  score: {result.weighted_score:.2f}"
    cause = f" ({result.cause})" if result.cause else ""
    name = paint(printable(result.scenario_id), bold=True)
    yield f"{name}  run {result.number}  {paint.verdict(result.outcome)}{cause}{score}"
    model = full_model(result.provider, result.model)
    seed = "" if result.seed is None else f"  seed {result.seed}"
    yield f"{result.run_id}  {printable(model)}  {format_time(result.timestamp)}{seed}"
    if result.error:
        colour = "red" if result.outcome is Outcome.FAILED else "yellow"
        yield paint(printable(result.error), colour)


def _section(title: str, lines: Iterable[str], paint: VerdictPaint) -> list[str]:
    indented = [f"  {line}" for line in lines]
    return ["", paint(title, bold=True), *indented] if indented else []


def _eval_lines(results: Sequence[EvalResult], paint: VerdictPaint) -> Iterator[str]:
    for result in results:
        word = run_labels.outcome(result)
        name = printable(run_labels.label(result) + run_labels.about(result) + run_labels.turn(result))
        yield f"{paint(word.ljust(6), _COLOURS[word])}  {name}"
        if result.message:
            yield f"        {printable(result.message)}"
        if not result.passed and (result.expected is not None or result.actual is not None):
            yield f"        expected  {display_json(result.expected)}"
            yield f"        actual    {display_json(result.actual)}"


def conversation_lines(result: AgentRunResult) -> Iterator[str]:
    """Yield what the user and the agent said, turn by turn, with the tools that the agent called in between."""
    for turn in result.turns:
        yield from _message_lines(f"{turn.number}. user", turn.user)
        for call in turn.tool_calls:
            failed = "" if call.error is None else f"  error: {printable(call.error)}"
            yield f"     {printable(call.name)}  {truncate(display_json(call.arguments), 100)}{truncate(failed, 100)}"
        answer = "(no answer)" if turn.agent is None else turn.agent
        yield from _message_lines("   agent", answer, f"  ({seconds(turn.metrics.latency)})")


def _message_lines(speaker: str, message: str, note: str = "") -> Iterator[str]:
    first, *others = truncate(message.strip(), _LONGEST_MESSAGE).splitlines() or [""]
    indent = " " * (len(speaker) + 2)
    lines = [f"{speaker}  {printable(first)}", *(f"{indent}{printable(line)}" for line in others)]
    yield from lines[:-1]
    yield f"{lines[-1]}{note}"


def _call_lines(calls: Sequence[ToolCall]) -> Iterator[str]:
    for number, call in enumerate(calls, 1):
        yield f"{number}. {printable(call.name)}  {display_json(call.arguments)}"
        result = f"error: {printable(call.error)}" if call.error is not None else display_json(call.result)
        yield f"   → {truncate(result, 200)}  ({seconds(call.seconds)})"


def _trace_lines(trace: Sequence[TraceEvent]) -> Iterator[str]:
    for event in trace:
        yield f"{event.seconds:7.2f}s  {printable(event.type)}  {display_json(event.data)}".rstrip()
