"""The end of a command that ran scenarios: which tables are worth showing, the totals, and what to do next. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from salvo.engine.text.formatting import first_lines, pluralize, truncate
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.analysis.suite import SuiteVerdict, suite_verdict, summarise_suite
from salvo.scenarios.analysis.summary import WORST_FIRST, BatchSummary, BatchVerdict, Cost, Group
from salvo.scenarios.report import labels
from salvo.scenarios.report.terminal import VerdictPaint

MOST_TABLES = 10
_LONGEST_NAME = 60
_MOST_NAMES = 3
_MOST_ASSERTIONS = 10
_MOST_REASONS = 5


def worth_a_table(summaries: Sequence[BatchSummary], *, verbose: bool) -> list[BatchSummary]:
    """Return the scenarios whose tables are shown: all of a few, and of many the first that did not pass."""
    if verbose or len(summaries) <= MOST_TABLES:
        return list(summaries)
    return [summary for summary in summaries if _needs_attention(summary)][:MOST_TABLES]


def closing_summary(
    summaries: Sequence[BatchSummary],
    verdict: SuiteVerdict,
    *,
    tables: Container[str] = (),
    in_grids: Container[str] = (),
    colour: bool = False,
) -> list[str]:
    """Return the totals, and a line for each scenario that did not pass, with the command that shows why.

    `verdict` is that of the whole command. The tables of the batches `tables` were shown before, and grids have listed
    the batches `in_grids`.
    """
    paint = VerdictPaint(colour)
    unlisted = [item for item in summaries if item.batch_id not in in_grids and _needs_attention(item)]
    attention = sorted(unlisted, key=lambda summary: WORST_FIRST.index(summary.verdict))
    lines = [paint(totals(summaries), bold=True), *overall(summaries, verdict, colour=colour)]
    width = max((len(_name(summary)) for summary in attention), default=0)
    for summary in attention:
        word = paint.verdict(summary.verdict) + " " * (len(BatchVerdict.INCONCLUSIVE) - len(summary.verdict))
        lines.append(f"  {word}  {_name(summary):<{width}}  {_counts(summary)}  {_next_command(summary)}".rstrip())
    lines += first_lines(list(_tolerated(summaries)), _MOST_ASSERTIONS)
    without_table = [summary for summary in summaries if summary.batch_id not in tables]
    lines += _reasons("could not be judged", labels.error, (summary.error_groups for summary in without_table))
    lines += _reasons("without a result", labels.skip_reason, (summary.not_made for summary in without_table))
    unfinished = [labels.continue_command(summary.batch_id) for summary in summaries if summary.without_result > 0]
    if len(unfinished) > 1:
        is_same = len(set(unfinished)) == 1
        lines.append(f"Resume all of them with: {unfinished[0] if is_same else 'salvo run --resume latest'}")
    hidden = sum(summary.batch_id not in in_grids for summary in without_table)
    if hidden and len(without_table) < len(summaries):
        lines.append(
            f"{pluralize(hidden, 'more table')}: salvo run -v prints all of them, salvo report BATCH one of them."
        )
    return lines


def overall(summaries: Sequence[BatchSummary], verdict: SuiteVerdict, *, colour: bool = False) -> Iterator[str]:
    """Yield the verdict of the command, which its exit code follows, unless it is that of the only scenario."""
    if [verdict.value] == [summary.verdict.value for summary in summaries]:
        return
    reason = ""
    if verdict is not suite_verdict(summaries):
        reason = ", because of the comparison with the baseline"
    elif verdict is SuiteVerdict.NOT_JUDGED and (errors := sum(summary.errors for summary in summaries)):
        reason = f", because {pluralize(errors, 'run')} could not be judged"
    elif verdict is SuiteVerdict.NOT_JUDGED and (missing := sum(summary.without_result for summary in summaries)):
        reason = f", because {pluralize(missing, 'run')} {'has' if missing == 1 else 'have'} no result"
    elif verdict is SuiteVerdict.NOT_JUDGED and (pending := sum(summary.pending for summary in summaries)):
        reason = f", because {pluralize(pending, 'run')} {'waits' if pending == 1 else 'wait'} for judges"
    mean = labels.suite_mean(summarise_suite(summaries))
    yield f"Overall: {VerdictPaint(colour).verdict(verdict)}{reason}." + (f" {mean}" if mean else "")


def _reasons(title: str, describe: Callable[[Group], str], groups: Iterable[Iterable[Group]]) -> Iterator[str]:
    """Yield why runs have no verdict, the most frequent reasons first, each with a run to look at."""
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for group in (group for batch in groups for group in batch):
        reason = printable(describe(group))
        counts[reason] += group.count
        examples.setdefault(reason, group.run_ids[0])
    if counts:
        yield f"{pluralize(counts.total(), 'run')} {title}:"
    yield from first_lines(
        [f"  {count} × {reason}  ({examples[reason]})" for reason, count in counts.most_common()], _MOST_REASONS
    )


def _tolerated(summaries: Sequence[BatchSummary]) -> Iterator[str]:
    """Yield the assertions that passed in no run of scenarios in which runs passed, by label."""
    scenarios: dict[str, list[str]] = {}
    for summary in summaries:
        for assertion in summary.assertions:
            if assertion.always_tolerated:
                scenarios.setdefault(assertion.label, []).append(_name(summary))
    for label, names in scenarios.items():
        more = f" and {len(names) - _MOST_NAMES} more scenarios" if len(names) > _MOST_NAMES else ""
        where = ", ".join(names[:_MOST_NAMES]) + more
        yield f'  The assertion "{printable(label)}" passed in no run, yet runs passed: {where}'


def _needs_attention(summary: BatchSummary) -> bool:
    return summary.verdict is not BatchVerdict.PASSED or summary.errors > 0


def _name(summary: BatchSummary) -> str:
    return truncate(printable(summary.scenario_id), _LONGEST_NAME)


def totals(summaries: Sequence[BatchSummary]) -> str:
    """Return the numbers of scenarios and runs by verdict and outcome, and the cost with that of the judges."""
    verdicts = Counter(summary.verdict for summary in summaries)
    scenarios = labels.verdict_counts({verdict: verdicts[verdict] for verdict in WORST_FIRST if verdicts[verdict]})
    outcomes = [
        (sum(summary.failed for summary in summaries), "failed"),
        (sum(summary.errors for summary in summaries), "could not be judged"),
        (sum(summary.without_result for summary in summaries), "without a result"),
        (sum(summary.pending for summary in summaries), "waiting for judges"),
        (sum(summary.passed for summary in summaries), "passed"),
    ]
    runs = ", ".join(f"{number} {word}" for number, word in outcomes if number)
    total = pluralize(sum(summary.runs for summary in summaries), "run")
    costs = [cost for item in summaries for cost in (item.cost, item.judge_cost, item.user_cost)]
    cost = labels.total(_sum(costs))
    return f"{pluralize(len(summaries), 'scenario')}: {scenarios}. {total}: {runs}. Cost: {cost}."


def _sum(costs: Sequence[Cost]) -> Cost:
    at_least = sum(cost.at_least for cost in costs)
    unknown = sum(cost.unknown for cost in costs)
    return Cost(None if unknown else at_least, at_least, None, 0.0, unknown)


def _counts(summary: BatchSummary) -> str:
    others = [
        (summary.errors, pluralize(summary.errors, "error")),
        (summary.without_result, f"{summary.without_result} without a result"),
        (summary.pending, f"{summary.pending} waiting for judges"),
    ]
    completed = [f"{summary.passed} of {pluralize(summary.completed, 'run')} passed"] if summary.completed else []
    return ", ".join([*completed, *(text for number, text in others if number)])


def _next_command(summary: BatchSummary) -> str:
    """Return the command that shows most about why a scenario did not pass."""
    commands = [*_commands(summary), f"salvo report {summary.batch_id}"]
    return commands[0]


def _commands(summary: BatchSummary) -> Iterator[str]:
    yield from (f"salvo replay {failure.run_id}" for failure in summary.failures if failure.recorded)
    yield from (f"salvo report {failure.run_id}" for failure in summary.failures)
    yield from (f"salvo report {group.run_ids[0]}" for group in summary.error_groups)
    if summary.without_result:
        yield labels.continue_command(summary.batch_id)
    if summary.pending:
        yield f"salvo collect {summary.batch_id}"
