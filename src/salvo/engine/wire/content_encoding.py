"""The decompression of a reply as it arrives. aiohttp's own takes a gzip body that breaks off as a complete one."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

ACCEPTED = "gzip, deflate"
"""The encodings that are asked for, and no others, whatever libraries are installed."""
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_BITS = 16 + zlib.MAX_WBITS
_DEFLATE_METHOD = 8
_PIECE_BYTES = 1 << 20


class ContentEncodingError(Exception):
    """Describes what is wrong with a reply, as what follows its sender in a sentence."""


class BodyDecoder:
    """Decompresses one body by its `Content-Encoding`."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding.strip().lower()
        if self._encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ContentEncodingError(f"sent a reply encoded as {self._encoding[:20]}, which was not requested")
        self._is_plain = self._encoding in ("", "identity")
        self._inflater: zlib._Decompress | None = None

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield what a part of the body comes to, in pieces of limited size."""
        if self._is_plain:
            yield chunk
            return
        piece = b""
        while chunk or len(piece) == _PIECE_BYTES:  # after a full piece, there may be more without another byte
            if self._inflater is None:
                self._inflater = zlib.decompressobj(self._window_bits(chunk))
            elif self._inflater.eof:
                if not chunk.startswith(_GZIP_MAGIC):
                    return  # padding after the end
                self._inflater = zlib.decompressobj(_GZIP_BITS)
            try:
                piece = self._inflater.decompress(chunk, _PIECE_BYTES)
            except zlib.error:
                message = f"sent a reply that is not the {self._encoding} data it says it is"
                raise ContentEncodingError(message) from None
            if piece:
                yield piece
            chunk = self._inflater.unconsumed_tail or self._inflater.unused_data

    def close(self) -> None:
        """Raise ContentEncodingError if the end of the body is missing."""
        if self._inflater is not None and not self._inflater.eof:
            raise ContentEncodingError(f"broke off its reply: the {self._encoding} data has no end")

    def _window_bits(self, chunk: bytes) -> int:
        if self._encoding != "deflate":
            return _GZIP_BITS
        # Some servers send deflate without the header that RFC 9110 requires.
        return zlib.MAX_WBITS if chunk[0] & 0xF == _DEFLATE_METHOD else -zlib.MAX_WBITS
