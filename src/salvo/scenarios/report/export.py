"""Results as files for other programs. The suffix decides the format.

.json   {"salvo_report": 1, "batches": [{...BatchSummary, "results": [AgentRunResult, ...]}, ...], "suite": {...}}
.jsonl  a line per batch, each followed by a line per run:
        {"salvo_report": 1, "kind": "batch", ...BatchSummary}
        {"salvo_report": 1, "kind": "run", ...AgentRunResult}
.xml    JUnit
.md     Markdown, for a pull request

The fields are those of `analysis.summary.BatchSummary` and of `result.AgentRunResult`, as in `.salvo/runs/`. The
number in `salvo_report` changes when a field changes its meaning or is removed; fields may be added at any time. Shares
are from 0 to 1, money is in dollars, durations are in seconds, `interval` is [low, high]; null means unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import write_document
from salvo.errors import UsageError
from salvo.scenarios.analysis.compare import ComparisonReport
from salvo.scenarios.analysis.suite import summarise_suite
from salvo.scenarios.analysis.summary import BatchSummary
from salvo.scenarios.report import comparison
from salvo.scenarios.report.junit import as_xml
from salvo.scenarios.report.markdown import as_markdown
from salvo.scenarios.result import AgentRunResult

VERSION = 1


def write(
    path: Path,
    summaries: Sequence[BatchSummary],
    results: Sequence[AgentRunResult],
    report: ComparisonReport | None = None,
) -> None:
    """Write the file; if that fails, an earlier file is unchanged. JSON and Markdown include the comparison."""
    write_document(path, _writer(path)(summaries, results, report) + b"\n")


def check(path: Path) -> None:
    """Raise a UsageError if the suffix is unknown. Call this before anything is paid for."""
    _writer(path)


def as_json(
    summaries: Sequence[BatchSummary],
    results: Sequence[AgentRunResult] | None = None,
    report: ComparisonReport | None = None,
) -> bytes:
    """Return summaries as JSON, with the results and the comparison if there are any."""
    batches = [
        {**_fields(summary), **({} if results is None else {"results": _batch_results(summary, results)})}
        for summary in summaries
    ]
    more: dict[str, Any] = {} if report is None else {"comparison": comparison.document(report)}
    if results is not None and len(summaries) > 1:
        more["suite"] = summarise_suite(summaries)
    return json_codec.dumps({"salvo_report": VERSION, "batches": batches, **more}, indent=2)


def as_jsonl(summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult]) -> bytes:
    lines = []
    for summary in summaries:
        lines.append({"salvo_report": VERSION, "kind": "batch", **_fields(summary)})
        lines += [
            {"salvo_report": VERSION, "kind": "run", **dict(result)} for result in _batch_results(summary, results)
        ]
    return b"\n".join(map(json_codec.dumps, lines))


def _markdown(
    summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult], report: ComparisonReport | None
) -> bytes:
    more = "" if report is None else f"\n\n### Compared with the baseline (A)\n\n{comparison.markdown(report)}"
    return as_markdown(summaries, results) + more.encode()


_Writer = Callable[[Sequence[BatchSummary], Sequence[AgentRunResult], ComparisonReport | None], bytes]
_WRITERS: dict[str, _Writer] = {
    ".json": as_json,
    ".jsonl": lambda summaries, results, _: as_jsonl(summaries, results),
    ".xml": lambda summaries, results, _: as_xml(summaries, results),
    ".md": _markdown,
}


def _writer(path: Path) -> _Writer:
    try:
        return _WRITERS[path.suffix.lower()]
    except KeyError:
        raise UsageError(
            f"The suffix of {path} is not that of a known format.",
            hint="Use one of .json, .jsonl, .xml (JUnit), .md.",
        ) from None


def _batch_results(summary: BatchSummary, results: Sequence[AgentRunResult]) -> list[AgentRunResult]:
    return sorted((run for run in results if run.batch_id == summary.batch_id), key=lambda run: run.number)


def _fields(summary: BatchSummary) -> dict[str, Any]:
    return {field.name: getattr(summary, field.name) for field in fields(summary)}
