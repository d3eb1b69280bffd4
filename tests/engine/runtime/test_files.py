"""Reading files: regular ones only, without waiting for anything else."""

import os
import socket
from pathlib import Path

import pytest

from salvo.engine.runtime.files import NotRegularFileError, open_regular, read_regular, read_up_to
from salvo.errors import InputError

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


def test_a_file_is_read_as_far_as_wanted(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"0123456789")
    assert read_regular(file) == b"0123456789"
    assert read_regular(file, 4) == b"0123"
    assert read_up_to(file, 3) == b"0123", "one byte more shows that there is more"


def test_a_link_to_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"content")
    (tmp_path / "link").symlink_to("text")
    assert read_regular(tmp_path / "link") == b"content"


@needs_pipes
def test_a_pipe_a_socket_a_device_and_a_folder_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "link", tmp_path / "socket", Path("/dev/zero")):
            with pytest.raises(NotRegularFileError, match="not a regular file"):
                open_regular(path)
            with pytest.raises(InputError, match="is a pipe, a socket or a device, so it is not read"):
                read_up_to(path, 10)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(InputError, match="is a folder"):
        read_up_to(tmp_path, 10)
