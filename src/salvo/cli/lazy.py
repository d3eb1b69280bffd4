"""A click group that imports a command when it is called, and none of them to list them."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

import click

from salvo.cli.exit_codes import ExitCode
from salvo.errors import InputError, NothingFoundError, SalvoError, UsageError


class Lazy(NamedTuple):
    """Where a command lives ("package.module:name"), and the line that lists it."""

    target: str
    summary: str


class LazyGroup(click.Group):
    def __init__(self, *, lazy: Mapping[str, Lazy], **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]  # click's own keywords, passed on untouched
        self._lazy = lazy

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(self._lazy)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._lazy:
            return None
        module, _, attribute = self._lazy[name].target.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.summary) for name, lazy in self._lazy.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Runs the command; an error that a person can mend is two lines on stderr, never a traceback."""
        if os.environ.get("NO_COLOR"):
            ctx.color = False
        if isinstance(sys.stdout, io.TextIOWrapper):  # a file's name may hold bytes that no encoding has
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except SalvoError as error:
            click.secho(f"Error: {error.message}", fg="red", err=True)
            if error.hint:
                click.echo(error.hint, err=True)
            ctx.exit(_exit_code(error))
        except OSError as fault:
            if fault.filename is None:  # not about a file that somebody named: click knows a closed pipe, we a bug
                raise
            click.secho(f"Error: {fault.filename} cannot be used: {fault.strerror}.", fg="red", err=True)
            ctx.exit(ExitCode.USAGE)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(ExitCode.INTERRUPTED)


def _exit_code(error: SalvoError) -> ExitCode:
    if isinstance(error, NothingFoundError):
        return ExitCode.NOTHING
    return ExitCode.USAGE if isinstance(error, UsageError | InputError) else ExitCode.NOT_JUDGED
