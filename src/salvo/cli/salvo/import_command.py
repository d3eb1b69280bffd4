"""`salvo import`: make scenarios from the configurations of other tools."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo
from salvo.engine.runtime.files import write_document
from salvo.engine.text.formatting import pluralize
from salvo.errors import UsageError
from salvo.scenarios.promptfoo.convert import import_config


@click.group(name="import")
def import_group() -> None:
    """Make scenarios from the configurations of other tools."""


@import_group.command
@click.argument("config", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("scenarios"),
    show_default=True,
    help="The folder for the scenario file.",
)
@click.option("--name", metavar="NAME", help="The scenario's name. [default: from the configuration]")
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
def promptfoo(config: Path, folder: Path, name: str | None, force: bool) -> None:
    """Make a scenario from a promptfooconfig.yaml.

    Prompts and providers become a matrix, tests become cases, and assertions become those of Salvo. Everything that
    cannot be translated is listed with its line and left out, and the command exits with 3; the rest is written.
    Nothing is run, and no code is imported.
    """
    suite = import_config(config, name)
    files = {folder / file_name: text for file_name, text in suite.files().items()}
    # Links may come with the configuration of someone else, and lead anywhere. An absolute path is the user's own.
    folders = [] if folder.is_absolute() else [folder, *folder.parents]
    if links := [str(path) for path in (*files, *folders) if path.is_symlink()]:
        raise UsageError(
            f"{links[0]} is a link, so nothing is written there.", hint="Remove it, or choose another -o or --name."
        )
    if not force and (existing := [str(path) for path in files if path.exists()]):
        raise UsageError(f"{existing[0]} exists already.", hint="Choose another --name, or overwrite it with --force.")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        write_document(path, text.encode())
        echo(f"  created  {path}")
    for note in suite.notes.changed:
        echo(f"{note}")
    if suite.untranslated:
        echo(f"Left out, because Salvo has no counterpart ({pluralize(len(suite.untranslated), 'part')}):")
        for note in suite.untranslated:
            echo(f"  {note}")
        raise SystemExit(ExitCode.NOT_JUDGED)
    echo(f"Check it with: salvo validate {folder}")
