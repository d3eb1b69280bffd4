"""The two commands as processes of their own, which end at once when all has been said and written.

An interpreter that ends takes itself apart, object by object, before the system takes back all of it in one step. That
is up to a tenth of a second of every command, spent behind the last line of its answer.
"""

from __future__ import annotations

import atexit
import os
import sys

import click


def salvo() -> None:
    from salvo.cli.salvo import salvo as command

    _run(command)


def byop() -> None:
    from salvo.cli.byop import byop as command

    _run(command)


def _run(command: click.Command) -> None:
    end = _End()
    atexit.register(end)  # before anybody else, so that it is called after everybody else
    try:
        command()
    except SystemExit as asked:
        end.status = asked.code if isinstance(asked.code, int) else None
        raise


class _End:
    """Called when all threads have ended and everyone who wanted to do something at the end has done it."""

    status: int | None = None
    """None where it is not known: a traceback, or a text instead of a number. The interpreter knows what to do."""

    def __call__(self) -> None:
        # Who measures or debugs us was there before us, and comes after us.
        if self.status is None or sys.gettrace() is not None or "coverage" in sys.modules:
            return
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):
            return  # to be told by the interpreter, in its way
        os._exit(self.status)
