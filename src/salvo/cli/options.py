"""Sets of options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Command = TypeVar("Command", bound=Callable[..., Any])


def option_set(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds the options to a command. --help shows them in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add
