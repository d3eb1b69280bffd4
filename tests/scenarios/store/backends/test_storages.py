"""A folder and an object store behave alike: what is written is whole, the first writer wins, and lists are complete."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from obstore.store import from_url

from salvo.errors import AlreadyStoredError, StoreError, TapeCorruptError
from salvo.scenarios.result import Outcome
from salvo.scenarios.store.backends import objects
from salvo.scenarios.store.batch_catalog import BatchCatalog
from salvo.scenarios.store.index import index_entry
from salvo.scenarios.store.rejudge_store import JudgeVerdict, Rejudgement, RejudgeStore
from salvo.scenarios.store.store import RunStore
from tests.scenarios.store.conftest import StorePlace
from tests.support.clock import HeldClock
from tests.support.runs import batch, result

ROOT = Path(__file__).parents[4]
FILES = {"request.json": b'{"a": 1}', "response.json": b"[]\n"}


@pytest.fixture
def store(place: StorePlace) -> RunStore:
    opened = place.open()
    opened.prepare()
    return opened


def fill(store: RunStore, batch_id: str, runs: int, of: int | None = None) -> None:
    store.save_batch(batch(batch_id, of or runs))
    for number in range(1, runs + 1):
        store.save_run(result(number, batch_id=batch_id))


class TestStorage:
    def test_an_object_is_created_once_and_replaced_by_its_version_only(self, store: RunStore) -> None:
        storage = store.storage
        assert storage.get_versioned("shared/state.json") is None
        assert storage.create("shared/state.json", b"1")
        assert not storage.create("shared/state.json", b"2")
        assert not storage.replace("shared/state.json", b"2", None)
        stored = storage.get_versioned("shared/state.json")
        assert stored is not None
        assert stored[0] == b"1"
        assert storage.replace("shared/state.json", b"3", stored[1])
        assert not storage.replace("shared/state.json", b"4", stored[1])
        assert storage.get("shared/state.json") == b"3"

    def test_what_is_deleted_is_gone_and_deleting_it_again_is_no_error(self, store: RunStore) -> None:
        store.storage.put("shared/x.json", b"1")
        assert store.storage.exists("shared/x.json")
        store.storage.delete("shared/x.json")
        store.storage.delete("shared/x.json")
        assert not store.storage.exists("shared/x.json")
        with pytest.raises(FileNotFoundError):
            store.storage.get("shared/x.json")

    def test_a_replacement_of_what_is_gone_is_refused(self, store: RunStore) -> None:
        store.storage.put("shared/x.json", b"1")
        stored = store.storage.get_versioned("shared/x.json")
        assert stored is not None
        store.storage.delete("shared/x.json")
        assert not store.storage.replace("shared/x.json", b"2", stored[1])

    def test_of_many_threads_that_create_an_object_one_succeeds(self, store: RunStore) -> None:
        with ThreadPoolExecutor(8) as threads:
            created = list(threads.map(lambda i: store.storage.create("shared/x.json", bytes([i])), range(8)))
        assert created.count(True) == 1
        assert store.storage.get("shared/x.json") == bytes([created.index(True)])

    def test_of_many_threads_that_replace_an_object_each_change_is_kept(self, store: RunStore) -> None:
        def increase(_: int) -> None:
            while True:
                current = store.storage.get_versioned("shared/count")
                number = int(current[0]) if current else 0
                if store.storage.replace("shared/count", str(number + 1).encode(), current[1] if current else None):
                    return

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(increase, range(20)))
        assert store.storage.get("shared/count") == b"20"

    def test_a_list_has_the_objects_of_one_folder_only(self, store: RunStore) -> None:
        for key in ("scores/a/x.json", "scores/a/y.json", "scores/ab/z.json", "shared/x.json"):
            store.storage.put(key, b"{}")
        assert sorted(store.storage.names("scores/a")) == ["x.json", "y.json"]
        assert sorted(store.storage.folders("scores")) == ["a", "ab"]
        listed = {item.name: item.version for item in store.storage.list("scores/a")}
        store.storage.put("scores/a/x.json", b"[]")
        again = {item.name: item.version for item in store.storage.list("scores/a")}
        assert listed["y.json"] == again["y.json"]
        assert listed["x.json"] != again["x.json"]


WRITER = """
import sys
from pathlib import Path
from salvo.errors import AlreadyStoredError
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_store
from tests.support.runs import result

_, address, model = sys.argv
store = open_store(Project(Path(), Path(), store_address=address))
print("ready", flush=True)
sys.stdin.readline()
for number in range(1, 21):
    run = result(number, model=model)
    try:
        store.save_recording(run.run_id, {"request.json": model.encode()})
        store.save_run(run)
        print(number, flush=True)
    except AlreadyStoredError:
        pass
"""


class TestRuns:
    def test_of_two_processes_that_store_the_same_runs_each_run_has_one_winner(
        self, place: StorePlace, store: RunStore
    ) -> None:
        command = [sys.executable, "-c", WRITER, place.address]
        processes = [
            subprocess.Popen(
                [*command, model], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, bufsize=1
            )
            for model in ("first", "second")
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        outputs = [process.communicate(timeout=60)[0].split() for process in processes]
        store.save_batch(batch(runs=20))
        winners = {
            int(number): name for name, made in zip(("first", "second"), outputs, strict=True) for number in made
        }
        assert sorted(int(number) for made in outputs for number in made) == list(range(1, 21))
        runs = store.load_runs("01k9batch")
        assert {run.number: run.model for run in runs} == winners
        assert all(store.load_recording(run.run_id)["request.json"] == run.model.encode() for run in runs)
        assert [entry.number for entry in store.last(1)] == list(range(1, 21))

    def test_a_second_run_of_an_id_is_refused_and_a_repeated_write_is_not(self, store: RunStore) -> None:
        fill(store, "01a", 2)
        store.save_run(result(1, batch_id="01a"))
        with pytest.raises(AlreadyStoredError, match="The run 01a-0001 is stored already, and was not changed"):
            store.save_run(result(1, Outcome.FAILED, batch_id="01a"))
        assert [entry.outcome for entry in store.last(1)] == ["passed", "passed"]

    def test_a_second_recording_of_a_run_is_refused_and_a_repeated_write_is_not(self, store: RunStore) -> None:
        store.save_recording("01a-0001", FILES)
        store.save_recording("01a-0001", FILES)
        with pytest.raises(AlreadyStoredError, match="A recording of the run 01a-0001 is stored already"):
            store.save_recording("01a-0001", {"request.json": b"{}"})
        assert store.load_recording("01a-0001") == FILES
        assert store.has_recording("01a-0001")
        assert not store.has_recording("01a-0002")

    def test_runs_and_batches_are_found_by_the_beginning_of_their_id(self, store: RunStore) -> None:
        fill(store, "01aaa", 2)
        fill(store, "01bbb", 1)
        assert store.find_batch("01a") == "01aaa"
        assert store.find_batch("latest~1") == "01aaa"
        assert store.find_run("01aaa-0002") == "01aaa-0002"
        assert store.find_run("01bbb") == "01bbb-0001"
        assert store.find_run("latest") == "01bbb-0001"
        assert store.newest_batches(5) == ["01bbb", "01aaa"]
        assert [item.batch_id for item in store.newest_first()] == ["01bbb", "01aaa"]
        assert store.stored_numbers("01aaa") == {1, 2}

    def test_a_run_that_is_stored_late_is_listed(self, place: StorePlace, store: RunStore) -> None:
        fill(store, "01a", 2, of=3)
        fill(store, "01b", 1)
        assert [entry.run_id for entry in store.last(2)] == ["01b-0001", "01a-0001", "01a-0002"]
        place.open().save_run(result(3, batch_id="01a"))
        assert [entry.run_id for entry in store.last(2)] == ["01b-0001", "01a-0001", "01a-0002", "01a-0003"]

    def test_more_than_9999_runs_are_listed_in_order(self, store: RunStore) -> None:
        store.save_batch(batch("01a", 10_001))
        for number in (10_001, 10_000, 9_999, 1_000):
            store.save_run(result(number, batch_id="01a"))
        assert store.batch_run_ids("01a") == ["01a-1000", "01a-9999", "01a-10000", "01a-10001"]
        assert [entry.number for entry in store.load_entries("01a")] == [1_000, 9_999, 10_000, 10_001]

    def test_a_damaged_run_is_counted_and_hides_no_other(self, store: RunStore) -> None:
        fill(store, "01a", 1, of=3)
        store.storage.put("runs/01a-0002.json", b'{"run_id": 7')
        store.storage.put("runs/01a-0003.json", b"[" * 100_000)
        entries = store.last(1)
        assert ([entry.run_id for entry in entries], entries.skipped) == (["01a-0001"], 2)
        with pytest.raises(StoreError, match=r"01a-0002.json is damaged"):
            store.load_run("01a-0002")

    def test_a_run_under_another_name_is_damaged(self, store: RunStore) -> None:
        fill(store, "01a", 1)
        store.storage.put("runs/01a-0002.json", store.storage.get("runs/01a-0001.json"))
        store.storage.put("batches/01b.json", store.storage.get("batches/01a.json"))
        with pytest.raises(StoreError, match="it holds run 1 of the batch 01a"):
            store.load_run("01a-0002")
        with pytest.raises(StoreError, match="it holds the batch 01a"):
            store.load_batch("01b")

    def test_a_recording_with_other_files_than_salvos_is_refused(self, store: RunStore) -> None:
        store.storage.create_group("recordings/01a-0001", {"request.json": b"{}", "tool.py": b"evil"})
        with pytest.raises(TapeCorruptError, match=r"files that Salvo does not write: tool.py"):
            store.load_recording("01a-0001")

    def test_a_batch_that_grows_is_read_again(self, place: StorePlace, store: RunStore) -> None:
        fill(store, "01a", 2)
        assert len(store.last(1)) == 2
        other = place.open()
        other.save_batch(batch("01a", 3))
        other.save_run(result(3, batch_id="01a"))
        store.index.batch_written()
        assert len(store.last(1)) == 3

    def test_the_index_can_be_made_again(self, store: RunStore) -> None:
        fill(store, "01a", 3)
        store.storage.put("runs/01a-0004.json", b"{")
        assert store.rebuild_index() == (3, 1)
        assert len(store.last(1)) == 3

    def test_rejudgements_are_kept_by_run_and_time(self, store: RunStore) -> None:
        judgings = RejudgeStore(store)
        assert judgings.load("01a", "1.0") == []
        verdict = JudgeVerdict("polite", None, [None], [""], None, 0.1)
        judgings.append("01a", Rejudgement("01a-0001", 1, "1.0", [verdict]))
        verdict = JudgeVerdict("polite", True, [True], [""], None, 0.1)
        judgings.append("01a", Rejudgement("01a-0001", 1, "1.0", [verdict]))
        judgings.append("01a", Rejudgement("01a-0001", 1, "1.1", [verdict]))
        judgings.append("01a", Rejudgement("01a-0001", 2, "1.0", [verdict]))
        stored = RejudgeStore(store).load("01a", "1.0")
        assert [(item.time, item.voted) for item in stored] == [(1, True), (2, True)]


class TestDashboard:
    def test_a_catalog_lists_new_runs_of_an_unfinished_batch(self, place: StorePlace, store: RunStore) -> None:
        fill(store, "01a", 1, of=2)
        fill(store, "01b", 2)
        catalog = BatchCatalog(store, HeldClock())
        assert [(row.batch_id, row.passed, row.missing) for row in catalog.rows() if row] == [
            ("01b", 2, 0),
            ("01a", 1, 1),
        ]
        place.open().save_run(result(2, batch_id="01a"))
        assert [(row.batch_id, row.passed, row.missing) for row in catalog.rows() if row][1] == ("01a", 2, 0)

    def test_a_watcher_reports_new_batches_and_new_runs(self, place: StorePlace, store: RunStore) -> None:
        fill(store, "01a", 1, of=2)
        watcher = store.index.watcher()
        assert watcher.look() == []
        other = place.open()
        fill(other, "01b", 1)
        assert watcher.look() == ["01b"]
        other.save_run(result(2, batch_id="01a"))
        assert watcher.look() == ["01a"]
        assert watcher.look() == []


class TestObjectStore:
    """What only an object store has, or what someone may put there."""

    @pytest.fixture
    def store(self, bucket: str, tmp_path: Path) -> RunStore:
        return StorePlace(bucket, tmp_path).open()

    def test_the_layout_is_the_one_of_the_document(self, store: RunStore, object_server: str, bucket: str) -> None:
        fill(store, "01a", 1)
        store.save_recording("01a-0001", FILES)
        raw = from_url(bucket)
        assert sorted(item["path"] for page in raw.list() for item in page) == [
            "batches/01a.json",
            "recordings/01a/01a-0001.zip",
            "runs/01a/01a-0001.json",
        ]

    def test_objects_with_foreign_names_are_left_out(self, store: RunStore, bucket: str) -> None:
        fill(store, "01a", 1)
        raw = from_url(bucket)
        for path in (
            "batches/.hidden.json",
            "batches/deeper/01b.json",
            "batches/-x.json",
            "batches/a b.json",
            "runs/01a/01b-0002.json",
            "runs/01a/deeper/01a-0002.json",
            "runs/01a/01a-0002.exe",
            "runs/01a-0002.json",
            "recordings/01a/01a-0002/request.json",
            f"batches/{'x' * 300}.json",
        ):
            raw.put(path, b"{}")
        assert store.batch_ids() == ["01a"]
        assert store.stored_numbers("01a") == {1}
        assert [entry.run_id for entry in store.last(5)] == ["01a-0001"]

    def test_an_object_that_is_too_large_is_not_read(self, store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
        fill(store, "01a", 1, of=2)
        store.storage.put("runs/01a-0002.json", bytes(20_000))
        monkeypatch.setattr(objects, "LARGEST_OBJECT", 10_000)
        with pytest.raises(StoreError, match=r"01a-0002.json has 20,000 bytes, so it is not read"):
            store.load_run("01a-0002")
        entries = store.last(1)
        assert ([entry.number for entry in entries], entries.skipped) == ([1], 1)

    def test_an_archive_that_unpacks_to_too_much_is_not_read(
        self, store: RunStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.save_recording("01a-0001", {"request.json": bytes(1_000_000)})
        monkeypatch.setattr(objects, "LARGEST_OBJECT", 10_000)
        with pytest.raises(StoreError, match="larger than 10,000 bytes, so it is not read"):
            store.load_recording("01a-0001")

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not an archive", b"{}"])
    def test_a_damaged_archive_is_named(self, store: RunStore, bucket: str, content: bytes) -> None:
        from_url(bucket).put("recordings/01a/01a-0001.zip", content)
        with pytest.raises(StoreError, match=r"recordings/01a/01a-0001.zip is damaged"):
            store.load_recording("01a-0001")

    def test_a_run_of_which_only_the_recording_was_stored_counts_as_made(self, store: RunStore) -> None:
        store.save_batch(batch("01a", 2))
        store.save_recording("01a-0001", FILES)
        assert store.stored_numbers("01a") == {1}
        assert store.batch_entries(batch("01a", 2)).skipped == 1  # this recording has no result

    def test_a_store_that_writes_over_objects_is_refused_before_anything_is_run(
        self, store: RunStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def create(key: str, content: bytes) -> bool:
            store.storage.put(key, content)
            return True

        monkeypatch.setattr(store.storage, "create", create)
        with pytest.raises(StoreError, match="does not refuse to write an object that exists"):
            store.prepare()

    def test_a_bucket_that_does_not_exist_is_named(self, bucket: str, tmp_path: Path) -> None:
        store = StorePlace("s3://there-is-none/x", tmp_path).open()
        with pytest.raises(StoreError, match=r"s3://there-is-none/x/.* cannot be written: NoSuchBucket"):
            store.prepare()
        with pytest.raises(StoreError, match="s3://there-is-none/x/batches cannot be read: NoSuchBucket"):
            store.newest_batches(1)

    def test_the_cache_is_private_and_can_be_deleted(self, bucket: str, tmp_path: Path) -> None:
        place = StorePlace(bucket, tmp_path)
        fill(place.open(), "01a", 2)
        assert len(place.open().last(1)) == 2
        [database] = (tmp_path / "user-cache").rglob("objects.sqlite3")
        assert database.stat().st_mode & 0o777 == 0o600
        assert database.parent.stat().st_mode & 0o777 == 0o700
        database.write_bytes(b"damaged" * 1000)
        assert len(place.open().last(1)) == 2
        database.unlink(missing_ok=True)
        assert len(place.open().last(1)) == 2

    def test_a_complete_batch_is_not_asked_for_again(
        self, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place = StorePlace(bucket, tmp_path)
        fill(place.open(), "01a", 3)
        place.open().last(1)
        store = place.open()
        asked: list[str] = []
        monkeypatch.setattr(store.storage, "get", asked.append)
        assert list(store.last(1)) == [index_entry(result(n, batch_id="01a")) for n in (1, 2, 3)]
        assert asked == []
