"""`salvo cache`: the replies that `salvo run --cache` keeps."""

from __future__ import annotations

import click

from salvo.cli.output import echo
from salvo.cli.salvo.store_option import store_option
from salvo.engine.text.formatting import pluralize
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.reply_cache import open_cache


@click.command
@click.argument("action", type=click.Choice(["show", "clear"]), default="show")
@store_option
def cache(action: str, store_address: str | None) -> None:
    """Show or clear the replies that `salvo run --cache` keeps.

    `salvo cache` shows how many there are in .salvo/cache/replies, and `salvo cache clear` removes them. No run and no
    recording is changed. When there is more than 1 GB, the next `salvo run --cache` removes the oldest.
    """
    replies = open_cache(open_store(Project.find(store_address=store_address)))
    if action == "clear":
        echo(f"{pluralize(replies.clear(), 'reply', 'replies')} removed.")
        return
    count, size = replies.size()
    echo(f"{pluralize(count, 'reply', 'replies')}, {size:,} bytes, in {replies.folder}")
