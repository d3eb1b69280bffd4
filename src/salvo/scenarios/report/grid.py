"""A suite as a grid, on a terminal and as Markdown. Pure: the caller prints it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from salvo.engine.stats.pass_rates import Interval
from salvo.engine.text.formatting import at_least, at_most, first_lines, percent, pluralize, points, truncate
from salvo.engine.text.markdown import inline, markdown_table
from salvo.engine.text.terminal import Paint, table
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.analysis.compare import ALPHA
from salvo.scenarios.analysis.grid import Grid, GridCell, Standing, Variant, build_grids
from salvo.scenarios.analysis.summary import BatchSummary, BatchVerdict
from salvo.scenarios.report.headline import format_p
from salvo.scenarios.report.labels import RateLabels, verdict_counts

MOST_CELLS = 50
"""Cells that are listed one by one; those that did not pass come first."""
_NAME = 60
_MOST_NOTES = 5
_COLOURS = {"passed": "green", "failed": "red", "error": "yellow", "open": "yellow", "inconclusive": "yellow"}
_STANDING_COLOURS = {Standing.BEST: "green", Standing.WORSE: "red", Standing.NOT_COMPARED: "yellow"}
VARIANT_COLUMNS = ("VARIANT", "CELLS PASSED", "RUNS PASSED", "PASS-RATE", "SE", "95%", "COMPARED WITH THE BEST")
CELL_COLUMNS = ("BATCH", "CELL", "RUNS", "PASS-RATE", "95%", "ERRORS", "VERDICT")


def suite_lines(summaries: list[BatchSummary], *, colour: bool = False) -> tuple[set[str], list[list[str]]]:
    """Return the ids of the batches that are cells of a grid, and the lines of each grid."""
    grids = build_grids(summaries)
    batch_ids = {cell.batch_id for grid in grids for cell in grid.cells}
    return batch_ids, [grid_lines(grid, colour=colour) for grid in grids]


def grid_lines(grid: Grid, *, colour: bool = False) -> list[str]:
    """Return the variants, the mean of the suite, and the cells."""
    paint = Paint(colour)
    lines = [paint(headline(grid), bold=True), ""]
    if len(grid.variants) > 1:
        rows = [tuple(printable(value) for value in variant_row(variant, grid)) for variant in grid.variants]
        colours = [_STANDING_COLOURS.get(variant.standing) for variant in grid.variants]
        lines += [*table(VARIANT_COLUMNS, rows, paint, colours), ""]
    lines += [*notes(grid), ""]
    shown, hidden = split_cells(grid)
    rows_of_cells = [cell_row(cell) for cell in shown]
    lines += table(CELL_COLUMNS, rows_of_cells, paint, [_COLOURS.get(cell.verdict) for cell in shown])
    if hidden:
        lines.append(f"… and {hidden}")
    return [*lines, "", f"Show a cell: salvo report {grid.cells[0].batch_id}"]


def headline(grid: Grid, separator: str = "  ") -> str:
    """Return what the grid is about: its size, and how many cells have which verdict."""
    size = [pluralize(len(grid.cases), "case")] if grid.cases != [""] else []
    size += [pluralize(len(grid.variants), "variant")] if len(grid.variants) > 1 else []
    verdicts = verdict_counts({BatchVerdict(verdict): count for verdict, count in grid.verdicts.items()})
    parts = (printable(grid.suite), " × ".join(size), f"{pluralize(len(grid.cells), 'cell')}: {verdicts}")
    return separator.join(part for part in parts if part)


def sentence_headline(grid: Grid) -> str:
    """Return the headline where several spaces are shown as one."""
    return headline(grid, ", ")


def notes(grid: Grid) -> Iterator[str]:
    """Yield the mean of the suite, and how variants were compared."""
    if grid.pass_rate is None:
        completed = any(cell.completed for cell in grid.cells)
        reason = "every completed run was answered from a cache" if completed else "no run was completed"
        yield f"suite mean  unknown: {reason}"
    elif grid.standard_error is None or grid.interval is None:
        yield f"suite mean  {percent(grid.pass_rate)} (one case: no standard error)"
    else:
        yield (
            f"suite mean  {percent(grid.pass_rate)}, standard error {_points(grid.standard_error)} clustered by case, "
            f"95% interval {_interval(grid.interval)}"
        )
    yield from first_lines(list(_missing_cases(grid)), _MOST_NOTES)
    if len(grid.variants) > 1 and grid.pass_rate is not None and grid.variants[0].standing is not Standing.BEST:
        yield "No variant is called best: none was compared with every other one and is behind none of them."
    if any(variant.p_value is not None for variant in grid.variants):
        yield (
            "Variants are compared on these cases, case by case (exact Mantel-Haenszel test); p-values are corrected "
            f"for {pluralize(grid.pairs, 'pair')} of variants."
        )


def _missing_cases(grid: Grid) -> Iterator[str]:
    """Yield the variants whose pass rates are not about all cases."""
    cases = Counter(cell.variant for cell in grid.cells if cell.completed)
    for variant in grid.variants:
        number = cases[variant.name]
        if 0 < number < len(grid.cases):
            name = printable(truncate(variant.name or grid.suite, _NAME))
            completed = f"{name} has completed runs in {number} of {len(grid.cases)} cases"
            yield f"{completed}: its pass rate says nothing about the others."


def split_cells(grid: Grid) -> tuple[list[GridCell], str]:
    """Return the cells that are listed, and the others in words."""
    shown, rest = grid.cells[:MOST_CELLS], grid.cells[MOST_CELLS:]
    if not rest:
        return shown, ""
    counts = {verdict: sum(cell.verdict is verdict for cell in rest) for verdict in BatchVerdict}
    verdicts = verdict_counts({verdict: count for verdict, count in counts.items() if count})
    return shown, f"{pluralize(len(rest), 'other cell')}: {verdicts}"


def standing(variant: Variant, grid: Grid) -> str:
    """Return how a variant compares with the best one, with the p-value, and on how many cases if not on all."""
    details = []
    if variant.difference is not None and variant.p_value is not None:
        details = [f"{points(variant.difference)} points", format_p(variant.p_value, ALPHA)]
    if 0 < variant.compared_cases < len(grid.cases):
        details.append(f"on {variant.compared_cases} of {pluralize(len(grid.cases), 'case')}")
    return f"{variant.standing} ({', '.join(details)})" if details else variant.standing


def variant_row(variant: Variant, grid: Grid) -> tuple[str, ...]:
    """Return the values under VARIANT_COLUMNS."""
    return (
        truncate(variant.name, _NAME),
        f"{variant.cells_passed}/{variant.cells}",
        f"{variant.passed}/{variant.completed}",
        "unknown" if variant.pass_rate is None else percent(variant.pass_rate),
        "" if variant.standard_error is None else _points(variant.standard_error),
        "" if variant.interval is None else _interval(variant.interval),
        standing(variant, grid),
    )


def cell_row(cell: GridCell) -> tuple[str, ...]:
    """Return the values under CELL_COLUMNS."""
    return (
        cell.batch_id,
        truncate(printable(cell.scenario_id), _NAME),
        f"{cell.completed}/{cell.runs}",
        "" if cell.pass_rate is None else percent(cell.pass_rate),
        _interval(cell.interval) if cell.completed else "",
        str(cell.errors or ""),
        cell.verdict,
    )


def grid_markdown(grid: Grid) -> Iterator[str]:
    """Yield the blocks of a grid as Markdown."""
    yield f"### {inline(sentence_headline(grid))}"
    if len(grid.variants) > 1:
        columns = [column.lower() for column in VARIANT_COLUMNS]
        rows = [[inline(value) for value in variant_row(item, grid)] for item in grid.variants]
        yield markdown_table(columns, rows)
    yield "  \n".join(map(inline, notes(grid)))
    shown, hidden = split_cells(grid)
    columns = [column.lower() for column in CELL_COLUMNS]
    yield markdown_table(columns, [[inline(value) for value in cell_row(cell)] for cell in shown])
    if hidden:
        yield f"… and {hidden}"


def grid_rate_labels(item: Variant | GridCell) -> RateLabels:
    """Return the texts of a pass rate and its interval for the page. A grid shows no minimum."""
    rate = "unknown" if item.pass_rate is None else percent(item.pass_rate)
    return RateLabels(rate, "" if item.interval is None else _interval(item.interval), "")


def _points(share: float) -> str:
    return f"{share * 100:.1f} points"


def _interval(interval: Interval) -> str:
    return f"{at_least(interval.low)} to {at_most(interval.high)}"
