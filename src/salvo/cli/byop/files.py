"""What a person names on the command line: texts, and a playbook by its id or file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from salvo.errors import InputError, UsageError

if TYPE_CHECKING:
    from salvo.playbooks.inputs import Inputs
    from salvo.playbooks.schema import Playbook

LARGEST = 20 * 1024 * 1024
"""Bytes of a text; far more than anyone reads."""


def inputs(output_file: str, source: Path | None, prompt: Path | None, system: Path | None) -> Inputs:
    """The texts to evaluate; - is standard input."""
    from salvo.playbooks.inputs import Inputs

    given = sys.stdin.buffer.read(LARGEST + 1) if output_file == "-" else _text(Path(output_file))
    if len(given) > LARGEST:
        raise _too_large("Standard input")
    return Inputs.of(given, *(None if path is None else _text(path) for path in (source, prompt, system)))


def _text(path: Path) -> bytes:
    found = _content(path, LARGEST)
    if len(found) > LARGEST:
        raise _too_large(str(path))
    return found


def _too_large(name: str) -> InputError:
    return InputError(f"{name} is larger than {LARGEST // 1024**2} MB.", hint="Evaluate it in parts.")


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
    from salvo.playbooks import document

    return _content(path, document.LARGEST)


def _content(path: Path, limit: int) -> bytes:
    """The file, or a little more than so much of it."""
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file.") from None
    except OSError as fault:
        raise InputError(f"{path} cannot be read: {fault.strerror}.") from fault
