"""Messages between this process and a worker: two lengths, JSON, and bytes that JSON cannot hold."""

from __future__ import annotations

import json
import struct
from typing import IO, Any

_LENGTHS = struct.Struct(">II")
_LARGEST = 0xFFFFFFFF


def write_frame(stream: IO[bytes], message: Any, content: bytes = b"") -> None:
    """Write one message. Raises ValueError or RecursionError where JSON cannot represent it."""
    text = json.dumps(message).encode("ascii")
    if max(len(text), len(content)) > _LARGEST:
        raise ValueError("the message is larger than 4 GB")
    stream.write(_LENGTHS.pack(len(text), len(content)))
    stream.write(text)
    stream.write(content)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[Any, bytes]:
    """Return the next message. Raises EOFError where the other side has ended."""
    text_length, content_length = _LENGTHS.unpack(_read(stream, _LENGTHS.size))
    text = _read(stream, text_length)
    return json.loads(text), _read(stream, content_length)


def read_raw_frame(stream: IO[bytes]) -> bytes:
    """Return the next message as it is, to be passed on. Raises EOFError where the other side has ended."""
    lengths = _read(stream, _LENGTHS.size)
    return lengths + _read(stream, sum(_LENGTHS.unpack(lengths)))


def _read(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content
