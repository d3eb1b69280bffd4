"""`salvo run --shard` on one store: shards look at each other's runs, spend one budget, and take over from the dead."""

import json
import re
import shutil
import signal
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import pytest

from salvo.cli.exit_codes import ExitCode
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.store import RunStore
from tests.support.processes import wait_until
from tests.support.project import UserProject
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say

SCENARIO = """
scenario: greet
adapter: openai
model: gpt-4o
seed: 100
min_pass_rate: 0.6
confidence: 0.9
user_message: Say hello.
assertions: [{type: text, contains_all: [hello]}]
"""


class CountedProvider:
    """Answers slowly, wrongly in every fifth run, and counts the calls of each run."""

    def __init__(self, delay: float = 0.05) -> None:
        self.delay = delay
        self.calls: Counter[int] = Counter()
        self._lock = Lock()

    def __call__(self, request: ProviderRequest) -> Answer:
        number = request.body["seed"] - 99
        with self._lock:
            self.calls[number] += 1
        return Say("goodbye" if number % 5 == 0 else "hello", delay=self.delay)


@pytest.fixture
def greeting(project: UserProject) -> UserProject:
    shutil.rmtree(project.folder / "scenarios")
    project.write("scenarios/greet.yaml", SCENARIO)
    return project


@dataclass
class SharedStore:
    """A store that all shards reach."""

    project: UserProject
    address: str

    def reach(self, provider: LoopbackProvider) -> None:
        self.project.reach(provider)
        self.project.environ["SALVO_STORE"] = self.address

    def open(self) -> RunStore:
        return open_store(Project(self.project.folder, self.project.folder, store_address=self.address))

    def cost_of_a_run(self) -> float:
        folder = str(self.project.folder / "priced")
        ran = self.project.salvo("run", "-n", "1", "--store", folder, "--json")
        cost: float = json.loads(ran.stdout)["batches"][0]["results"][0]["metrics"]["cost"]
        return cost


MANY_PROCESSES = ["folder", pytest.param("object store", marks=pytest.mark.load)]
"""The stores of a test that starts several shards: `make test` starts them once."""


@pytest.fixture(params=["folder", "object store"])
def shared(request: pytest.FixtureRequest, greeting: UserProject) -> SharedStore:
    is_folder = request.param == "folder"
    return SharedStore(greeting, str(greeting.folder / "shared") if is_folder else request.getfixturevalue("bucket"))


@pytest.mark.parametrize("shared", MANY_PROCESSES, indirect=True)
@pytest.mark.load
def test_rounds_of_all_shards_end_where_one_process_would_have_ended(shared: SharedStore, tmp_path: Path) -> None:
    counted = CountedProvider()
    options = ("--until-sure", "--max-runs", "60", "--batch", "nightly")
    with LoopbackProvider(counted) as provider:
        shared.reach(provider)
        shards = [shared.project.process("run", *options, "--shard", f"{number}/3", "-j", "2") for number in (1, 2, 3)]
        outputs = [process.communicate(timeout=60) for process in shards]
        assert [process.returncode for process in shards] == [0, 0, 0], outputs
        assert set(counted.calls.values()) == {1}
        whole = shared.project.salvo("run", *options, "--json")
        made = len(provider.requests)
        alone = shared.project.salvo("run", *options, "-j", "6", "--store", str(tmp_path / "alone"), "--json")
    assert len(counted.calls) == made  # the command without --shard made nothing
    assert whole.exit_code == alone.exit_code == ExitCode.OK
    [batch] = json.loads(whole.stdout)["batches"]
    [expected] = json.loads(alone.stdout)["batches"]
    assert made == expected["runs"] < 60
    assert batch["evidence"] == expected["evidence"]
    store = shared.open()
    assert store.load_batch(store.batch_ids()[0]).rounds == list(range(6, made + 1, 6))


def test_a_shard_makes_what_missing_shards_leave(shared: SharedStore) -> None:
    counted = CountedProvider(delay=0.0)
    with LoopbackProvider(counted) as provider:
        shared.reach(provider)
        ran = shared.project.salvo("run", "--shard", "2/4", "--until-sure", "--max-runs", "60", "-j", "2")
    assert ran.exit_code == ExitCode.OK, ran.output
    assert len(counted.calls) % 8 == 0
    assert f"Shard 2/4: {len(counted.calls)} of {len(counted.calls)} runs stored" in ran.stdout
    assert re.search(
        r"If all shards have this store, the same command with --batch \S+ and without --shard gives it\.", ran.stdout
    )


@pytest.mark.parametrize("shared", MANY_PROCESSES, indirect=True)
@pytest.mark.load
def test_a_killed_shard_is_replaced_by_the_others(shared: SharedStore) -> None:
    counted = CountedProvider(delay=0.3)
    options = ("--until-sure", "--max-runs", "60", "--batch", "nightly", "-j", "4")
    with LoopbackProvider(counted) as provider:
        shared.reach(provider)
        first, second = (shared.project.process("run", *options, "--shard", f"{number}/2") for number in (1, 2))
        wait_until(lambda: len(provider.requests) >= 9)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        output = second.communicate(timeout=60)
    assert second.returncode == ExitCode.OK, output
    store = shared.open()
    [batch_id] = store.batch_ids()
    batch = store.load_batch(batch_id)
    assert store.stored_numbers(batch_id) == set(range(1, batch.runs + 1)) == set(counted.calls)
    assert sum(counted.calls.values()) <= batch.runs + 4


@pytest.mark.parametrize("shared", MANY_PROCESSES, indirect=True)
def test_all_shards_together_spend_one_budget(shared: SharedStore) -> None:
    counted = CountedProvider(delay=0.1)
    shared.project.write("scenarios/greet.yaml", SCENARIO.replace("confidence: 0.9", "runs: 200"))
    with LoopbackProvider(counted) as provider:
        shared.reach(provider)
        cost = shared.cost_of_a_run()
        counted.calls.clear()
        options = ("--max-cost", str(60 * cost), "--batch", "nightly", "-j", "2")
        shards = [shared.project.process("run", *options, "--shard", f"{number}/4") for number in range(1, 5)]
        outputs = [process.communicate(timeout=60) for process in shards]
        assert [process.returncode for process in shards] == [ExitCode.NOT_JUDGED] * 4, outputs
        assert 60 <= sum(counted.calls.values()) <= 60 + 4 * 2
        spent = shared.project.salvo("run", *options, "--shard", "1/4")
        assert (spent.exit_code, 60 <= sum(counted.calls.values()) <= 60 + 4 * 2) == (ExitCode.NOT_JUDGED, True)
    assert "not made: the budget of $" in spent.stdout


@pytest.mark.parametrize("shared", MANY_PROCESSES, indirect=True)
@pytest.mark.load
def test_what_a_killed_shard_did_not_spend_is_spent_by_the_others(shared: SharedStore) -> None:
    counted = CountedProvider(delay=0.2)
    shared.project.write("scenarios/greet.yaml", SCENARIO.replace("confidence: 0.9", "runs: 200"))
    with LoopbackProvider(counted) as provider:
        shared.reach(provider)
        cost = shared.cost_of_a_run()
        counted.calls.clear()
        options = ("--max-cost", str(40 * cost), "--batch", "nightly", "-j", "3")
        first = shared.project.process("run", *options, "--shard", "1/2")
        wait_until(lambda: len(counted.calls) >= 7)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        second = shared.project.salvo("run", *options, "--shard", "2/2")
    assert second.exit_code == ExitCode.NOT_JUDGED, second.output
    assert 40 <= sum(counted.calls.values()) <= 40 + 3 + 3


def test_two_shards_work_side_by_side_in_a_folder_and_a_whole_batch_excludes_them(greeting: UserProject) -> None:
    counted = CountedProvider(delay=0.0)
    greeting.write("scenarios/greet.yaml", SCENARIO.replace("confidence: 0.9", "runs: 8"))
    with LoopbackProvider(counted) as provider:
        greeting.reach(provider)
        provider.hold()  # until the other commands were refused, however slow the machine is
        shards = [greeting.process("run", "--shard", f"{number}/2", "--batch", "nightly") for number in (1, 2)]
        wait_until(lambda: len(provider.requests) == 8)
        assert provider.most_at_once == 8
        whole = greeting.salvo("run", "--batch", "nightly")
        again = greeting.salvo("run", "--shard", "1/2", "--batch", "nightly")
        provider.let_go()
        outputs = [process.communicate(timeout=60) for process in shards]
        assert [process.returncode for process in shards] == [0, 0], outputs
        after = greeting.salvo("run", "--batch", "nightly")
    for refused in (whole, again):
        assert refused.exit_code == ExitCode.USAGE
        assert "The runs of the batch" in refused.stderr
    assert after.exit_code == ExitCode.OK, after.output
    assert set(counted.calls.values()) == {1}


@pytest.mark.parametrize("option", [("--until-sure", "--max-runs", "9"), ("--max-cost", "1")])
def test_without_one_store_such_shards_are_refused(greeting: UserProject, option: tuple[str, ...]) -> None:
    ran = greeting.salvo("run", "--shard", "1/2", *option)
    assert ran.exit_code == ExitCode.USAGE
    assert "so these need one store: name it with --store" in ran.stderr
