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


def split_frames(content: bytes) -> tuple[list[tuple[Any, bytes]], bytes]:
    """Return the complete messages at the beginning of the content, and the rest."""
    messages = []
    start, view = 0, memoryview(content)
    while len(content) - start >= _LENGTHS.size:
        text_length, content_length = _LENGTHS.unpack_from(content, start)
        text_end = start + _LENGTHS.size + text_length
        if len(content) < text_end + content_length:
            break
        message = json.loads(bytes(view[start + _LENGTHS.size : text_end]))
        messages.append((message, bytes(view[text_end : text_end + content_length])))
        start = text_end + content_length
    return messages, content[start:]


def _read(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content
