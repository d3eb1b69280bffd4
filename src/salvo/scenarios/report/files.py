"""Results as files for other programs. The suffix decides the format.

.json   {"salvo_report": 1, "batches": [{...BatchSummary, "results": [AgentRunResult, ...]}, ...]}
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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import write_document
from salvo.errors import UsageError
from salvo.scenarios.analysis.compare import ComparisonReport
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
    content = _writer(path)(summaries, results, report)
    write_document(path, content + b"\n")


def check(path: Path) -> None:
    """Raise a UsageError if the suffix is unknown. Call this before anything is paid for."""
    _writer(path)


def as_json(summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult] | None = None, **more: Any) -> bytes:
    """Return summaries as JSON, with results if there are any. `more` are further fields of the document."""
    batches = []
    for summary in summaries:
        batch = _fields(summary)
        if results is not None:
            batch["results"] = _batch_results(summary, results)
        batches.append(batch)
    return json_codec.dumps({"salvo_report": VERSION, "batches": batches, **more}, indent=2)


def as_jsonl(summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult]) -> bytes:
    return b"\n".join(json_codec.dumps(line) for line in _lines(summaries, results))


def _lines(summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult]) -> Iterator[dict[str, Any]]:
    for summary in summaries:
        yield {"salvo_report": VERSION, "kind": "batch", **_fields(summary)}
        for result in _batch_results(summary, results):
            yield {"salvo_report": VERSION, "kind": "run", **_fields(result)}


def _json(
    summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult], report: ComparisonReport | None
) -> bytes:
    more = {} if report is None else {"comparison": comparison.document(report)}
    return as_json(summaries, results, **more)


def _markdown(
    summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult], report: ComparisonReport | None
) -> bytes:
    more = "" if report is None else f"\n\n### Compared with the baseline (A)\n\n{comparison.markdown(report)}"
    return as_markdown(summaries, results) + more.encode()


_Writer = Callable[[Sequence[BatchSummary], Sequence[AgentRunResult], ComparisonReport | None], bytes]
_WRITERS: dict[str, _Writer] = {
    ".json": _json,
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


def _fields(item: BatchSummary | AgentRunResult) -> dict[str, Any]:
    if isinstance(item, AgentRunResult):
        return dict(item)
    return {field.name: getattr(item, field.name) for field in fields(item)}
