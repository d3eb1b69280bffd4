"""Read the text of a project's files, and say where in a file something is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from salvo.engine.runtime.files import NotRegularFileError, read_regular

MAX_BYTES = 1_000_000


class SourcePosition(NamedTuple):
    """A place in a file; lines and columns count from 1."""

    file: Path
    line: int = 1
    column: int = 1


class UnreadableError(Exception):
    """A file that cannot be read at all."""

    def __init__(self, position: SourcePosition, message: str, *, in_content: bool = True) -> None:
        super().__init__(message)
        self.position = position
        self.message = message
        self.in_content = in_content
        """Whether the error is in the file's content; otherwise the file itself cannot be opened or included."""


def read_text(file: Path, max_bytes: int = MAX_BYTES) -> str:
    position = SourcePosition(file)
    try:
        content = read_regular(file, max_bytes + 1)
    except IsADirectoryError:
        raise UnreadableError(position, "is a folder, not a file", in_content=False) from None
    except NotRegularFileError:
        message = "is a pipe, a socket or a device, so it is not read"
        raise UnreadableError(position, message, in_content=False) from None
    except FileNotFoundError:
        raise UnreadableError(position, "there is no such file", in_content=False) from None
    except OSError as error:
        raise UnreadableError(position, f"cannot be read: {error.strerror or error}", in_content=False) from None
    if len(content) > max_bytes:
        raise UnreadableError(position, f"is larger than {max_bytes:,} bytes", in_content=False)
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        position = SourcePosition(file, *line_and_column(content[: error.start].decode("utf-8")))
        byte = f"byte 0x{content[error.start]:02x} at offset {error.start}"
        raise UnreadableError(position, f"is not UTF-8: {byte}; save the file as UTF-8") from None


def line_and_column(text_before: str) -> tuple[int, int]:
    return text_before.count("\n") + 1, len(text_before) - (text_before.rfind("\n") + 1) + 1


def file_in_project(name: str, position: SourcePosition, root: Path, suffixes: Sequence[str], use: str) -> Path:
    """Return the file that another file names, relative to it. It must be inside the root and have a known suffix."""
    try:
        file: Path = (position.file.parent / name).resolve()
    except (OSError, ValueError, RuntimeError):
        raise UnreadableError(position, "is not the name of a file") from None
    if not file.is_relative_to(root):
        raise UnreadableError(position, "is outside the project", in_content=False)
    if file.suffix not in suffixes:
        message = f"only files that end in {', '.join(suffixes)} can be {use}"
        raise UnreadableError(position, message, in_content=False)
    return file
