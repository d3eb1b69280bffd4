"""The texts that a person names on the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from salvo.engine.runtime.files import read_up_to
from salvo.errors import InputError

if TYPE_CHECKING:
    from salvo.playbooks.evaluate.inputs import Inputs

LARGEST = 20 * 1024 * 1024
"""Bytes of a text; far more than anyone reads."""


def inputs(output_file: str, source: Path | None, prompt: Path | None, system: Path | None) -> Inputs:
    """The texts to evaluate; - is standard input."""
    from salvo.playbooks.evaluate.inputs import Inputs

    given = sys.stdin.buffer.read(LARGEST + 1) if output_file == "-" else _text(Path(output_file))
    if len(given) > LARGEST:
        raise _too_large("Standard input")
    return Inputs.from_texts(given, *(None if path is None else _text(path) for path in (source, prompt, system)))


def _text(path: Path) -> bytes:
    found = read_up_to(path, LARGEST)
    if len(found) > LARGEST:
        raise _too_large(str(path))
    return found


def _too_large(name: str) -> InputError:
    return InputError(f"{name} is larger than {LARGEST // 1024**2} MB.", hint="Evaluate it in parts.")
