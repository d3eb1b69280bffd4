"""`--store`: every command works on runs in an object store as on those in a folder. The store is moto's, on loopback."""

import json
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from salvo.cli.exit_codes import ExitCode
from salvo.scenarios.result import Outcome
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.store import RunStore
from tests.support.object_store import object_environment
from tests.support.project import UserProject

AGENTS = """
import os
import signal
import time
from itertools import count
from pathlib import Path

turns = count(1)


def sometimes_wrong(request):
    return {"answer": 41 if next(turns) % 4 == 0 else 42}


def interrupted(request):
    if next(turns) == 2 and not Path("continued").exists():
        os.kill(os.getpid(), signal.SIGINT)
    return {"answer": 42}


async def slow(request):
    import asyncio
    await asyncio.sleep(0 if Path("continued").exists() else 60)
    return {"answer": 42}
"""
SCENARIO = """
scenario: six_times_seven
adapter: function:agents.{agent}
runs: 4
concurrency: 1
user_message: What is 6 × 7?
assertions: [{{type: jmespath, path: final_output.answer, operator: eq, value: 42}}]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UserProject:
    made = UserProject(tmp_path, monkeypatch)
    made.write(".salvo/.gitignore", "*\n")
    made.write("agents.py", AGENTS)
    made.write("scenarios/six.yaml", SCENARIO.format(agent="sometimes_wrong"))
    return made


@pytest.fixture
def shared(project: UserProject, bucket: str) -> Iterator[UserProject]:
    """The project, whose runs are in an object store."""
    project.environ["SALVO_STORE"] = bucket
    yield project
    assert [path.name for path in project.store.iterdir() if path.name != "baseline.json"] == [".gitignore"]


def opened(project: UserProject) -> RunStore:
    folder = project.folder
    return open_store(Project(folder, folder, store_address=project.environ["SALVO_STORE"]))


def tidy(text: str) -> str:
    text = re.sub(r"\b[0-9a-z]{16}\b", "BATCH", text)
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", text)


def test_runs_are_made_recorded_listed_shown_and_replayed(shared: UserProject, object_server: str) -> None:
    ran = shared.salvo("run", "--record")
    assert ran.exit_code == ExitCode.FAILED
    place = f"Runs are stored in {shared.environ['SALVO_STORE']} at {object_server}.\n"
    assert ran.stderr.startswith(place)
    listed = shared.salvo("report")
    assert tidy(listed.stdout) == snapshot("""\
BATCH             SCENARIO         MODEL   WHEN              RUNS  PASS-RATE  95%           SCORE  ERRORS  COST     VERDICT
BATCH  six_times_seven  custom  WHEN  4/4   75%        19% to 99.4%  0.75           unknown  failed
""")
    [shown] = json.loads(shared.salvo("report", "latest", "--json").stdout)["batches"]
    assert (shown["passed"], shown["failed"]) == (3, 1)
    [batch_id] = opened(shared).batch_ids()
    assert "run 4  failed" in shared.salvo("report", f"{batch_id}-0004").stdout
    replayed = shared.salvo("replay", f"{batch_id}-0001")
    assert replayed.exit_code == ExitCode.OK, replayed.output
    assert shared.salvo("report", "latest", "--html", "out.html").exit_code == ExitCode.OK


def test_batches_are_compared_scored_blessed_and_selected(shared: UserProject) -> None:
    for _ in range(2):
        assert shared.salvo("run").exit_code == ExitCode.FAILED
    assert "no difference seen" in shared.salvo("compare", "latest~1", "latest").stdout
    scored = shared.salvo("score", "latest")
    [score_id] = re.findall(r"score-\w+", scored.output.rpartition("Stored as")[2])
    assert shared.salvo("report", score_id).exit_code == ExitCode.OK
    assert shared.salvo("compare", "latest~1", score_id).exit_code == ExitCode.OK
    assert shared.salvo("baseline", "bless", "latest").exit_code == ExitCode.OK
    assert (shared.store / "baseline.json").is_file()
    again = shared.salvo("run", "--against-baseline", "--lf")
    assert "1 scenario did not pass last time." in again.stderr


def test_stores_are_joined_in_both_directions(shared: UserProject, tmp_path: Path) -> None:
    assert shared.salvo("run", "--store", "local", "--record").exit_code == ExitCode.FAILED
    merged = shared.salvo("merge", "local")
    assert (merged.exit_code, f"4 runs added to {shared.environ['SALVO_STORE']}" in merged.stderr) == (1, True)
    back = shared.salvo("merge", shared.environ["SALVO_STORE"], "--into", "copy")
    assert "4 runs added to" in back.stderr
    files = {path.relative_to(tmp_path / "local") for path in (tmp_path / "local").rglob("*.json")}
    assert len(files) == 1 + 4 + 4 * 2
    for file in files:
        assert (tmp_path / "copy" / file).read_bytes() == (tmp_path / "local" / file).read_bytes()


def test_shards_on_one_store_make_every_run_once(shared: UserProject) -> None:
    shards = [shared.process("run", "--shard", f"{number}/2", "--batch", "nightly") for number in (1, 2)]
    outputs = [process.communicate(timeout=60) for process in shards]
    assert [process.returncode for process in shards] == [0, 0], outputs
    assert [len(numbers) for numbers in map(opened(shared).stored_numbers, opened(shared).batch_ids())] == [4]
    assert shared.salvo("report", "latest").exit_code == ExitCode.OK
    again = shared.salvo("run", "--shard", "1/2", "--batch", "nightly")
    assert "Nothing is missing" in again.stderr


def test_workers_store_their_runs_and_recordings_themselves(shared: UserProject) -> None:
    shared.write("scenarios/six.yaml", SCENARIO.format(agent="in_a_worker").replace("concurrency: 1\n", ""))
    shared.write(
        "agents.py",
        "import os\n\nasync def in_a_worker(request):\n    return {'answer': 42, 'pid': os.getpid()}\n",
    )
    ran = shared.salvo("run", "--record", "--processes", "2")
    assert ran.exit_code == ExitCode.OK, ran.output
    store = opened(shared)
    [batch_id] = store.batch_ids()
    assert store.stored_numbers(batch_id) == {1, 2, 3, 4}
    run_ids = store.batch_run_ids(batch_id)
    assert all(store.has_recording(run_id) for run_id in run_ids)
    assert {entry.outcome for entry in store.load_entries(batch_id)} == {Outcome.PASSED}
    assert shared.salvo("replay", run_ids[0]).exit_code == ExitCode.OK


def test_an_interrupted_batch_is_resumed_at_once(shared: UserProject) -> None:
    shared.write("scenarios/six.yaml", SCENARIO.format(agent="interrupted"))
    process = shared.process("run")
    process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    stored = opened(shared).stored_numbers(opened(shared).batch_ids()[0])
    assert 1 <= len(stored) < 4
    shared.write("continued", "")
    resumed = shared.salvo("run", "--resume", "latest")
    assert resumed.exit_code == ExitCode.OK
    assert opened(shared).stored_numbers(opened(shared).batch_ids()[0]) == {1, 2, 3, 4}


def test_a_batch_that_another_process_makes_is_not_resumed_until_that_has_ended(shared: UserProject) -> None:
    shared.write("scenarios/six.yaml", SCENARIO.format(agent="slow"))
    process = shared.process("run")
    store = opened(shared)
    deadline = time.monotonic() + 30
    while not store.storage.exists(f"leases/{(store.batch_ids() or ['none'])[0]}.json"):
        assert time.monotonic() < deadline
        store.index.batch_written()
        time.sleep(0.05)
    refused = shared.salvo("run", "--resume", "latest")
    assert refused.exit_code == ExitCode.USAGE
    assert f"are being made by process {process.pid} on " in refused.stderr
    process.send_signal(signal.SIGKILL)
    process.communicate()
    shared.write("continued", "")  # not before: a process that has not begun its first run yet would end by itself
    [session] = store.storage.names("sessions")
    stored = store.storage.get(f"sessions/{session}")
    elsewhere = {**json.loads(stored), "pid_namespace": "another machine"}
    store.storage.put(f"sessions/{session}", json.dumps(elsewhere).encode())
    assert shared.salvo("run", "--resume", "latest").exit_code == ExitCode.USAGE  # nobody can know yet
    store.storage.put(f"sessions/{session}", stored)
    assert shared.salvo("run", "--resume", "latest").exit_code == ExitCode.OK


def test_credentials_are_neither_stored_nor_printed(shared: UserProject, object_server: str, tmp_path: Path) -> None:
    shared.write(
        "agents.py",
        "import os\n\ndef sometimes_wrong(request):\n    return {'answer': 42, 'key': os.environ['AWS_SECRET_ACCESS_KEY']}\n",
    )
    secret = object_environment(object_server)["AWS_SECRET_ACCESS_KEY"]
    outputs = [shared.salvo(*command).output for command in (["run", "--record"], ["report"], ["report", "latest"])]
    store = opened(shared)
    run_ids = store.batch_run_ids(store.batch_ids()[0])
    stored = b"".join(b"".join(store.load_recording(run_id).values()) for run_id in run_ids)
    stored += b"".join(store.storage.get(f"runs/{run_id}.json") for run_id in run_ids)
    cached = b"".join(path.read_bytes() for path in (tmp_path / "user-cache").rglob("*") if path.is_file())
    assert b"[redacted" in stored.lower()
    assert secret not in "".join(outputs)
    assert secret.encode() not in stored + cached


def test_a_store_out_of_reach_is_an_error_before_anything_is_run(
    shared: UserProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.environ["SALVO_STORE"] = "s3://no-such-bucket/x"
    ran = shared.salvo("run")
    assert ran.exit_code == ExitCode.NOT_JUDGED
    assert "NoSuchBucket" in ran.stderr
    assert "runs done" not in ran.stderr


def test_another_folder_is_used_by_option_and_by_variable(project: UserProject) -> None:
    ran = project.salvo("run", "--store", "elsewhere")
    assert ran.exit_code == ExitCode.FAILED
    assert "Other commands find these runs with --store elsewhere, or with SALVO_STORE." in ran.stderr
    assert len(list((project.folder / "elsewhere" / "runs").iterdir())) == 4
    assert project.salvo("report").exit_code == ExitCode.NOTHING
    project.environ["SALVO_STORE"] = "elsewhere"
    assert "six_times_seven" in project.salvo("report").stdout


@pytest.mark.parametrize("folder", ["runs", "batches", "recordings"])
@pytest.mark.parametrize("batch", [(), ("--batch", "nightly"), ("--batch", "nightly", "--shard", "1/2")])
def test_a_folder_of_the_store_that_leads_out_of_it_is_not_written_to(
    project: UserProject, tmp_path_factory: pytest.TempPathFactory, folder: str, batch: tuple[str, ...]
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (project.store / folder).symlink_to(outside)
    refused = project.salvo("run", "--record", *batch)
    assert refused.exit_code == ExitCode.NOT_JUDGED
    assert f"{project.store / folder} leads out of the store, so nothing is written there." in refused.stderr
    assert list(outside.iterdir()) == []
    assert "runs done" not in refused.stderr
