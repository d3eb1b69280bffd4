"""A click group that imports a command only when the command is called.

`COMMANDS` of the group names the module of each command and its one-line summary, so `salvo --help` imports none of
them. The command is the function of its name in that module, which imports what it needs at its top. Only `run` has a
second module for its body, `run_command.py`: it is imported when the options are valid, so `run --help` is fast, too.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo
from salvo.engine.text.unicode_escape import printable
from salvo.errors import InputError, NothingFoundError, SalvoError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyCommand:
    """The module of a command, which has a function of its name, and its summary in the list of commands."""

    def __init__(self, module: str, summary: str, function: str = "") -> None:
        """`function` is the function, if a word of Python keeps it from having the name of the command."""
        self.module = module
        self.summary = summary
        self.function = function


class LazyGroup(click.Group):
    def __init__(self, *, lazy: Mapping[str, LazyCommand], **settings: object) -> None:
        context = {"help_option_names": ["-h", "--help"]}  # every command takes them over
        super().__init__(context_settings=context, **settings)  # type: ignore[arg-type]  # click's own keywords
        self._lazy = lazy

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(self._lazy)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._lazy:
            return None
        lazy = self._lazy[name]
        command: click.Command = getattr(import_module(lazy.module), lazy.function or name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command from the summaries, because importing all commands would take seconds."""
        from click.shell_completion import CompletionItem  # needed by completion only

        if ctx.args or incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        commands = self._lazy.items()
        return [CompletionItem(name, help=lazy.summary) for name, lazy in commands if name.startswith(incomplete)]

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.summary) for name, lazy in self._lazy.items()])

    def main(self, *args: Any, **extra: Any) -> Any:
        _end_without_garbage_collection()
        return super().main(*args, **extra)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        with _printable_messages():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. Print an error that the user can correct on stderr, without a traceback."""
        if os.environ.get("NO_COLOR"):
            ctx.color = False
        if isinstance(sys.stdout, io.TextIOWrapper):  # a file name may contain bytes that no encoding has
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            with _printable_messages():
                return super().invoke(ctx)
        except SalvoError as error:
            echo(f"Error: {error.message}", fg="red", err=True)
            if error.hint:
                echo(error.hint, err=True)
            ctx.exit(_exit_code(error))
        except OSError as error:
            if error.filename is None:  # not about a file: a closed pipe, which click handles, or a bug
                raise
            echo(f"Error: {error.filename} cannot be used: {error.strerror}.", fg="red", err=True)
            ctx.exit(ExitCode.USAGE)
        except KeyboardInterrupt:
            echo("Interrupted.", err=True)
            ctx.exit(ExitCode.INTERRUPTED)


@cache
def _end_without_garbage_collection() -> None:
    """Keep the interpreter from searching all objects for garbage as it ends: a tenth of the CPU of 200 runs."""
    atexit.register(gc.freeze)


@contextmanager
def _printable_messages() -> Iterator[None]:
    """Make control characters visible in click's own errors, which quote arguments. click prints them itself."""
    try:
        yield
    except click.ClickException as error:
        message = error.format_message()
        safe_message = printable(message, multiline=True)
        if safe_message == message:
            raise
        if isinstance(error, click.UsageError):
            raise click.UsageError(safe_message, error.ctx) from error
        raise click.ClickException(safe_message) from error


def _exit_code(error: SalvoError) -> ExitCode:
    if isinstance(error, NothingFoundError):
        return ExitCode.NOTHING
    return ExitCode.USAGE if isinstance(error, UsageError | InputError) else ExitCode.NOT_JUDGED
