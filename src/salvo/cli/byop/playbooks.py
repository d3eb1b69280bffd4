"""`byop playbooks`: what can be evaluated by, and what exactly is in it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from salvo.playbooks.playbook.schema import Check, Playbook

WIDTH = 100


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def playbooks(ctx: click.Context, as_json: bool) -> None:
    """List the playbooks of the library, or show one.

    The logic hash stands in every report: it is the same as long as the playbook is, apart from its dates.
    """
    if ctx.invoked_subcommand:
        return
    from salvo.engine.text.terminal import table
    from salvo.playbooks.playbook import library

    rows = [_row(library.load(name)) for name in library.names()]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    header = [name.replace("_", " ").upper() for name in rows[0]]
    click.echo("\n".join(table(header, [[*map(str, row.values())] for row in rows])))


@playbooks.command
@click.argument("playbook", metavar="ID|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print the playbook's document.")
def show(playbook: str, as_json: bool) -> None:
    """Show a playbook: its checks, and how each is decided."""
    from salvo.engine.text.unicode_escape import printable
    from salvo.playbooks.playbook import library

    found = library.find(playbook)
    if as_json:
        click.echo(json.dumps(found.document, indent=2, ensure_ascii=False))
        return
    for line in _lines(found):
        click.echo(printable(line, multiline=True))


def _row(playbook: Playbook) -> dict[str, Any]:
    return {
        "id": playbook.id,
        "version": playbook.version,
        "checks": len(playbook.checks),
        "logic_hash": playbook.logic_hash,
    }


def _lines(playbook: Playbook) -> Iterator[str]:
    variance, metadata = playbook.variance, playbook.document["metadata"]
    yield f"{playbook.id} {playbook.version}"
    for name in ("author", "credit", "jurisdiction", "intended_use"):
        yield from _labelled(name.replace("_", " "), metadata.get(name))
    yield from _labelled("logic hash", playbook.logic_hash)
    yield from _labelled("runs", f"at least {variance.min_runs}, {variance.aggregation}")
    yield from _labelled("consistency", f"stable from {variance.ok:g}, not reliable below {variance.warn:g}")
    for number, check in enumerate(playbook.checks, start=1):
        yield ""
        yield f"{number}. {check.id} ({check.severity}, {check.type})"
        yield from _labelled("question", check.question)
        yield from _labelled("decided by", _decided_by(check))
        yield from _labelled("instructions", check.instructions)
        yield from _labelled("patterns", "  ".join(check.patterns))
        if check.min_citations_per_fail:
            times = "once" if check.min_citations_per_fail == 1 else f"{check.min_citations_per_fail} times"
            yield from _labelled("evidence", f"a fail quotes the AI output at least {times}")


def _decided_by(check: Check) -> str:
    if check.derived:
        return "the results of the other checks; no evaluator is asked"
    if check.needs_judge:
        return "the evaluator"
    other = "pass" if check.on_match == "fail" else "fail"
    return f"its patterns: {check.on_match} where one occurs, else {other}"


def _labelled(label: str, value: Any) -> Iterator[str]:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    wrapped = textwrap.wrap(text, WIDTH - 17, break_on_hyphens=False)
    for place, line in enumerate(wrapped):
        yield f"   {'' if place else label:<13} {line}"
