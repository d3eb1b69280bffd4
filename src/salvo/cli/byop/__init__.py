"""The command `byop`."""

from __future__ import annotations

import click

from salvo import __version__
from salvo.cli.lazy import Lazy, LazyGroup

COMMANDS = {
    "run": Lazy("salvo.cli.byop.run:run", "Evaluate a frozen AI output with a playbook."),
    "serve": Lazy("salvo.cli.byop.serve:serve", "Serve the web page and its API, on this machine alone."),
    "history": Lazy("salvo.cli.byop.history:history", "List stored evaluations, the newest first."),
    "show": Lazy("salvo.cli.byop.show:show", "Show a stored report, and write it to files."),
    "compare": Lazy("salvo.cli.byop.compare:compare", "Compare two reports: what changed, and who changed it."),
    "baseline": Lazy("salvo.cli.byop.baseline:baseline", "Say which reports later ones are compared with."),
    "drift": Lazy("salvo.cli.byop.drift:drift", "Show the reports of a subject over time."),
    "judge": Lazy(
        "salvo.cli.byop.judge:judge", "Judge a stored text again, to see how far the judge agrees with itself."
    ),
    "replay": Lazy("salvo.cli.byop.replay:replay", "Run an evaluation again from its recorded calls."),
    "verify": Lazy("salvo.cli.byop.verify:verify", "Say what holds of a report, and what was altered."),
    "audit": Lazy("salvo.cli.byop.audit:audit", "Show the audit log: every evaluation, baseline, export and deletion."),
    "delete": Lazy("salvo.cli.byop.delete:delete", "Delete a stored evaluation: its texts, votes and report."),
    "keys": Lazy("salvo.cli.byop.keys:keys", "Make a key to sign reports with, and show its public half."),
    "playbooks": Lazy("salvo.cli.byop.playbooks:playbooks", "List the playbooks of the library, or show one."),
    "validate": Lazy("salvo.cli.byop.validate:validate", "Check a playbook's file, without any call."),
    "schema": Lazy("salvo.cli.byop.schema:schema", "Print the JSON Schema of a playbook or of a report."),
    "models": Lazy("salvo.cli.models:models", "List models: what they accept and cost, and which keys are set."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
@click.version_option(__version__, prog_name="byop")
def byop() -> None:
    """Bring Your Own Playbook: observe a frozen AI output with a playbook of checks. Never legal advice."""
