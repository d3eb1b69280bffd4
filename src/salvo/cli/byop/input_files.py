"""The texts that a command reads from files or standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from salvo.engine.runtime.files import read_up_to
from salvo.errors import InputError
from salvo.playbooks.evaluate.inputs import Inputs

MAX_BYTES = 20 * 1024 * 1024


def read_inputs(output_file: str, source: Path | None, prompt: Path | None, system: Path | None) -> Inputs:
    """Return the texts to evaluate. The output file "-" is standard input."""
    if output_file == "-":
        ai_output = _limited(sys.stdin.buffer.read(MAX_BYTES + 1), "Standard input")
    else:
        ai_output = _read(Path(output_file))
    return Inputs.from_texts(ai_output, *(None if path is None else _read(path) for path in (source, prompt, system)))


def _read(path: Path) -> bytes:
    return _limited(read_up_to(path, MAX_BYTES), str(path))


def _limited(content: bytes, name: str) -> bytes:
    if len(content) > MAX_BYTES:
        raise InputError(f"{name} is larger than {MAX_BYTES // 1024**2} MB.", hint="Evaluate it in parts.")
    return content
