"""Bodies are decompressed as they arrive, and one without its end is none."""

import gzip
import zlib
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.wire import content_encoding
from salvo.engine.wire.content_encoding import BodyDecoder, ContentEncodingError


def raw_deflate(content: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(content) + compressor.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "Identity": bytes,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "deflate without a header": raw_deflate,
}


def decode(encoding: str, chunks: Sequence[bytes]) -> bytes:
    decoder = BodyDecoder(encoding.partition(" ")[0])
    content = b"".join(piece for chunk in chunks for piece in decoder.feed(chunk))
    decoder.close()
    return content


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_pieces_of_any_size_come_to_the_whole_body(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_encoding, "_PIECE_BYTES", size)
    for length in range(300):
        content = bytes(length)
        assert decode("gzip", [gzip.compress(content)]) == content


@given(st.binary(max_size=300), st.sampled_from(sorted(ENCODERS)), st.integers(1, 50))
def test_a_body_is_what_was_compressed_however_it_arrives(content: bytes, encoding: str, size: int) -> None:
    body = ENCODERS[encoding](content)
    assert decode(encoding, [body[start : start + size] for start in range(0, len(body), size)]) == content


@given(st.binary(min_size=1, max_size=300), st.data())
def test_a_body_without_its_end_is_none(content: bytes, data: st.DataObject) -> None:
    encoding = data.draw(st.sampled_from(["gzip", "deflate"]))
    body = ENCODERS[encoding](content)
    kept = data.draw(st.integers(1, len(body) - 1))
    with pytest.raises(ContentEncodingError, match=f"broke off its reply: the {encoding} data has no end"):
        decode(encoding, [body[:kept]])


def test_several_members_are_one_body_and_padding_is_ignored() -> None:
    assert decode("gzip", [gzip.compress(b"one ") + gzip.compress(b"two") + b"\0\0"]) == b"one two"


def test_a_large_body_comes_in_pieces_so_that_its_size_can_be_limited() -> None:
    pieces = BodyDecoder("gzip").feed(gzip.compress(bytes(50_000_000)))
    assert len(next(pieces)) <= 1 << 20


def test_an_empty_body_needs_no_end() -> None:
    assert decode("gzip", []) == b""


def test_an_encoding_that_was_not_requested_is_named() -> None:
    with pytest.raises(ContentEncodingError, match="sent a reply encoded as br, which was not requested"):
        BodyDecoder("br")
