"""`byop playbooks`: the playbooks of the library, and those that are saved in the database."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

import click

from salvo.cli.byop.playbook_argument import find_playbook, saved_playbooks
from salvo.cli.lazy import LazyCommand, LazyGroup
from salvo.cli.output import echo, echo_json
from salvo.engine.text.terminal import table
from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.definition import Check, Playbook

WIDTH = 100


COMMANDS = {
    "diff": LazyCommand(
        "salvo.cli.byop.playbook_versions",
        "Show in words what changed between two versions of a saved playbook, by their numbers.",
    ),
    "save": LazyCommand(
        "salvo.cli.byop.playbook_versions", "Save a playbook file in the database, as the next version of its id."
    ),
    "show": LazyCommand("salvo.cli.byop.playbooks", "Show a playbook: its checks, and how each is decided."),
    "versions": LazyCommand(
        "salvo.cli.byop.playbook_versions",
        "List the versions of a saved playbook: who saved each when, and its logic hash.",
    ),
}


@click.group(cls=LazyGroup, lazy=COMMANDS, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def playbooks(context: click.Context, as_json: bool) -> None:
    """List the playbooks of the library and the saved ones, show one, or save one.

    Every report contains the logic hash of its playbook. The hash changes whenever the playbook changes, apart from its
    dates.
    """
    if context.invoked_subcommand:
        return
    rows = [_row(playbook) for playbook in (*map(library.load, library.names()), *saved_playbooks())]
    if as_json:
        echo_json(json.dumps(rows, indent=2))
        return
    header = [name.replace("_", " ").upper() for name in rows[0]]
    echo("\n".join(table(header, [[str(value) for value in row.values()] for row in rows])))


@click.command
@click.argument("name", metavar="ID|ID@NUMBER|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print the playbook's document.")
def show(name: str, as_json: bool) -> None:
    """Show a playbook: its checks, and how each is decided.

    ID@2 is the second version of a saved playbook; ID alone is the newest.
    """
    playbook = find_playbook(name)
    if as_json:
        echo_json(json.dumps(playbook.document, indent=2, ensure_ascii=False))
        return
    for line in _lines(playbook):
        echo(line)


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
        if check.needs_evidence_on_pass:
            yield from _labelled("evidence", "a pass quotes the AI output")


def _decided_by(check: Check) -> str:
    if check.derived:
        return "the results of the other checks, without the evaluator"
    if check.needs_judge:
        return "the evaluator"
    other = "pass" if check.on_match == "fail" else "fail"
    return f"its patterns: {check.on_match} if one matches, otherwise {other}"


def _labelled(label: str, value: Any) -> Iterator[str]:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    wrapped = textwrap.wrap(text, WIDTH - 17, break_on_hyphens=False)
    for index, line in enumerate(wrapped):
        yield f"   {'' if index else label:<13} {line}"
