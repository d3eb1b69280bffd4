"""`salvo cache`: the replies that `salvo run --cache` keeps."""

from __future__ import annotations

import click

from salvo.cli.output import echo
from salvo.engine.text.formatting import pluralize
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.reply_cache import open_cache
from salvo.scenarios.store.store import RunStore


@click.command
@click.argument("action", type=click.Choice(["show", "clear"]), default="show")
def cache(action: str) -> None:
    """Show or clear the replies that `salvo run --cache` keeps.

    `salvo cache` shows how many there are in .salvo/cache/replies, and `salvo cache clear` removes them. No run and no
    recording is changed. When there is more than 1 GB, the next `salvo run --cache` removes the oldest.
    """
    replies = open_cache(RunStore(Project.find().store))
    if action == "clear":
        echo(f"{pluralize(replies.clear(), 'reply', 'replies')} removed.")
        return
    count, size = replies.size()
    echo(f"{pluralize(count, 'reply', 'replies')}, {size:,} bytes, in {replies.folder}")
