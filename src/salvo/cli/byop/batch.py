"""`byop batch`: the documents that were evaluated together, as a matrix."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.byop.database import open_for_listing
from salvo.cli.output import echo, echo_json
from salvo.cli.output_options import output_option
from salvo.engine.text.formatting import truncate
from salvo.engine.text.terminal import table
from salvo.engine.text.unicode_escape import printable
from salvo.errors import NothingFoundError, UnknownIdError
from salvo.playbooks.documents import matrix_files, terminal
from salvo.playbooks.documents.batch_store import BatchEntry

_LIMIT = 20


@click.command
@click.argument("batch_id", metavar="[ID]", required=False)
@output_option("Write the matrix to FILE: .csv, .json or .html. May be given several times.", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def batch(batch_id: str | None, outputs: tuple[Path, ...], as_json: bool) -> None:
    """Show documents that were evaluated together: their matrix, or the list of such batches.

    ID is that of a batch, a prefix of it, or `latest`. Without it, the newest batches are listed.
    """
    for output in outputs:
        matrix_files.check(output)
    with open_for_listing() as store:
        if batch_id is None and not outputs and not as_json:
            batches = store.batches.page(limit=_LIMIT)
            if not batches.entries:
                raise NothingFoundError(
                    "No documents were evaluated together yet.", hint="Start with `byop run FOLDER`."
                )
            header = ("ID", "WHEN", "DOCUMENTS", "REPORTS", "SUBJECT", "NAME")
            echo("\n".join(table(header, [_cells(entry) for entry in batches.entries])))
            return
        is_latest = batch_id in (None, "latest")
        identifier = store.batches.latest() if is_latest else store.batches.find(batch_id or "")
        if identifier is None:
            raise UnknownIdError(f"There is no batch {batch_id or ''}.", hint="`byop batch` lists them.")
        matrix = store.batches.matrix(identifier)
    if as_json:
        echo_json(matrix_files.render_json(matrix))
    else:
        echo("\n".join(terminal.lines(matrix, colour=True)))
    for output in outputs:
        matrix_files.write_matrix(output, matrix)
        echo(f"Written: {output}", err=True)


def _cells(entry: BatchEntry) -> tuple[str, ...]:
    subject, title = (truncate(printable(name), 40) for name in (entry.subject, entry.title))
    return entry.id, entry.created_at[:19] + "Z", str(entry.planned), str(entry.reports), subject, title
