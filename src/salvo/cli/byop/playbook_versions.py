"""`byop playbooks save`, `versions` and `diff`: playbooks in the database. Listing the library loads none of it."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.byop.database import open_for_listing, open_store
from salvo.cli.output import echo, echo_json
from salvo.cli.param_types import FILE_PATH
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import read_up_to
from salvo.engine.text.terminal import table
from salvo.engine.text.unicode_escape import printable
from salvo.playbooks.playbook.changes import changes, effect, sentence
from salvo.playbooks.playbook.document import LARGEST
from salvo.playbooks.playbook.validate import read


@click.command
@click.argument("file", type=FILE_PATH)
@click.option("--by", required=True, metavar="NAME", help="Who saves it.")
@click.option("--note", default="", help="What was changed.")
def save(file: Path, by: str, note: str) -> None:
    """Save a playbook file in the database, as the next version of its id.

    Saved playbooks are listed and used by their id, here and on the page. Earlier versions stay as they are.
    """
    playbook = read(read_up_to(file, LARGEST), str(file))
    with open_store(make=True) as store:
        versions = store.saved_playbooks.versions(playbook.id)
        newest = versions[-1].number if versions else None
        saved = store.saved_playbooks.save(playbook, saved_by=by, note=note, based_on=newest)
    echo(f"Saved {playbook.id} {playbook.version} as version {saved.number}. Use it with --playbook {playbook.id}.")


@click.command
@click.argument("playbook_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def versions(playbook_id: str, as_json: bool) -> None:
    """List the versions of a saved playbook: who saved each when, and its logic hash."""
    with open_for_listing() as store:
        saved = store.saved_playbooks.versions(playbook_id) or [store.saved_playbooks.load(playbook_id).saved]
    if as_json:
        echo_json(json_codec.dumps(saved, indent=2))
        return
    header = ("NUMBER", "VERSION", "SAVED", "BY", "LOGIC HASH", "NOTE")
    rows = [
        (str(row.number), row.version, f"{row.saved_at[:19]}Z", row.saved_by, row.logic_hash, row.note) for row in saved
    ]
    echo("\n".join(table(header, [tuple(map(printable, row)) for row in rows])))


@click.command
@click.argument("playbook_id", metavar="ID")
@click.argument("before", type=click.IntRange(min=1))
@click.argument("after", type=click.IntRange(min=1))
def diff(playbook_id: str, before: int, after: int) -> None:
    """Show in words what changed between two versions of a saved playbook, by their numbers."""
    with open_for_listing() as store:
        earlier, later = (store.saved_playbooks.load(playbook_id, number) for number in (before, after))
    playbook_changes = changes(earlier.document, later.document)
    for change in playbook_changes:
        echo(printable(sentence(change), multiline=True))
    echo(effect(playbook_changes))
