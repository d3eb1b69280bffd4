"""Read the texts of an evaluation from files or standard input, and warn of what is in them."""

from __future__ import annotations

import sys
from pathlib import Path

from salvo.cli.output import echo
from salvo.engine.runtime.files import read_up_to
from salvo.errors import InputError, NotUtf8Error
from salvo.playbooks.evaluate.inputs import NAMES, Inputs, SourceFile, key_warnings
from salvo.playbooks.evaluate.text_files import WINDOWS_1252, FileText, read_text_file

_MAX_BYTES = 20 * 1024 * 1024


def read_inputs(
    output_file: str, source: Path | None, prompt: Path | None, system: Path | None, encoding: str | None
) -> tuple[Inputs, SourceFile | None]:
    """Return the texts to evaluate and the file of the AI output, and warn of credentials in them.

    The output file "-" is standard input, which is no file.
    """
    paths = (None if output_file == "-" else Path(output_file), source, prompt, system)
    files = {
        name: _read(path, encoding)
        for name, path in zip(NAMES, paths, strict=True)
        if path is not None or name == "ai_output"
    }
    texts = {name: file.text for name, file in files.items()}
    file_names = dict(zip(NAMES, paths, strict=True))
    sources = {name: file.source(str(file_names[name] or "")) for name, file in files.items()}
    inputs = Inputs.from_texts(**texts, files=sources)
    for file in files.values():
        for notice in file.notices:
            echo(f"Notice: {notice}", err=True)
    # Not those of the inputs: a warning names lines of the files.
    for warning in key_warnings(texts):
        echo(f"Warning: {warning}", err=True)
    return inputs, None if output_file == "-" else sources["ai_output"]


def _read(path: Path | None, encoding: str | None) -> FileText:
    """Return the text of a file, or of standard input if there is no path."""
    name = "Standard input" if path is None else str(path)
    content = sys.stdin.buffer.read(_MAX_BYTES + 1) if path is None else read_up_to(path, _MAX_BYTES)
    if len(content) > _MAX_BYTES:
        raise InputError(f"{name} is larger than {_MAX_BYTES // 1024**2} MB.", hint="Evaluate it in parts.")
    try:
        return read_text_file(name, content, encoding=encoding)
    except NotUtf8Error as error:
        hint = f"If that is right, add --encoding {WINDOWS_1252}. Otherwise save it as UTF-8 and try again."
        raise InputError(error.message, hint=hint) from error
