"""Leases: whatever servers do and however they are paused, every vote is stored once, by the owner. With a held clock."""

import shutil
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy import text

from salvo.errors import LeaseLostError, UsageError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.store.queueing import leases
from salvo.playbooks.store.queueing.leases import TYPED_KEY, Submission, next_turn
from salvo.playbooks.store.records import State
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.playbooks import a_report, a_vote
from tests.support.stored_evaluations import begin_evaluation

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
SERVERS = st.integers(0, 2)
RUNS = 3
_FAST = Path("/dev/shm")  # noqa: S108 - only the parent of a temporary folder
"""A file system in memory: every step writes several times, and nothing must survive."""


@given(st.floats(0, 60))
def test_a_lease_is_believed_until_it_has_ended_on_every_clock(seconds: float) -> None:
    later = NOW + timedelta(seconds=seconds)
    ends = leases.LEASE + leases.CLOCK_TOLERANCE
    assert leases.is_abandoned("elsewhere/1/1/1", leases.lease_end(NOW), later) == (later > NOW + ends)


@pytest.mark.parametrize("lease_until", [None, "", "soon", "2026-11-15T12:00:00", b"\xff", 7])
def test_what_is_no_time_is_no_lease(lease_until: object) -> None:
    assert leases.is_abandoned("elsewhere/1/1/1", lease_until, NOW)


def test_what_nobody_owns_is_not_abandoned_and_what_is_no_owner_is() -> None:
    assert not leases.is_abandoned(leases.NOBODY, None, NOW)
    assert leases.is_abandoned(b"\xff", leases.lease_end(NOW), NOW)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=40))
def test_a_client_waits_for_one_evaluation_of_each_other_client_and_then_for_two_at_most(clients: list[str]) -> None:
    waiting: list[tuple[int, int, str]] = []
    for number, client in enumerate(clients):
        served = min(waiting, default=(0, 0, ""))[0]
        own = max((turn for turn, _, other in waiting if other == client), default=None)
        waiting.append((next_turn(served, own), number, client))
    order = [client for _, _, client in sorted(waiting)]
    for client in set(order):
        places = [place for place, other in enumerate(order) if other == client]
        for before, after in zip([-1, *places], places, strict=False):
            between = Counter(order[before + 1 : after])
            assert max(between.values(), default=0) <= (1 if before == -1 else 2), order


class Servers(RuleBasedStateMachine):
    """Three servers on one database. Each believes to have what it claimed, until it is told otherwise."""

    pattern: Path

    @initialize()
    def open(self) -> None:
        self.folder = TemporaryDirectory(dir=_FAST if _FAST.is_dir() else None)
        file = Path(self.folder.name) / "byop_runs.db"
        shutil.copy(self.pattern, file)
        self.clock = HeldClock()
        self.stores = [EvaluationStore.open(f"sqlite:///{file}", self.clock) for _ in range(3)]
        self.held: list[set[str]] = [set(), set(), set()]
        self.stored: dict[str, set[int]] = {}
        self.shared: set[str] = set()

    def teardown(self) -> None:
        if hasattr(self, "stores"):
            assert audit_log.check(self.stores[0].audit_log()) is None
            for store in self.stores:
                store.close()
            self.folder.cleanup()

    @rule(server=SERVERS, client=st.sampled_from("ab"), waits=st.booleans(), key=st.booleans())
    def submit(self, server: int, client: str, waits: bool, key: bool) -> None:
        name = self.clock.new_id()
        submission = Submission(client, TYPED_KEY if key else "", waits=waits)
        begin_evaluation(self.stores[server], name, submission=submission)
        self.stored[name] = set()
        if not key:
            self.shared.add(name)
        if key or not waits:
            self.held[server].add(name)

    @rule(server=SERVERS)
    def claim(self, server: int) -> None:
        claimed = self.stores[server].queue.claim({""})
        if claimed is not None:
            self.held[server].add(claimed)

    @rule(server=SERVERS)
    def vote(self, server: int) -> None:
        store = self.stores[server]
        for name in sorted(self.held[server]):
            run = min(set(range(1, RUNS + 1)) - self.stored[name], default=RUNS + 1)
            try:
                store.save_votes(name, [a_vote(run=run)])
            except (LeaseLostError, UsageError):  # UsageError: it is done
                self.held[server].discard(name)
            else:
                self.stored[name].add(run)

    @rule(server=SERVERS)
    def finish(self, server: int) -> None:
        for name in sorted(self.held[server]):
            if len(self.stored[name]) >= RUNS:
                with suppress(LeaseLostError, UsageError):
                    self.stores[server].finish(name, a_report(report_id=name))
                self.held[server].discard(name)

    @rule(server=SERVERS)
    def renew(self, server: int) -> None:
        self.held[server] &= self.stores[server].queue.renew(self.held[server])

    @rule(server=SERVERS)
    def look_for_abandoned(self, server: int) -> None:
        self.stores[server].queue.release_abandoned()

    @rule(server=SERVERS)
    def stop(self, server: int) -> None:
        for name in sorted(self.held[server]):
            if name in self.shared:
                self.stores[server].queue.release(name)
                self.held[server].discard(name)

    @rule(seconds=st.sampled_from([1.0, 6.0, 16.0, 21.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @invariant()
    def only_the_owner_can_write(self) -> None:
        if not hasattr(self, "stores"):
            return
        with self.stores[0]._database.reading() as connection:
            rows = connection.execute(text("SELECT id, owner FROM byop_evaluations"))
            owners = {row.id: row.owner for row in rows}
        for name, runs in self.stored.items():
            assert sorted(vote.run for _, vote in self.stores[0].votes(name)) == sorted(runs)
        for store, names in zip(self.stores, self.held, strict=True):
            for name in names:
                if owners[name] != store._owner:
                    with pytest.raises(LeaseLostError):
                        store.save_votes(name, [a_vote(run=99)])

    @invariant()
    def what_is_shared_is_never_interrupted(self) -> None:
        if not hasattr(self, "stores"):
            return
        for row in self.stores[0].history().rows:
            if row.id in self.shared:
                assert row.state in (State.QUEUED, State.RUNNING, State.DONE)


def test_servers_that_are_paused_stopped_and_late_store_every_vote_once(sqlite_pattern: Path) -> None:
    Servers.pattern = sqlite_pattern
    run_state_machine_as_test(Servers, settings=settings(max_examples=8, stateful_step_count=25, deadline=None))
