"""The store: what is written is whole, what is damaged says so, and listing does not grow with the history."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from inline_snapshot import snapshot

from salvo.engine.chat.base import Usage
from salvo.engine.runtime.files import write_atomically
from salvo.errors import AlreadyStoredError, AmbiguousIdError, StoreError, UnknownIdError
from salvo.scenarios.result import AgentRunResult, Cause, Outcome
from salvo.scenarios.store import jsonl
from salvo.scenarios.store.index import index_entry
from salvo.scenarios.store.indexing import history
from salvo.scenarios.store.recordings.recording import Recording
from salvo.scenarios.store.store import RunStore
from tests.support.runs import batch, failing_run, judged, result

ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    store = RunStore(tmp_path / ".salvo")
    store.prepare()
    return store


def fill(store: RunStore, batch_id: str, runs: int) -> None:
    store.save_batch(batch(batch_id, runs))
    for number in range(1, runs + 1):
        store.save_run(result(number, batch_id=batch_id))


def append(store: RunStore, content: bytes) -> None:
    with (store.folder / "history.jsonl").open("ab") as history:
        history.write(content)


def test_the_layout_is_the_one_of_the_document(store: RunStore) -> None:
    store.save_batch(batch())
    store.save_recording("01k9batch-0001", {"request.json": b"[]", "response.json": b"[]"})
    store.save_run(result())
    files = sorted(str(path.relative_to(store.folder)) for path in store.folder.rglob("*") if path.is_file())
    assert files == snapshot(
        [
            ".gitignore",
            "batches/01k9batch.json",
            "history.jsonl",
            "recordings/01k9batch-0001/request.json",
            "recordings/01k9batch-0001/response.json",
            "runs/01k9batch-0001.json",
        ]
    )


def test_what_is_saved_is_loaded_again_as_it_was(store: RunStore) -> None:
    made = batch(settings={"max_cost": 1.5}, tools={"search": "sha256:1"})
    run = failing_run()
    store.save_batch(made)
    store.save_run(run)
    assert store.load_batch(made.batch_id) == made
    assert store.load_run(run.run_id) == run


@pytest.mark.parametrize("output", ["half \ud83d", 10**400, {"a": [None, True, 1.5]}, "two\nlines\u2028\x00", ""])
def test_whatever_a_model_says_is_stored_and_listed(store: RunStore, output: Any) -> None:
    store.save_batch(batch(runs=1))
    store.save_run(result(final_output=output, error=str(output)[:200]))
    assert store.load_run("01k9batch-0001").final_output == output
    [entry] = store.last(1)
    assert entry.error == str(output)[:200]


def test_a_line_of_the_index_has_all_that_is_needed_to_list_a_run(store: RunStore) -> None:
    store.save_run(result(error="x" * 5000, judge_cost=None, eval_results=[judged("polite", None, "llm_judge")]))
    line = json.loads((store.folder / "history.jsonl").read_bytes())
    assert len(line.pop("error")) == 300
    assert line == snapshot(
        {
            "run_id": "01k9batch-0001",
            "batch_id": "01k9batch",
            "scenario_id": "book_flight",
            "number": 1,
            "provider": "openai",
            "model": "gpt-4o",
            "timestamp": "2026-11-15T12:00:01+00:00",
            "outcome": "passed",
            "cause": None,
            "score": 1.0,
            "latency": 8.2,
            "cost": 0.032,
            "judge_cost": None,
            "user_cost": 0.0,
            "turns": 0,
            "tokens": {"input": 900, "output": 120, "cache_read": 0, "cache_write": 0},
            "tool_count": 3,
            "assertions": [{"label": "polite", "type": "llm_judge", "passed": None, "required": False}],
            "recorded": False,
            "from_cache": False,
            "content_hash": "97294f05c3603881",
            "cache_saving": None,
        }
    )


def test_the_index_is_valid_json_lines(store: RunStore) -> None:
    fill(store, "b", 3)
    with (store.folder / "history.jsonl").open() as lines:
        assert [json.loads(line)["number"] for line in lines] == [1, 2, 3]


def test_a_line_is_one_write(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    really = os.write

    def write(to: int, content: bytes) -> int:
        written.append(bytes(content))
        return really(to, content)

    monkeypatch.setattr(os, "write", write)
    store.save_run(result())
    [line] = [content for content in written if b'"tool_count":' in content and b"\n  " not in content]
    assert line.startswith(b"{")
    assert line.endswith(b"}\n")


def test_runs_of_a_batch_are_found_by_their_names_alone(store: RunStore) -> None:
    for number in (2, 10_000, 9_999, 1):
        store.save_run(result(number))
    store.save_run(result(5, batch_id="01k9batch-x"))
    (store.folder / "history.jsonl").unlink()
    (store.folder / "runs" / ".01k9batch-0003.json.1-1.tmp").write_bytes(b"{")
    (store.folder / "runs" / "01k9batch-notes.json").write_bytes(b"{")
    assert store.stored_numbers("01k9batch") == {1, 2, 9_999, 10_000}
    assert [run.number for run in store.load_runs("01k9batch")] == [1, 2, 9_999, 10_000]
    assert store.stored_numbers("another") == set()


def test_a_recording_is_stored_as_a_whole_and_a_second_one_is_refused(store: RunStore) -> None:
    assert not store.has_recording("b-0001")
    store.save_recording("b-0001", {"request.json": b"first", "judge.json": b"first"})
    with pytest.raises(AlreadyStoredError, match="A recording of the run b-0001 is stored already"):
        store.save_recording("b-0001", {"request.json": b"second"})
    assert store.has_recording("b-0001")
    assert store.load_recording("b-0001") == {"request.json": b"first", "judge.json": b"first"}
    assert [path.name for path in (store.folder / "recordings").iterdir()] == ["b-0001"]


def test_a_recording_that_cannot_be_written_leaves_the_earlier_one(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save_recording("b-0001", {"request.json": b"old"})
    monkeypatch.setattr(os, "write", full_disk)
    with pytest.raises(StoreError, match="No space left on device"):
        store.save_recording("b-0001", {"request.json": b"new"})
    monkeypatch.undo()
    assert store.load_recording("b-0001") == {"request.json": b"old"}
    assert [path.name for path in (store.folder / "recordings").iterdir()] == ["b-0001"]


@pytest.mark.parametrize("name", ["../x.json", "/etc/x", "a/b", "", ".hidden", "x\0"])
def test_a_file_of_a_recording_stays_in_its_folder(store: RunStore, name: str) -> None:
    with pytest.raises(ValueError, match="not a name for a file"):
        store.save_recording("b-0001", {name: b""})
    assert not store.has_recording("b-0001")


def test_a_run_that_was_not_recorded_says_how_to_record_it(store: RunStore) -> None:
    with pytest.raises(StoreError, match="salvo run --record"):
        store.load_recording("b-0001")


def full_disk(*_: Any) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: folder.write_text("a file"),
        lambda folder: (folder / "history.jsonl").mkdir(parents=True),
        lambda folder: (folder.mkdir(), (folder / "runs").write_text("a file")),
    ],
    ids=["the store is a file", "the index is a folder", "runs is a file"],
)
def test_a_store_that_cannot_be_written_is_said_before_money_is_spent(
    tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    spoil(tmp_path / ".salvo")
    with pytest.raises(StoreError, match=r"\.salvo.* cannot be written") as raised:
        RunStore(tmp_path / ".salvo").prepare()
    assert "Check the permissions" in raised.value.hint


def test_a_full_disk_is_said_before_money_is_spent(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", full_disk)
    with pytest.raises(StoreError, match=r"No space left on device\. Free some space"):
        store.prepare()


def test_a_disk_that_is_nearly_full_is_said_too(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=5000))
    with pytest.raises(StoreError, match=r"has only 4 kB left.*nothing was spent"):
        store.prepare()


def test_preparing_leaves_nothing_behind_and_can_be_repeated(store: RunStore) -> None:
    store.save_run(result())
    store.prepare()
    assert [path.name for path in (store.folder / "runs").iterdir()] == ["01k9batch-0001.json"]
    assert list((store.folder / "recordings").iterdir()) == []


def test_a_file_that_cannot_be_written_keeps_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    write_atomically(path, b"old")
    really, room = os.write, [3]

    def fill_up(to: int, content: bytes) -> int:
        return really(to, content[: room.pop()]) if room else full_disk()

    monkeypatch.setattr(os, "write", fill_up)
    with pytest.raises(StoreError, match=r"x\.json cannot be written: No space left on device"):
        write_atomically(path, b"newer")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def numbers(store: RunStore) -> list[int]:
    """What a program of someone else reads: every line must be JSON."""
    return [json.loads(line)["number"] for line in (store.folder / "history.jsonl").read_bytes().splitlines()]


def test_a_line_that_was_written_in_two_parts_is_complete(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, "b", 1)
    really, cuts = os.write, iter([10])
    monkeypatch.setattr(os, "write", lambda to, content: really(to, content[: next(cuts, None)]))
    jsonl.append_line((store.folder / "history.jsonl"), index_entry(result(2, batch_id="b")))
    monkeypatch.undo()
    assert numbers(store) == [1, 2]


def test_a_line_that_does_not_fit_on_the_disk_leaves_no_part_of_it(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, "b", 1)
    really, room = os.write, [10]
    monkeypatch.setattr(os, "write", lambda to, content: really(to, content[: room.pop()]) if room else full_disk())
    with pytest.raises(StoreError, match=r"history\.jsonl cannot be written: No space left on device"):
        jsonl.append_line((store.folder / "history.jsonl"), index_entry(result(2, batch_id="b")))
    monkeypatch.undo()
    assert numbers(store) == [1]


@pytest.mark.parametrize(
    "content, says",
    [
        (b"", "is damaged"),
        (b'{"run_id": "b-0001"', "is damaged"),
        (b"[1, 2]", "is damaged"),
        (b'{"run_id": "b-0001"}', "is damaged at batch_id"),
        (b"\xff\xfe\x00", "is damaged"),
        (b"[" * 100_000, "is damaged"),
    ],
)
def test_a_damaged_run_is_a_clear_error_with_its_path(store: RunStore, content: bytes, says: str) -> None:
    path = store.folder / "runs" / "b-0001.json"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=says) as raised:
        store.load_run("b-0001")
    assert str(path) in raised.value.message


def test_a_file_under_the_name_of_another_is_damaged(store: RunStore) -> None:
    fill(store, "b", 1)
    shutil.copy(store.folder / "runs" / "b-0001.json", store.folder / "runs" / "c-0001.json")
    shutil.copy(store.folder / "batches" / "b.json", store.folder / "batches" / "c.json")
    with pytest.raises(StoreError, match=r"c-0001\.json is damaged: it holds run 1 of the batch b"):
        store.load_run("c-0001")
    with pytest.raises(StoreError, match=r"c\.json is damaged: it holds the batch b"):
        store.load_batch("c")


def test_what_is_not_there_or_cannot_be_read_is_a_clear_error(store: RunStore) -> None:
    with pytest.raises(StoreError, match=r"b-0001\.json does not exist"):
        store.load_run("b-0001")
    (store.folder / "batches" / "b.json").mkdir()
    with pytest.raises(StoreError, match=r"b\.json cannot be read"):
        store.load_batch("b")


@pytest.mark.parametrize("leads_to", ["elsewhere", "/dev/zero"])
def test_a_link_out_of_the_store_is_not_followed(store: RunStore, tmp_path: Path, leads_to: str) -> None:
    fill(store, "b", 1)
    outside = tmp_path / "elsewhere"
    outside.write_bytes((store.folder / "runs" / "b-0001.json").read_bytes())
    for link in (store.folder / "runs" / "b-0001.json", store.folder / "batches" / "b.json"):
        link.unlink()
        link.symlink_to(tmp_path / leads_to)
    with pytest.raises(StoreError, match="leads out of the store"):
        store.load_run("b-0001")
    with pytest.raises(StoreError, match="leads out of the store"):
        store.load_batch("b")
    store.save_recording("c-0001", {"request.json": b"{}"})
    (store.folder / "recordings" / "c-0001" / "response.json").symlink_to(tmp_path / leads_to)
    with pytest.raises(StoreError, match="leads out of the store"):
        store.load_recording("c-0001")


class TestIds:
    def test_any_unique_beginning_is_enough(self, store: RunStore) -> None:
        fill(store, "01aaa", 2)
        fill(store, "01bbb", 1)
        assert store.find_batch("01b") == "01bbb"
        assert store.find_batch("01aaa") == "01aaa"
        assert store.find_run("01b") == "01bbb-0001"
        assert store.find_run("01aaa-0002") == "01aaa-0002"

    def test_a_whole_id_is_itself_even_where_others_begin_with_it(self, store: RunStore) -> None:
        store.save_run(result(1000, batch_id="b"))
        store.save_run(result(10001, batch_id="b"))
        fill(store, "b", 1)
        fill(store, "bb", 1)
        assert store.find_batch("b") == "b"
        assert store.find_run("b-1000") == "b-1000"

    def test_latest_is_the_newest_batch_and_the_run_that_ended_last(self, store: RunStore) -> None:
        fill(store, "01aaa", 2)
        fill(store, "01bbb", 2)
        store.save_run(result(3, batch_id="01aaa"))
        store.save_run(result(4, Outcome.NOT_RUN, batch_id="01aaa"))
        append(store, b'\n{"half a li')
        assert store.find_batch("latest") == "01bbb"
        assert store.find_run("latest") == "01aaa-0003"
        assert store.newest_batches(1) == ["01bbb"]
        (store.folder / "history.jsonl").unlink()
        assert store.find_run("latest") == "01bbb-0002"

    def test_latest_is_a_run_whose_file_is_there_whatever_the_index_says(self, store: RunStore) -> None:
        fill(store, "b", 1)
        for hostile in ("gone-0001", "../../../etc/passwd"):
            line = {**json.loads((store.folder / "history.jsonl").read_bytes().splitlines()[0]), "run_id": hostile}
            append(store, json.dumps(line).encode() + b"\n")
        assert store.find_run("latest") == "b-0001"

    def test_several_that_match_are_listed(self, store: RunStore) -> None:
        fill(store, "01aaa", 8)
        with pytest.raises(AmbiguousIdError) as raised:
            store.find_run("01a")
        assert str(raised.value) == snapshot(
            "8 of the stored ids begin with '01a'. Which run? 01aaa-0001, 01aaa-0002, 01aaa-0003, 01aaa-0004, 01aaa-0005 and 3 more."
        )

    def test_none_that_matches_shows_the_nearest(self, store: RunStore) -> None:
        fill(store, "01aaaaaa", 1)
        fill(store, "01bbbbbb", 1)
        with pytest.raises(UnknownIdError) as raised:
            store.find_batch("01bbbbcb")
        assert str(raised.value) == snapshot("No batch has an id that begins with '01bbbbcb'. The nearest: 01bbbbbb.")
        with pytest.raises(UnknownIdError, match=r"The nearest: 01bbbbbb, 01aaaaaa\."):
            store.find_batch("zzz")

    @pytest.mark.parametrize("id", ["latest", "01a"])
    def test_an_empty_store_says_how_to_fill_it(self, tmp_path: Path, id: str) -> None:  # noqa: A002
        empty = RunStore(tmp_path / "nowhere")
        for find in (empty.find_run, empty.find_batch):
            with pytest.raises(UnknownIdError, match=r"is stored yet\. Create one with `salvo run`"):
                find(id)
        assert empty.last(10) == []
        assert empty.rebuild_index() == (0, 0)
        assert not empty.folder.exists()

    @pytest.mark.parametrize("hostile", ["../../x", "*", "b-000?", "[b]*", "", ".", "..", "/etc/passwd", "b\0", "a\nb"])
    def test_ids_are_never_paths_nor_patterns(self, store: RunStore, hostile: str) -> None:
        fill(store, "b", 1)
        (store.folder.parent / "x.json").write_bytes((store.folder / "runs" / "b-0001.json").read_bytes())
        asked: list[Callable[[str], object]] = [store.find_run, store.find_batch, store.load_run, store.load_batch]
        for ask in [*asked, store.load_recording, store.has_recording]:
            with pytest.raises(UnknownIdError):
                ask(hostile)
        with pytest.raises(UnknownIdError):
            store.save_batch(batch(hostile))
        with pytest.raises(UnknownIdError):
            store.save_recording(hostile, {})


class TestLast:
    def test_the_newest_batches_come_first_and_runs_in_their_order(self, store: RunStore) -> None:
        for batch_id in ("01a", "01b", "01c"):
            fill(store, batch_id, 3)
        assert [entry.run_id for entry in store.last(2)] == snapshot(
            ["01c-0001", "01c-0002", "01c-0003", "01b-0001", "01b-0002", "01b-0003"]
        )
        assert len(store.last(100)) == 9
        assert store.last(1)[0] == index_entry(store.load_run("01c-0001"))

    def test_batches_that_were_written_at_once_are_complete(self, store: RunStore) -> None:
        for batch_id in ("01a", "01b"):
            store.save_batch(batch(batch_id, 20))
        store.save_run(result(1, batch_id="01b"))
        for number in range(1, 21):
            store.save_run(result(number, batch_id="01a"))
        for number in range(2, 21):
            store.save_run(result(number, batch_id="01b"))
        assert [entry.number for entry in store.last(1)] == list(range(1, 21))

    def test_a_batch_that_is_not_complete_shows_what_it_has(self, store: RunStore) -> None:
        fill(store, "01a", 2)
        store.save_batch(batch("01b", 10))
        store.save_run(result(7, batch_id="01b"))
        assert [entry.run_id for entry in store.last(2)] == ["01b-0007", "01a-0001", "01a-0002"]

    @pytest.mark.parametrize(
        "line",
        [
            b'{"batch_id": "01a", "run_id": "01a-0001", "outco',
            b"garbage",
            b"[]",
            b"\xff\xfe",
            b'{"batch_id": "01a"}',
            b'{"batch_id": ["01a"]}',
            b"[" * 100_000,
        ],
    )
    def test_lines_that_cannot_be_read_are_skipped_and_counted(self, store: RunStore, line: bytes) -> None:
        store.save_batch(batch("01a", 2))
        store.save_run(result(1, batch_id="01a"))
        append(store, line + b"\n")
        store.save_run(result(2, batch_id="01a"))
        entries = store.last(1)
        assert [entry.number for entry in entries] == [1, 2]
        assert entries.skipped == 1

    def test_of_a_run_that_was_written_twice_the_first_counts(self, store: RunStore) -> None:
        store.save_batch(batch("01a", 2))
        store.save_run(result(1, Outcome.ERROR, batch_id="01a", cause=Cause.PROVIDER))
        store.save_run(result(2, batch_id="01a"))
        with pytest.raises(AlreadyStoredError, match="The run 01a-0001 is stored already, and was not changed"):
            store.save_run(result(1, batch_id="01a"))
        assert [entry.outcome for entry in store.last(1)] == ["error", "passed"]

    def test_a_write_that_is_repeated_changes_nothing(self, store: RunStore) -> None:
        fill(store, "01a", 2)
        store.save_run(result(1, batch_id="01a"))
        assert numbers(store) == [1, 2]

    def test_of_a_run_with_two_lines_the_last_counts(self, store: RunStore) -> None:
        fill(store, "01a", 2)
        store.index.add(index_entry(result(1, Outcome.ERROR, batch_id="01a", cause=Cause.PROVIDER)))
        assert [entry.outcome for entry in store.last(1)] == ["error", "passed"]

    def test_a_run_without_a_line_is_read_from_its_file(self, store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
        fill(store, "01a", 3)
        monkeypatch.setattr(history, "append_line", lambda *_: None)  # killed between the file and the line
        store.save_batch(batch("01b", 2))
        store.save_run(result(1, batch_id="01b"))
        (store.folder / "runs" / "01b-0002.json").write_bytes(b"{")
        entries = store.last(1)
        assert [entry.run_id for entry in entries] == ["01b-0001"]
        assert entries.skipped == 1

    def test_a_damaged_batch_file_hides_no_other_batch(self, store: RunStore) -> None:
        fill(store, "01a", 2)
        fill(store, "01b", 2)
        (store.folder / "batches" / "01b.json").write_bytes(b"{")
        assert {entry.batch_id for entry in store.last(2)} >= {"01a"}


def test_the_index_is_made_again_from_the_run_files(store: RunStore) -> None:
    for batch_id in ("01b", "01a"):
        fill(store, batch_id, 3)
    before = store.last(2)
    (store.folder / "history.jsonl").write_bytes(b"garbage\n" * 10)
    (store.folder / "runs" / "01a-0004.json").write_bytes(b"{")
    assert store.rebuild_index() == (6, 1)
    entries = store.last(2)
    assert entries == before
    assert entries.skipped == 0
    assert json.loads((store.folder / "history.jsonl").read_bytes().split()[0])["run_id"] == "01a-0001"


def test_a_run_that_ends_while_the_index_is_made_again_is_in_it(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, "01a", 3)
    other = RunStore(store.folder)
    load, replace = RunStore.load_run, Path.replace
    while_reading = [result(4, batch_id="01a"), result(6, batch_id="01a", model="another")]
    while_replacing = Thread(target=other.save_run, args=[result(5, batch_id="01a")])

    def load_slowly(reading: RunStore, run_id: str) -> AgentRunResult:
        loaded = load(reading, run_id)
        while while_reading:
            other.save_run(while_reading.pop())
        return loaded

    def replace_slowly(path: Path, target: Path) -> Path:
        if target.name == "history.jsonl":
            while_replacing.start()
            while not other.has_run("01a-0005"):
                time.sleep(0.001)
            time.sleep(0.05)  # the other process waits for the lock, and must not write into the old file
        return replace(path, target)

    monkeypatch.setattr(RunStore, "load_run", load_slowly)
    monkeypatch.setattr(Path, "replace", replace_slowly)
    assert store.rebuild_index().runs == 5
    while_replacing.join()
    assert sorted(numbers(store)) == [1, 2, 3, 4, 5, 6]
    store.save_batch(batch("01a", 6))
    assert [entry.model for entry in store.last(1)] == [*["gpt-4o"] * 5, "another"]


WRITER = """
import sys
from pathlib import Path
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.tape import Tape
from salvo.scenarios.store.recordings.recording import Recording
from salvo.scenarios.store.store import RunStore as Store
from tests.support.runs import batch, result

folder, batch_id, runs, padding = sys.argv[1:]
store = Store(Path(folder))
store.prepare()
begun = batch(batch_id, int(runs))
store.save_batch(begun)
for number in range(1, int(runs) + 1):
    made = result(number, batch_id=batch_id, recorded=True, final_output="x" * int(padding))
    recording = Recording(begun, None, [], Tape(), [], {}, made)
    store.save_recording(made.run_id, recording.to_files(Redactor()))
    store.save_run(made)
    print(number, flush=True)
"""


def start_writer(store: RunStore, batch_id: str, runs: int, padding: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WRITER, str(store.folder), batch_id, str(runs), str(padding)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)


def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    store = RunStore(tmp_path / ".salvo")
    writers = [start_writer(store, batch_id, 200, 10) for batch_id in ("01a", "01b")]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    entries = store.last(2)
    assert entries.skipped == 0
    assert [entry.run_id for entry in entries] == [
        f"{of}-{number:04d}" for of in ("01b", "01a") for number in range(1, 201)
    ]
    assert sorted(numbers(store)) == sorted([*range(1, 201)] * 2)
    assert all(store.has_recording(entry.run_id) for entry in entries)


def test_a_process_that_is_killed_leaves_only_whole_files(tmp_path: Path) -> None:
    store = RunStore(tmp_path / ".salvo")
    for attempt in range(4):
        writer = start_writer(store, f"b{attempt}", 10_000, 300_000)
        assert writer.stdout
        for _ in range(3):
            writer.stdout.readline()
        time.sleep(0.002 * attempt)  # somewhere within a write, each time somewhere else
        writer.send_signal(signal.SIGKILL)
        ended = [int(line) for line in writer.communicate()[0].split()]
        done = store.stored_numbers(f"b{attempt}")
        assert done >= {1, 2, 3, *ended}
        runs: list[AgentRunResult] = store.load_runs(f"b{attempt}")
        assert {run.number for run in runs} == done
        for run in runs:
            assert run.metrics.tokens == Usage(900, 120)
            recording = Recording.from_files(store.load_recording(run.run_id), run.run_id)
            assert len(recording.result.final_output) == 300_000
        assert store.last(1).skipped == 0
        assert {entry.number for entry in store.last(1)} == done
