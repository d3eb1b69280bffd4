"""`byop playbooks`: the playbooks of the library."""

from __future__ import annotations

import click


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def playbooks(context: click.Context, as_json: bool) -> None:
    """List the playbooks of the library, or show one.

    Every report contains the logic hash of its playbook. The hash changes whenever the playbook changes, apart from its
    dates.
    """
    if context.invoked_subcommand:
        return
    from salvo.cli.byop import playbooks_command

    playbooks_command.list_playbooks(as_json)


@playbooks.command
@click.argument("playbook", metavar="ID|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print the playbook's document.")
def show(playbook: str, as_json: bool) -> None:
    """Show a playbook: its checks, and how each is decided."""
    from salvo.cli.byop import playbooks_command

    playbooks_command.show(playbook, as_json)
