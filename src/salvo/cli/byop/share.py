"""`byop share`: links that show one report of `byop serve` until they expire."""

from __future__ import annotations

from dataclasses import asdict

import click

from salvo.cli.byop.database import open_store
from salvo.cli.output import echo, echo_json
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import truncate
from salvo.engine.text.terminal import table
from salvo.engine.text.unicode_escape import printable
from salvo.errors import NothingFoundError, UsageError
from salvo.playbooks.store.share_links import DEFAULT_DAYS, MAX_DAYS, MAX_NOTE_LENGTH, ShareLink

_DEFAULT_SERVER = "http://127.0.0.1:8642"


@click.command
@click.argument("report_id", metavar="ID")
@click.option(
    "--days", type=click.IntRange(1, MAX_DAYS), default=DEFAULT_DAYS, show_default=True, help="How long it works."
)
@click.option("--note", default="", help="For the list of links, such as for whom it is. The link does not show it.")
@click.option(
    "--server",
    metavar="URL",
    default=_DEFAULT_SERVER,
    show_default=True,
    help="The address of `byop serve` as its readers reach it.",
)
@click.option("--list", "list_links", is_flag=True, help="List the links to the report instead.")
@click.option("--revoke", metavar="LINK", help="Let the link with this id no longer work.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def share(
    report_id: str, days: int, note: str, server: str, list_links: bool, revoke: str | None, as_json: bool
) -> None:
    """Share a report by a link that expires; list and revoke its links.

    Anybody who has the link can open it. It shows this one report of a running `byop serve`, read-only, with its
    exports and its text if that is stored. The link is printed once: only a hash of it is stored. The audit log records
    who made it, when it was first opened, its exports and its revocation.

    ID is a report's id, a prefix of it, or `latest`.
    """
    if list_links and revoke is not None:
        raise UsageError("--list and --revoke exclude each other.")
    if len(note) > MAX_NOTE_LENGTH:
        raise UsageError(f"The note has more than {MAX_NOTE_LENGTH} characters.")
    with open_store() as store:
        full_id = store.find(report_id)
        if list_links:
            _print_list(store.share_links.of_report(full_id), full_id, as_json=as_json)
            return
        if revoke is not None:
            link = store.share_links.revoke(full_id, revoke)
            if as_json:
                echo_json(json_codec.dumps(asdict(link), indent=2))
            else:
                echo(f"The link {link.id} no longer works.")
            return
        created = store.share_links.create(full_id, days=days, note=note)
    address = server.rstrip("/") + created.path
    if as_json:
        echo_json(json_codec.dumps({**asdict(created.link), "address": address}, indent=2))
        return
    echo(address)
    echo(f"Works until {created.link.expires_at[:19]}Z. It is shown this once; its id is {created.link.id}.", err=True)
    if server == _DEFAULT_SERVER:
        echo("Others cannot reach this address: name the server as they do with --server.", err=True)


def _print_list(links: list[ShareLink], report_id: str, *, as_json: bool) -> None:
    if as_json:
        echo_json(json_codec.dumps([asdict(link) for link in links], indent=2))
        return
    if not links:
        raise NothingFoundError(
            f"The report {report_id} has no share links.", hint=f"`byop share {report_id}` makes one."
        )
    header = ("LINK", "STATE", "MADE BY", "MADE", "UNTIL", "LAST OPENED", "NOTE")
    rows = [
        (
            link.id,
            link.state,
            truncate(printable(link.created_by), 30) + ("" if link.authenticated else " (system user)"),
            _minute(link.created_at),
            _minute(link.expires_at),
            "never" if link.last_opened_at is None else _minute(link.last_opened_at),
            truncate(printable(link.note), 40),
        )
        for link in links
    ]
    echo("\n".join(table(header, rows)))


def _minute(time: str) -> str:
    return time[:16] + "Z"
