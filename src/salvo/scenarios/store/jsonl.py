"""Append to a JSON Lines file that several processes write.

A process may be killed in the middle of a line. The next append removes what is left of that line, so every line of the
file is valid JSON.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import type_adapter
from salvo.engine.runtime.files import NotRegularFileError, file_mode, open_regular, unwritable

try:
    import fcntl
except ImportError:  # Windows: appends are still single writes, but they are not serialised
    fcntl = None  # type: ignore[assignment]  # the module or None

T = TypeVar("T")
_BLOCK = 64 * 1024


def append_line(path: Path, value: object) -> None:
    """Append a value as one line of JSON."""
    try:
        with open_locked(path) as file:
            size = _repair(file)
            try:
                _write_all(file, json_codec.dumps(value) + b"\n")
            except OSError:
                os.ftruncate(file, size)
                raise
    except OSError as error:
        raise unwritable(path, error) from error


@contextmanager
def open_locked(path: Path) -> Iterator[int]:
    """Open a file for appending, and hold a lock on it. The file is created if it does not exist."""
    while True:
        file = open_for_appending(path)
        try:
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(file, fcntl.LOCK_EX)
            # Another process may have replaced the file while this one waited for the lock.
            if _is_at(file, path):
                yield file
                return
        finally:
            os.close(file)


def open_for_appending(path: Path) -> int:
    """Open or create a file of the store. A link is an error: a store of someone else could lead to any file."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    return os.open(path, flags, file_mode())


def parse_line(line: bytes, kind: type[T]) -> T | None:
    """Return the value that a line holds; None if it is not a valid one."""
    try:
        return type_adapter(kind).validate_python(json_codec.loads(line))
    except ValueError:
        return None


def tail_lines(path: Path, size: int) -> list[bytes]:
    """Return the complete lines in the last `size` bytes of a file, without empty ones."""
    try:
        with open_regular(path) as file:
            end = file.seek(0, os.SEEK_END)
            start = file.seek(max(0, end - size))
            lines = file.read().split(b"\n")
    except (FileNotFoundError, IsADirectoryError, NotRegularFileError):
        return []
    return [line for line in lines[1 if start else 0 :] if line]


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _repair(file: int) -> int:
    """Make the file end with a complete line. Return its size."""
    size = os.lseek(file, 0, os.SEEK_END)
    if not size or _read(file, size - 1, size) == b"\n":
        return size
    start, length = size, _BLOCK
    last_line = b""
    while start and b"\n" not in last_line:
        start, length = max(0, size - length), 2 * length
        last_line = _read(file, start, size)
    last_line = last_line[last_line.rfind(b"\n") + 1 :]
    try:
        json_codec.loads(last_line)
    except ValueError:
        os.ftruncate(file, size - len(last_line))
        return size - len(last_line)
    _write_all(file, b"\n")
    return size + 1


def _read(file: int, start: int, end: int) -> bytes:
    os.lseek(file, start, os.SEEK_SET)
    return os.read(file, end - start)


def _write_all(file: int, content: bytes) -> None:
    while content:
        content = content[os.write(file, content) :]
