"""Results as files for other programs. The suffix decides the format.

.json   {"salvo_report": 1, "batches": [{...BatchSummary, "results": [AgentRunResult, ...]}, ...], "suite": {...},
         "grids": [Grid, ...]}  the grids if there are cells of cases or a matrix
.jsonl  a line per batch, each followed by a line per run:
        {"salvo_report": 1, "kind": "batch", ...BatchSummary}
        {"salvo_report": 1, "kind": "run", ...AgentRunResult}
.xml    JUnit
.md     Markdown, for a pull request
.html   one page, for people without Salvo

The fields are those of `analysis.summary.BatchSummary` and of `result.AgentRunResult`, as in `.salvo/runs/`. The
number in `salvo_report` changes when a field changes its meaning or is removed; fields may be added at any time. Shares
are from 0 to 1, money is in dollars, durations are in seconds, `interval` is [low, high]; null means unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import write_document
from salvo.scenarios.analysis.compare import ComparisonReport
from salvo.scenarios.analysis.grid import Grid, build_grids
from salvo.scenarios.analysis.suite import summarise_suite
from salvo.scenarios.analysis.summary import BatchSummary
from salvo.scenarios.analysis.tool_choices import has_tool_choices, tool_choices
from salvo.scenarios.report import comparison, html
from salvo.scenarios.report.formats import Suffix, checked_suffix
from salvo.scenarios.report.junit import as_xml
from salvo.scenarios.report.markdown import as_markdown
from salvo.scenarios.result import AgentRunResult, Batch

VERSION = 1


@dataclass(frozen=True)
class ExportContent:
    """What a file may contain: the batches of one command, their runs, and a comparison with a baseline."""

    summaries: Sequence[BatchSummary]
    results: Sequence[AgentRunResult] = ()
    comparison: ComparisonReport | None = None
    batches: Mapping[str, Batch] = field(default_factory=dict)
    """By id, as they are stored. Only HTML needs them."""

    @cached_property
    def runs(self) -> dict[str, list[AgentRunResult]]:
        """The results by batch id, ordered by number."""
        runs: dict[str, list[AgentRunResult]] = {summary.batch_id: [] for summary in self.summaries}
        for result in sorted(self.results, key=lambda run: run.number):
            if result.batch_id in runs:
                runs[result.batch_id].append(result)
        return runs


def write(path: Path, content: ExportContent) -> None:
    """Write the file; if that fails, an earlier file is unchanged. JSON and Markdown include the comparison."""
    write_document(path, _WRITERS[checked_suffix(path)](content).rstrip(b"\n") + b"\n")


def as_json(content: ExportContent, *, with_results: bool = True) -> bytes:
    """Return summaries as JSON, with the results and the comparison if there are any."""
    batches = [
        {**_fields(summary), **({"results": content.runs[summary.batch_id]} if with_results else {})}
        for summary in content.summaries
    ]
    more: dict[str, Any] = {}
    if content.comparison is not None:
        more["comparison"] = comparison.document(content.comparison)
    if with_results and len(content.summaries) > 1:
        more["suite"] = summarise_suite(content.summaries)
    if grids := build_grids(content.summaries):
        more["grids"] = [_fields(grid) for grid in grids]
    return json_codec.dumps({"salvo_report": VERSION, "batches": batches, **more}, indent=2)


def _as_jsonl(content: ExportContent) -> bytes:
    lines = []
    for summary in content.summaries:
        lines.append({"salvo_report": VERSION, "kind": "batch", **_fields(summary)})
        lines += [{"salvo_report": VERSION, "kind": "run", **dict(run)} for run in content.runs[summary.batch_id]]
    return b"\n".join(map(json_codec.dumps, lines))


def _as_markdown(content: ExportContent) -> bytes:
    report = content.comparison
    more = "" if report is None else f"\n\n### Compared with the baseline (A)\n\n{comparison.markdown(report)}"
    return as_markdown(content.summaries, content.results) + more.encode()


def _as_html(content: ExportContent) -> bytes:
    runs = {batch_id: html.first_runs(results) for batch_id, results in content.runs.items()}
    choices = {
        batch_id: tool_choices(results)
        for batch_id, results in content.runs.items()
        if has_tool_choices(content.batches[batch_id])
    }
    if len(content.summaries) == 1:
        [summary] = content.summaries
        batch_id = summary.batch_id
        return html.render(
            summary, content.batches[batch_id], runs[batch_id], choices=choices.get(batch_id, ())
        ).encode()
    return html.render_suite(content.summaries, content.batches, runs, choices).encode()


_Writer = Callable[[ExportContent], bytes]
_WRITERS: Mapping[Suffix, _Writer] = {
    ".json": as_json,
    ".jsonl": _as_jsonl,
    ".xml": lambda content: as_xml(content.summaries, content.results),
    ".md": _as_markdown,
    ".html": _as_html,
}


def _fields(summary: BatchSummary | Grid) -> dict[str, Any]:
    return {item.name: getattr(summary, item.name) for item in fields(summary)}
