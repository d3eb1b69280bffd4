"""Leases: no two processes ever have the same run, whatever their clocks say and however they end."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from salvo.engine.runtime.clock import SystemClock
from salvo.errors import StoreError, UsageError
from salvo.scenarios.store.backends.base import Storage
from salvo.scenarios.store.backends.holds import BatchHolds
from salvo.scenarios.store.backends.leases import BEAT, EXPIRY, LOST_AFTER, Leases
from salvo.scenarios.store.backends.number_ranges import NumberRange, join_ranges, subtract_ranges
from tests.scenarios.store.backends.memory_storage import MemoryStorage
from tests.scenarios.store.conftest import StorePlace
from tests.support.clock import HeldClock

ROOT = Path(__file__).parents[4]


class OwnClock(HeldClock):
    """The clock of one machine, which may be wrong, with ids that no other has."""

    def __init__(self, name: str, wrong_by: float = 0.0) -> None:
        super().__init__(datetime(2026, 11, 15, 12, tzinfo=UTC) + timedelta(seconds=wrong_by))
        self._name = name

    def new_id(self) -> str:
        return f"{self._name}-{super().new_id()}"


class World:
    """A storage, and machines with clocks of their own that all go on together."""

    def __init__(self) -> None:
        self.clock = HeldClock()
        self.storage = MemoryStorage(self.clock)
        self.clocks: list[OwnClock] = []

    def start(self, wrong_by: float = 0.0) -> Leases:
        self.clocks.append(OwnClock(f"m{len(self.clocks)}", wrong_by))
        leases = Leases(self.storage, self.clocks[-1])
        leases.beat()
        return leases

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        for clock in self.clocks:
            clock.advance(seconds)


@pytest.fixture
def world() -> World:
    return World()


def test_a_number_belongs_to_the_first_that_claims_it(world: World) -> None:
    first, second = world.start(), world.start()
    assert first.claim("b", [1, 2, 3, 7]) == [1, 2, 3, 7]
    assert second.claim("b", range(1, 10)) == [4, 5, 6, 8, 9]
    assert first.claim("b", [3, 4]) == [3]
    assert second.claim("another", [1, 2]) == [1, 2]
    [(holder, numbers)] = first.held_by_others("b")
    assert (holder and holder.id, numbers) == (second.id, [NumberRange(4, 6), NumberRange(8, 9)])


def test_what_is_released_can_be_claimed(world: World) -> None:
    first, second = world.start(), world.start()
    first.claim("b", range(1, 11))
    first.release("b", [4, 5])
    assert second.claim("b", range(1, 11)) == [4, 5]
    first.release("b")
    assert second.claim("b", range(1, 11)) == list(range(1, 11))


def test_all_that_a_process_has_is_free_when_it_ends(world: World) -> None:
    first, second = world.start(), world.start()
    for batch_id in ("a", "b"):
        first.claim(batch_id, [1])
    first.close()
    assert (second.claim("a", [1]), second.claim("b", [1])) == ([1], [1])
    assert not first.holds()


def test_a_killed_process_keeps_its_runs_until_its_lease_expires(world: World) -> None:
    killed, other = world.start(), world.start()
    killed.claim("b", [1])
    world.wait(EXPIRY - BEAT)
    other = world.start()
    assert other.claim("b", [1]) == []
    world.wait(BEAT + 2)
    other.beat()
    assert other.claim("b", [1]) == [1]


def test_a_process_that_beats_keeps_its_runs_for_as_long_as_it_likes(world: World) -> None:
    owner, other = world.start(), world.start()
    owner.claim("b", [1])
    for _ in range(100):
        world.wait(BEAT)
        owner.beat()
        other.beat()
        assert other.claim("b", [1]) == []
    assert owner.holds()


@pytest.mark.parametrize("wrong_by", [-86_400, -300, 300, 86_400])
def test_wrong_clocks_neither_free_runs_nor_keep_them(world: World, wrong_by: float) -> None:
    owner, other = world.start(), world.start(wrong_by)
    owner.claim("b", [1])
    for _ in range(10):
        world.wait(BEAT)
        owner.beat()
        other.beat()
    assert other.claim("b", [1]) == []
    for _ in range(7):
        world.wait(BEAT)
        other.beat()
    assert other.claim("b", [1]) == [1]


def test_a_process_that_cannot_beat_stops_before_others_may_take_over(world: World) -> None:
    owner = world.start()
    owner.claim("b", [1])
    world.storage.unreachable = True
    with pytest.raises(StoreError, match="out of reach"):
        owner.beat()
    world.wait(LOST_AFTER - 1)
    assert owner.holds()
    world.wait(1)
    assert not owner.holds()
    world.storage.unreachable = False
    assert world.start().claim("b", [1]) == []
    with pytest.raises(StoreError, match="others may make its runs now"):
        owner.beat()  # it must not come back to life: its runs may be another's soon
    with pytest.raises(StoreError, match="others may make its runs now"):
        owner.claim("b", [2])


def test_a_machine_that_slept_has_lost_its_lease(world: World) -> None:
    owner = world.start()
    clock = world.clocks[0]
    owner.claim("b", [1])
    clock._start += timedelta(seconds=EXPIRY)  # its monotonic clock stood still
    assert not owner.holds()


def test_a_session_whose_object_was_deleted_claims_nothing(world: World) -> None:
    first, second = world.start(), world.start()
    first.claim("b", [1])
    world.storage.delete(f"sessions/{second.id}.json")
    with pytest.raises(StoreError, match="others may make its runs now"):
        second.claim("b", [2])


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"claims": 7}', b'{"claims": {"x": [[1]]}}'])
def test_a_damaged_register_is_named_and_nothing_is_claimed(world: World, content: bytes) -> None:
    world.storage.put("leases/b.json", content)
    with pytest.raises(StoreError, match=r"memory/leases/b.json is damaged"):
        world.start().claim("b", [1])


def test_a_whole_batch_is_held_by_one_process(world: World) -> None:
    first, second = BatchHolds(world.storage), BatchHolds(world.storage)
    with first.hold(["b"], "2026-11-15T12:00:00+00:00"), first.hold(["b", "c"], ""):
        assert first.is_valid()
        held_by = r"The runs of the batch b are being made by process \d+ on .*, since"
        with pytest.raises(UsageError, match=held_by), second.hold(["b"], ""):
            pytest.fail("it was held twice")
    with second.hold(["b", "c"], ""):
        pass
    assert [key for key in world.storage.objects if key.startswith("sessions/")] == []


def test_a_held_batch_and_claimed_runs_exclude_each_other(world: World) -> None:
    shard = Leases(world.storage, SystemClock())
    shard.beat()
    shard.claim("b", [3])
    whole = BatchHolds(world.storage)
    with pytest.raises(UsageError, match="The runs of the batch b are being made by"), whole.hold(["b"], ""):
        pytest.fail("it was held although a run of it is claimed")
    assert shard.claim("b", range(1, 5)) == [1, 2, 3, 4]


def test_shards_hold_what_others_have_not_and_are_refused_if_nothing_is_left(world: World) -> None:
    first, second, third = (BatchHolds(world.storage) for _ in range(3))
    with first.hold_runs({"b": [1, 3, 5], "c": [1]}, "") as granted:
        assert granted == {"b": [1, 3, 5], "c": [1]}
        with first.hold(["b"], ""):  # as the runner does
            pass
        with second.hold_runs({"b": [1, 2]}, "") as rest:
            assert rest == {"b": [2]}
        refused = "The runs of the batch b are being made by process"
        with pytest.raises(UsageError, match=refused), third.hold_runs({"b": [1, 3]}, ""):
            pytest.fail("it was held twice")
    with third.hold_runs({"b": [1, 3]}, "") as granted:
        assert granted == {"b": [1, 3]}


machines = st.integers(0, 2)
numbers = st.sets(st.integers(1, 3), min_size=1)


class LeaseMachine(RuleBasedStateMachine):
    """Processes claim, beat, release, stall, are killed and end, in any order and with any pauses."""

    @initialize()
    def begin(self) -> None:
        self.world = World()
        self.sessions: dict[int, Leases] = {}
        self.granted: dict[str, set[int]] = {}

    @rule(machine=machines, wanted=numbers)
    def claim(self, machine: int, wanted: set[int]) -> None:
        leases = self._session(machine)
        self.granted.setdefault(leases.id, set()).update(leases.claim("b", wanted))

    @rule(machine=machines, unwanted=numbers)
    def release(self, machine: int, unwanted: set[int]) -> None:
        leases = self._session(machine)
        leases.release("b", unwanted)
        self.granted.get(leases.id, set()).difference_update(unwanted)

    @rule(machine=machines)
    def beat(self, machine: int) -> None:
        self._session(machine).beat()

    @rule(seconds=st.sampled_from([0.3, BEAT, LOST_AFTER - 5, LOST_AFTER + 5]))
    def wait(self, seconds: float) -> None:
        self.world.wait(seconds)

    @rule(machine=machines, politely=st.booleans())
    def end(self, machine: int, politely: bool) -> None:
        leases = self.sessions.pop(machine, None)
        if leases is not None and politely:
            leases.close()

    @invariant()
    def no_run_belongs_to_two(self) -> None:
        held = [self.granted.get(item.id, set()) for item in getattr(self, "sessions", {}).values() if item.holds()]
        assert sum(map(len, held)) == len(set().union(*held))

    def _session(self, machine: int) -> Leases:
        """The session of a machine. One that was lost is started again, as a user would."""
        if machine not in self.sessions or not self.sessions[machine].holds():
            self.sessions[machine] = self.world.start(wrong_by=machine * 1000.0)
        return self.sessions[machine]


TestLeaseMachine = LeaseMachine.TestCase
TestLeaseMachine.settings = settings(max_examples=100)  # fewer do not find an expiry that is too short


@given(st.sets(st.integers(1, 40)), st.integers(1, 40), st.integers(0, 10))
def test_ranges_are_sets_of_numbers(items: set[int], first: int, length: int) -> None:
    ranges = join_ranges(items)
    assert _expand(ranges) == sorted(items)
    assert all(one.last + 1 < other.first for one, other in pairwise(ranges))
    removed = NumberRange(first, first + length)
    assert _expand(subtract_ranges(ranges, [removed])) == sorted(items - set(range(first, first + length + 1)))


def _expand(ranges: list[NumberRange]) -> list[int]:
    return [number for item in ranges for number in range(item.first, item.last + 1)]


WORKER = """
import sys
from pathlib import Path
from salvo.engine.runtime.clock import SystemClock
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.backends.leases import Leases
from salvo.scenarios.store.location import open_store

store = open_store(Project(Path(), Path(), store_address=sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
with Leases(store.storage, SystemClock()) as leases:
    for first in range(1, 101, 5):
        print(*leases.claim("b", range(first, first + 8)), flush=True)
    sys.stdin.readline()
"""


def test_of_several_processes_each_number_goes_to_one(place: StorePlace) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, place.address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for _ in range(3)
    ]
    claimed: list[list[int]] = []
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(20)]
        claimed.append(sorted({int(word) for line in lines for word in line.split()}))
    for process in processes:
        process.communicate("\n", timeout=30)
    assert sorted(number for made in claimed for number in made) == list(range(1, 104))
    storage: Storage = place.open().storage
    assert list(storage.names("sessions")) == []
