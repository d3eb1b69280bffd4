"""Results as files for other programs, by their suffix.

.json   {"salvo_report": 1, "batches": [{...BatchSummary, "results": [AgentRunResult, ...]}, ...]}
.jsonl  a line for each batch, followed by a line for each of its runs:
        {"salvo_report": 1, "kind": "batch", ...BatchSummary}
        {"salvo_report": 1, "kind": "run", ...AgentRunResult}
.xml    JUnit
.md     Markdown, for a pull request

The fields are those of `report.data.BatchSummary` and of `result.AgentRunResult`, as in `.salvo/runs/`. The number in
`salvo_report` changes when a field changes its meaning or goes away; new fields may come at any time. Shares are from
0 to 1, money in dollars, durations in seconds, `interval` is [low, high]; null means that it is not known.
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
    compared: ComparisonReport | None = None,
) -> None:
    """The whole document or, if that fails, what was there before. JSON and Markdown tell the comparison as well."""
    content = _writer(path)(summaries, results, compared)
    write_document(path, content + b"\n")


def check(path: Path) -> None:
    """UsageError where the suffix is none we write: to be asked before anything is paid for."""
    _writer(path)


def as_json(summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult] | None = None, **more: Any) -> bytes:
    """Without results, the summaries alone. `more` stands beside them."""
    batches = []
    for summary in summaries:
        batch = _fields(summary)
        if results is not None:
            batch["results"] = _of(summary, results)
        batches.append(batch)
    return json_codec.dumps({"salvo_report": VERSION, "batches": batches, **more}, indent=2)


def as_jsonl(summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult]) -> bytes:
    return b"\n".join(json_codec.dumps(line) for line in _lines(summaries, results))


def _lines(summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult]) -> Iterator[dict[str, Any]]:
    for summary in summaries:
        yield {"salvo_report": VERSION, "kind": "batch", **_fields(summary)}
        for result in _of(summary, results):
            yield {"salvo_report": VERSION, "kind": "run", **_fields(result)}


def _json(
    summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult], compared: ComparisonReport | None
) -> bytes:
    more = {} if compared is None else {"comparison": comparison.document(compared)}
    return as_json(summaries, results, **more)


def _markdown(
    summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult], compared: ComparisonReport | None
) -> bytes:
    more = "" if compared is None else f"\n\n### Against the baseline (A)\n\n{comparison.markdown(compared)}"
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
            f"What to write into {path} is not known from its suffix.",
            hint="Use one of .json, .jsonl, .xml (JUnit), .md.",
        ) from None


def _of(summary: BatchSummary, results: Sequence[AgentRunResult]) -> list[AgentRunResult]:
    return sorted((run for run in results if run.batch_id == summary.batch_id), key=lambda run: run.number)


def _fields(of: BatchSummary | AgentRunResult) -> dict[str, Any]:
    return {part.name: getattr(of, part.name) for part in fields(of)}
