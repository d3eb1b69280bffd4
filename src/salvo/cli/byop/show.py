"""`byop show`: a stored report, on the screen or as files."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.byop.signing_option import read_key, sealed, sign_option


@click.command
@click.argument("evaluation_id", metavar="ID")
@click.option(
    "-o",
    "--output",
    "outputs",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Write the report to FILE: .json, .html, .md or .xml (JUnit). May be given several times.",
    metavar="FILE",
)
@sign_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(evaluation_id: str, outputs: tuple[Path, ...], signing_key: Path | None, as_json: bool) -> None:
    """Show a stored report, and write it to files.

    The beginning of an ID is enough where only one begins so, and `latest` is the newest. Each file that is written
    is noted in the audit log. The store holds no signature: --sign makes one now.
    """
    import shutil

    from salvo.cli.byop.database import open_store
    from salvo.errors import UsageError
    from salvo.playbooks.report import export, terminal
    from salvo.playbooks.report.export import json

    for output in outputs:
        export.check(output)
    key = read_key(signing_key)
    with open_store() as store:
        stored = store.load(store.find(evaluation_id))
        if stored.report is None:
            raise UsageError(
                f"{stored.id} has no report: it is {stored.state}.", hint="See `byop history` for those that have one."
            )
        file = sealed(stored.report, key)
        if as_json:
            click.echo(json.render(file), nl=False)
        else:
            width = shutil.get_terminal_size().columns
            click.echo("\n".join(terminal.lines(stored.report, colour=True, width=width)))
        for output in outputs:
            store.record_export(stored.id, output.suffix[1:].lower(), export.write(output, file, stored.inputs))
