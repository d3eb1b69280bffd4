"""`salvo choices`: which tools a model chose for which prompt."""

from __future__ import annotations

from collections.abc import Sequence

import click

from salvo.cli.output import echo, echo_json
from salvo.cli.salvo.store_option import store_option
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import pluralize, truncate
from salvo.engine.text.terminal import Paint, table
from salvo.errors import NothingFoundError
from salvo.scenarios.analysis.tool_choices import PromptChoices, tool_choices
from salvo.scenarios.report.tool_choices import COLUMNS, ToolChoiceRow, choice_row, notes
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.ids import LATEST
from salvo.scenarios.store.location import open_store

_PROMPT_LENGTH = 60


@click.command
@click.argument("batch_id", metavar="BATCH", default=LATEST)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def choices(batch_id: str, as_json: bool, store_address: str | None) -> None:
    """Show which tools a model chose for which prompt, over all runs of a batch.

    BATCH is a batch of a scenario with `adapter: mcp` and prompts; without one, the newest batch. Each row has a
    prompt, the tool that is right for it, in how many runs it was chosen, the exact 95% interval of that rate, and all
    tools that were chosen. A star marks decoys: tools that no MCP server of the scenario has. Two stars mark tools
    that were not offered: the model invented them.
    """
    store = open_store(Project.find(store_address=store_address))
    batch_id = store.find_batch(batch_id)
    rows = tool_choices(store.load_runs(batch_id))
    if not rows:
        raise NothingFoundError(
            f"The batch {batch_id} has no choices of tools.",
            hint="A scenario with `adapter: mcp` makes them for its adapter_options.prompts.",
        )
    if as_json:
        echo_json(json_codec.dumps({"batch_id": batch_id, "prompts": [_document(row) for row in rows]}, indent=2))
        return
    echo("\n".join(_lines(batch_id, list(map(choice_row, rows)))))


def _lines(batch_id: str, rows: Sequence[ToolChoiceRow]) -> list[str]:
    cells = [(truncate(row.prompt, _PROMPT_LENGTH), *row.values[1:]) for row in rows]
    colours = [None if row.right == row.runs else "red" for row in rows]
    lines = table([column.lower() for column in COLUMNS], cells, Paint(True), colours)
    return [f"Batch {batch_id}, {pluralize(len(rows), 'prompt')}", "", *lines, *notes(rows)]


def _document(row: PromptChoices) -> dict[str, object]:
    return {
        "prompt": row.prompt,
        "expected": row.expected,
        "right": row.right,
        "runs": row.runs,
        "interval": list(row.interval),
        "chosen": dict(row.chosen),
        "decoys": sorted(row.decoys),
        "unoffered": sorted(row.unoffered),
    }
