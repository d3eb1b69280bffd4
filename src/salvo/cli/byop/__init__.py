"""The command `byop`."""

from __future__ import annotations

import click

from salvo import __version__
from salvo.cli.lazy import LazyCommand, LazyGroup

COMMANDS = {
    "run": LazyCommand("salvo.cli.byop.run", "Evaluate a frozen AI output with a playbook."),
    "collect": LazyCommand("salvo.cli.byop.collect", "Complete evaluations that `byop run --batch-api` started."),
    "serve": LazyCommand("salvo.cli.byop.serve", "Serve the web page and its API, on this machine only."),
    "history": LazyCommand("salvo.cli.byop.history", "List stored evaluations, newest first."),
    "batch": LazyCommand(
        "salvo.cli.byop.batch",
        "Show documents that were evaluated together: their matrix, or the list of such batches.",
    ),
    "show": LazyCommand("salvo.cli.byop.show", "Show a stored report, and write it to files."),
    "review": LazyCommand(
        "salvo.cli.byop.review", "Review a report: accept, override, comment, assign, sign off; or list what waits."
    ),
    "share": LazyCommand("salvo.cli.byop.share", "Share a report by a link that expires; list and revoke its links."),
    "compare": LazyCommand(
        "salvo.cli.byop.compare",
        "Compare two reports: what changed, and whether the text or the judge changed.",
    ),
    "baseline": LazyCommand("salvo.cli.byop.baseline", "Choose the reports that later ones are compared with."),
    "drift": LazyCommand("salvo.cli.byop.drift", "Show the reports of a subject over time."),
    "judge": LazyCommand("salvo.cli.byop.judge", "Judge a stored text again, to measure how consistent the judge is."),
    "replay": LazyCommand("salvo.cli.byop.replay", "Run an evaluation again from its recorded calls."),
    "verify": LazyCommand("salvo.cli.byop.verify", "Check whether a report was altered."),
    "audit": LazyCommand(
        "salvo.cli.byop.audit", "Show the audit log: every evaluation, review, baseline, export and deletion."
    ),
    "delete": LazyCommand("salvo.cli.byop.delete", "Delete a stored evaluation: its texts, votes and report."),
    "purge": LazyCommand("salvo.cli.byop.purge", "Erase the evaluations that are older than a number of days."),
    "user": LazyCommand("salvo.cli.byop.user", "Add, change and list the users who may log in to `byop serve`."),
    "keys": LazyCommand(
        "salvo.cli.byop.keys", "Create, replace and revoke the key that signs reports and the audit log."
    ),
    "playbooks": LazyCommand(
        "salvo.cli.byop.playbooks", "List the playbooks of the library and the saved ones, show one, or save one."
    ),
    "validate": LazyCommand("salvo.cli.byop.validate", "Check a playbook file, without calling a model."),
    "schema": LazyCommand("salvo.cli.byop.schema", "Print the JSON Schema of a playbook or of a report."),
    "models": LazyCommand("salvo.cli.models", "List models: what they accept and cost, and which keys are set."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
@click.version_option(__version__, prog_name="byop")
def byop() -> None:
    """Bring Your Own Playbook: evaluate a frozen AI output with a playbook of checks. Not legal advice."""
