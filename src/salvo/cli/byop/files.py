"""What a person names on the command line: a file, or a playbook by its id or file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from salvo.errors import InputError, UsageError

if TYPE_CHECKING:
    from salvo.playbooks.schema import Playbook


def playbook_named(name: str) -> Playbook:
    """The library's playbook with this id, else the one in this file."""
    from salvo.engine.wording import did_you_mean
    from salvo.playbooks import library
    from salvo.playbooks.validate import read

    if name in library.names():
        return library.load(name)
    if not Path(name).exists():
        raise UsageError(
            f"There is no playbook {name!r}, neither in the library nor as a file{did_you_mean(name, library.names())}",
            hint=f"The library has: {', '.join(library.names())}.",
        )
    return read(read_playbook(Path(name)), name)


def read_playbook(path: Path) -> bytes:
    """A playbook's file; of one that is too large only so much that it shows."""
    from salvo.playbooks.document import LARGEST

    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file.") from None
    except OSError as fault:
        raise InputError(f"{path} cannot be read: {fault.strerror}.") from fault
