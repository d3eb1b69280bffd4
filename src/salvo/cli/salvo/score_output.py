"""What `salvo score` and `salvo collect` print and write of scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from salvo.cli.output import echo, echo_json
from salvo.engine.text.formatting import pluralize
from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.report import export, score_report
from salvo.scenarios.result import Batch, SkippedRun
from salvo.scenarios.store.score_store import ScoreStore, Scoring
from salvo.scenarios.store.store import RunStore


def show_scoring(
    store: RunStore,
    scoring: Scoring,
    batch: Batch,
    skipped: Mapping[int, SkippedRun],
    outputs: tuple[Path, ...],
    *,
    as_json: bool,
) -> BatchSummary:
    """Print the table or JSON, and write the files. The runs that were scored before a --resume are included."""
    scores, score_id = ScoreStore(store), scoring.score_id
    entries = scores.load_entries(score_id)
    if entries.skipped:
        count = pluralize(entries.skipped, "score")
        echo(f"{count} cannot be read: look for damaged files in {store.storage.describe('scores')}.", err=True)
    scored = scoring.as_batch(batch)
    summary = summarise(scored, entries, skipped)
    if as_json or outputs:
        # Full results are read only now: there may be very many.
        results = [scores.load_run(score_id, entry.run_id) for entry in entries]
        content = export.ExportContent([summary], results, batches={scored.batch_id: scored})
        for output in outputs:
            export.write(output, content)
        if as_json:
            echo_json(export.as_json(content))
    if not as_json:
        echo("\n".join(score_report.table(scoring, summary, store.batch_entries(batch), entries)))
        echo(f"Stored as {score_id}, which `salvo report` and `salvo compare` take.")
    return summary
