"""JSON Lines that several processes append to: every line is whole, whenever a process is killed."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from salvo.scenarios.store import jsonl

ROOT = Path(__file__).parents[3]

WRITER = """
import sys
from pathlib import Path
from salvo.scenarios.store.jsonl import append_line
path, name = Path(sys.argv[1]), sys.argv[2]
for number in range(100_000):
    append_line(path, {"writer": name, "number": number, "padding": "x" * 20_000})
    print(number, flush=True)
"""


@pytest.mark.parametrize("block", [1, 7, 64 * 1024])
@pytest.mark.parametrize("before", [b"", b"\n", b'{"number": 1}\n'], ids=["an empty file", "a blank line", "a line"])
@pytest.mark.parametrize(
    "torn", [b'{"number": 2, "batch_id": "x", "outco', b"{", b"\xff", b'{"number": "' + b"x" * 200_000]
)
def test_a_torn_last_line_is_removed_by_the_next_append(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes, torn: bytes, block: int
) -> None:
    monkeypatch.setattr(jsonl, "_BLOCK", block)
    path = tmp_path / "history.jsonl"
    path.write_bytes(before + torn)
    jsonl.append_line(path, {"number": 3})
    assert path.read_bytes() == before + b'{"number":3}\n'


def test_a_last_line_that_lacks_only_its_newline_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'{"number":1}\n{"number":2}')
    jsonl.append_line(path, {"number": 3})
    assert path.read_bytes() == b'{"number":1}\n{"number":2}\n{"number":3}\n'


def test_processes_that_are_killed_while_they_append_leave_only_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    chance = random.Random(7)
    for attempt in range(3):
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(path), f"{attempt}-{name}"], cwd=ROOT, stdout=subprocess.PIPE
            )
            for name in "abc"
        ]
        written: dict[str, int] = {}
        for name, writer in zip("abc", writers, strict=True):
            assert writer.stdout
            for _ in range(chance.randint(1, 5)):
                writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
            printed = writer.communicate()[0].split()
            written[f"{attempt}-{name}"] = int(printed[-1]) if printed else 0
        jsonl.append_line(path, {"writer": "last", "number": attempt})
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        for name, last in written.items():
            numbers = [line["number"] for line in lines if line["writer"] == name]
            assert numbers == list(range(len(numbers)))
            assert len(numbers) > last
        assert lines[-1] == {"writer": "last", "number": attempt}


def test_the_end_of_a_file_is_read_without_the_line_that_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    assert jsonl.tail_lines(path, 100) == []
    path.write_bytes(b"one\n\ntwo\nthree")
    assert jsonl.tail_lines(path, 100) == [b"one", b"two", b"three"]
    assert jsonl.tail_lines(path, 10) == [b"two", b"three"]
    assert jsonl.tail_lines(path, 3) == []
