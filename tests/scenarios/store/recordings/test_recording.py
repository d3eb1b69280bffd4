"""A recording's files are hostile input: whatever they hold, the error says which one is damaged."""

import pytest

from salvo.errors import TapeCorruptError
from salvo.scenarios.store.recordings.recording import Recording
from salvo.scenarios.store.recordings.recording_files import REQUEST


@pytest.mark.parametrize("content", [b"", b'{"salvo_tape": 1, "requests": [', b"[]", b"\xff\xfe\x00", b"[" * 100_000])
def test_a_file_that_is_not_a_json_object_is_a_clear_error(content: bytes) -> None:
    with pytest.raises(TapeCorruptError, match=rf"^{REQUEST} of the recording abc is damaged"):
        Recording.from_files({REQUEST: content}, "abc")
