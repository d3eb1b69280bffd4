"""The cache of the index: it follows the file, and whatever is wrong with it, reports are the same."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from salvo.scenarios.store import index
from salvo.scenarios.store.batch_catalog import BatchCatalog
from salvo.scenarios.store.indexing import cache_database, index_cache
from salvo.scenarios.store.indexing.index_cache import IndexCache
from salvo.scenarios.store.store import RunStore
from tests.support.clock import HeldClock
from tests.support.runs import batch, result
from tests.support.scenario_store import fill

ROOT = Path(__file__).parents[3]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    path = tmp_path / ".salvo" / "history.jsonl"
    path.parent.mkdir()
    return path


def line(batch_id: str, number: int = 1) -> bytes:
    return json.dumps({"batch_id": batch_id, "number": number}).encode() + b"\n"


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def numbers(cache: IndexCache, batch_id: str) -> list[int]:
    return [json.loads(content)["number"] for _, content in cache.lines(batch_id)]


def database(history: Path) -> Path:
    return history.parent / "cache" / "index.sqlite3"


def count_parsed_lines(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    parsed: list[bytes] = []
    parse = index.parse_batch_id

    def counting(content: bytes) -> str | None:
        parsed.append(content)
        return parse(content)

    monkeypatch.setattr(index_cache, "parse_batch_id", counting)
    return parsed


def test_only_what_was_appended_is_read_also_by_another_process(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(history, line("a", 1) + line("b", 1) + line("a", 2))
    cache = IndexCache(history)
    assert (numbers(cache, "a"), numbers(cache, "b"), numbers(cache, "c")) == ([1, 2], [1], [])
    parsed = count_parsed_lines(monkeypatch)
    append(history, line("a", 3))
    assert numbers(cache, "a") == [1, 2, 3]
    assert numbers(IndexCache(history), "a") == [1, 2, 3]
    assert len(parsed) == 1


def test_blank_lines_of_older_versions_are_skipped(history: Path) -> None:
    append(history, b"\n" + line("a", 1) + b"\n" + line("a", 2) + b"\n\r\n")
    cache = IndexCache(history)
    assert (numbers(cache, "a"), cache.unreadable_since(0)) == ([1, 2], 0)


@pytest.mark.parametrize("content", [b"garbage", b"[]", b"{}", b'{"batch_id": "\\ud800"}', b'{"batch_id": "../a"}'])
def test_lines_of_no_batch_are_counted(history: Path, content: bytes) -> None:
    append(history, line("a") + content + b"\n" + line("a", 2))
    cache = IndexCache(history)
    assert (numbers(cache, "a"), cache.unreadable_since(0)) == ([1, 2], 1)
    assert cache.unreadable_since(cache.span("a")[1]) == 0


def test_a_line_that_is_being_written_is_read_when_it_is_complete(history: Path) -> None:
    append(history, line("a", 1) + line("a", 2)[:9])
    cache = IndexCache(history)
    assert (numbers(cache, "a"), cache.unreadable_since(0)) == ([1], 0)
    append(history, line("a", 2)[9:])
    assert numbers(cache, "a") == [1, 2]


def replaced(history: Path) -> None:
    other = history.with_name("other")
    other.write_bytes(line("b", 1) + line("b", 2) + line("b", 3))
    other.replace(history)


def edited(history: Path) -> None:
    """As an editor does that writes into the same file, with the same size."""
    state = history.stat()
    history.write_bytes(history.read_bytes().replace(b'"a"', b'"b"'))
    os.utime(history, ns=(state.st_atime_ns, state.st_mtime_ns + 1))


def rewritten_and_longer(history: Path) -> None:
    history.write_bytes(line("b", 1) + line("b", 2) + line("b", 3))


@pytest.mark.parametrize(
    "change, left",
    [
        (replaced, [1, 2, 3]),
        (edited, [1, 2]),
        (rewritten_and_longer, [1, 2, 3]),
        (lambda history: history.write_bytes(line("b", 1)), [1]),
        (lambda history: history.write_bytes(b""), []),
        (lambda history: history.unlink(), []),
        (lambda history: (history.unlink(), history.mkdir()), []),
    ],
    ids=["another file", "the same size", "longer", "shorter", "empty", "deleted", "a folder"],
)
@pytest.mark.parametrize("same_process", [True, False])
def test_a_file_that_was_rewritten_is_read_again(
    history: Path, change: Callable[[Path], object], left: list[int], same_process: bool
) -> None:
    append(history, line("a", 1) + line("a", 2))
    cache = IndexCache(history)
    assert numbers(cache, "a") == [1, 2]
    before = cache.generation
    change(history)
    cache = cache if same_process else IndexCache(history)
    assert (numbers(cache, "a"), numbers(cache, "b")) == ([], left)
    if same_process:
        assert cache.generation != before


def holds_nonsense(path: Path) -> None:
    path.write_bytes(b"not a database" * 1000)


def is_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def is_of_another_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute(f"PRAGMA user_version = {index_cache._VERSION}")
        other.execute("CREATE TABLE source (x)")


def lost_its_source(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("UPDATE source SET offset = 'x', fingerprint = NULL")


def is_of_another_version(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
        other.execute("DROP TABLE lines")


def is_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "spoil", [holds_nonsense, is_cut, is_of_another_program, lost_its_source, is_of_another_version, is_a_folder]
)
def test_a_database_that_cannot_be_used_changes_nothing(history: Path, spoil: Callable[[Path], None]) -> None:
    append(history, b"".join(line("a", number) for number in range(1, 201)))
    assert len(numbers(IndexCache(history), "a")) == 200
    spoil(database(history))
    append(history, line("a", 201))
    assert len(numbers(IndexCache(history), "a")) == 201
    append(history, line("a", 202))
    assert len(numbers(IndexCache(history), "a")) == 202


def test_a_damaged_database_is_made_again(history: Path) -> None:
    append(history, line("a"))
    assert numbers(IndexCache(history), "a") == [1]
    holds_nonsense(database(history))
    assert numbers(IndexCache(history), "a") == [1]
    assert numbers(IndexCache(history), "a") == [1]
    with sqlite3.connect(database(history)) as made:
        assert made.execute("SELECT count(*) FROM lines").fetchone() == (1,)


def test_a_database_that_is_deleted_while_it_is_used_changes_nothing(history: Path) -> None:
    append(history, line("a"))
    cache = IndexCache(history)
    assert numbers(cache, "a") == [1]
    database(history).unlink()
    append(history, line("a", 2))
    assert numbers(cache, "a") == numbers(IndexCache(history), "a") == [1, 2]


def test_a_database_that_another_process_has_locked_is_not_waited_for_long(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_database, "_PATIENCE", 0.05)
    append(history, line("a"))
    assert numbers(IndexCache(history), "a") == [1]
    other = sqlite3.connect(database(history), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    append(history, line("a", 2))
    assert numbers(IndexCache(history), "a") == [1, 2]
    other.close()
    assert database(history).exists()


def test_a_store_that_cannot_be_written_is_read_all_the_same(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(history, line("a"))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert numbers(IndexCache(history), "a") == [1]
    assert sorted(history.parent.iterdir()) == [history]


@pytest.mark.parametrize("link", ["cache", "cache/index.sqlite3"])
def test_a_link_out_of_the_store_is_not_followed(history: Path, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    precious = outside / "index.sqlite3"
    with sqlite3.connect(precious) as other:
        other.execute("CREATE TABLE lines (precious)")
    before = precious.read_bytes()
    append(history, line("a"))
    path = history.parent / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(outside if link == "cache" else precious)
    assert numbers(IndexCache(history), "a") == [1]
    assert [*outside.iterdir()] == [precious]
    assert precious.read_bytes() == before


def test_looking_at_a_folder_without_a_store_makes_nothing(tmp_path: Path) -> None:
    cache = IndexCache(tmp_path / ".salvo" / "history.jsonl")
    assert (cache.lines("a"), cache.end(), cache.batches_since(0), cache.unreadable_since(0)) == ([], 0, set(), 0)
    assert list(tmp_path.iterdir()) == []


def test_git_ignores_the_cache(history: Path) -> None:
    append(history, line("a"))
    IndexCache(history).refresh()
    subprocess.run(["git", "init", "-q"], cwd=history.parent, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"],
        cwd=history.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    assert listed.stdout == "history.jsonl\n"


READER = """
import sys
from pathlib import Path
from salvo.scenarios.store.store import RunStore
store = RunStore(Path(sys.argv[1]))
while len(entries := store.last(1)) < 100:
    assert entries.skipped == 0
"""


def test_processes_read_while_others_write(tmp_path: Path) -> None:
    store = RunStore(tmp_path / ".salvo")
    store.prepare()
    store.save_batch(batch("01a", 100))
    readers = [
        subprocess.Popen([sys.executable, "-c", READER, str(store.folder)], cwd=ROOT, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for number in range(1, 101):
        store.save_run(result(number, batch_id="01a"))
        if number % 20 == 0:
            store.rebuild_index()
    for reader in readers:
        _, errors = reader.communicate(timeout=60)
        assert (reader.returncode, errors) == (0, b"")


def test_a_page_and_a_report_parse_the_runs_they_show_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = fill(tmp_path, days=8, runs=5)
    assert len(store.last(1)) == 5
    again = RunStore(store.folder)
    parsed = count_parsed_lines(monkeypatch)
    rows = islice(BatchCatalog(again, HeldClock()).rows(), 2)
    assert [row.completed for row in rows if row] == [5, 5]
    assert len(again.last(2)) == 10
    assert parsed == []


def test_running_scenarios_does_not_import_sqlite(tmp_path: Path) -> None:
    sample = Path(__file__).parent / "samples" / "2026-11-16"
    shutil.copy(sample / "agent.py", tmp_path)
    shutil.copy(sample / "scenarios" / "echo.yaml", tmp_path)
    code = """
import sys
from salvo.cli.salvo import salvo
try:
    salvo(["run", "echo.yaml", "--record"])
except SystemExit as end:
    assert end.code == 1, end.code
assert "sqlite3" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert len((tmp_path / ".salvo" / "history.jsonl").read_bytes().splitlines()) == 4
