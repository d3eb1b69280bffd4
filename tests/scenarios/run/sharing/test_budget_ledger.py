"""One budget for several sessions: it is never exceeded by more than what was in flight, and nothing of it is lost."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from salvo.scenarios.run.sharing.budget_ledger import BudgetLedger
from salvo.scenarios.store.backends.leases import BEAT, EXPIRY, Leases
from tests.scenarios.store.backends.test_leases import World

LIMIT = 10.0
LARGEST_COST = 0.5


class Session:
    """A shard that makes one run at a time."""

    def __init__(self, leases: Leases, world: World) -> None:
        self.leases = leases
        self.ledger = BudgetLedger(world.storage, leases, "command", LIMIT, shards=3)
        self.spent = self.granted = 0.0

    def try_to_spend(self, cost: float) -> bool:
        if self.spent >= self.granted:
            self.granted = self.ledger.draw(self.spent).total
        if self.spent >= self.granted:
            return False
        self.spent += cost
        self.ledger.report(self.spent)
        return True


class BudgetMachine(RuleBasedStateMachine):
    """Shards spend, pause, return what they have, end, and are killed, in any order."""

    @initialize()
    def begin(self) -> None:
        self.world = World()
        self.sessions: dict[int, Session] = {}
        self.spent = 0.0

    @rule(number=st.integers(0, 2), cost=st.floats(0.01, LARGEST_COST))
    def spend(self, number: int, cost: float) -> None:
        if self._session(number).try_to_spend(cost):
            self.spent += cost

    @rule(number=st.integers(0, 2))
    def give_back(self, number: int) -> None:
        session = self._session(number)
        session.ledger.give_back(session.spent)
        session.granted = session.spent

    @rule(number=st.integers(0, 2))
    def end(self, number: int) -> None:
        session = self._session(number)
        session.ledger.close(session.spent)
        session.leases.close()
        del self.sessions[number]

    @rule(number=st.integers(0, 2))
    def kill(self, number: int) -> None:
        self.sessions.pop(number, None)

    @rule(seconds=st.sampled_from([1.0, EXPIRY + BEAT]))
    def wait(self, seconds: float) -> None:
        for _ in range(int(seconds // BEAT) + 1):
            self.world.wait(min(seconds, BEAT))
            for session in self.sessions.values():
                session.leases.beat()

    @invariant()
    def the_limit_holds(self) -> None:
        if hasattr(self, "world"):
            in_flight = 3 * LARGEST_COST
            assert self.spent <= LIMIT + in_flight

    def teardown(self) -> None:
        """In the end one session can spend all that nobody spent."""
        if not hasattr(self, "world"):
            return
        for session in self.sessions.values():
            session.ledger.close(session.spent)
            session.leases.close()
        self.sessions = {}
        self.world.wait(EXPIRY + 2)
        last = Session(self.world.start(), self.world)
        while last.try_to_spend(0.3):
            self.spent += 0.3
        assert self.spent >= LIMIT - 1e-9

    def _session(self, number: int) -> Session:
        if number not in self.sessions:
            self.sessions[number] = Session(self.world.start(), self.world)
        return self.sessions[number]


TestBudgetMachine = BudgetMachine.TestCase
TestBudgetMachine.settings = settings(max_examples=50)


def test_a_share_is_small_so_that_all_sessions_get_some() -> None:
    world = World()
    first, second = (Session(world.start(), world) for _ in range(2))
    assert first.ledger.draw(0.0).total == pytest.approx(LIMIT / 6)
    assert 0 < second.ledger.draw(0.0).total < LIMIT / 2


def test_a_session_is_told_whether_others_may_return_something() -> None:
    world = World()
    first, second = (Session(world.start(), world) for _ in range(2))
    while (grant := first.ledger.draw(first.granted)).total > first.granted:
        first.granted = grant.total
    assert grant == (LIMIT, False)
    assert second.ledger.draw(0.0) == (0.0, True)
    first.ledger.report(LIMIT)
    assert second.ledger.draw(0.0) == (0.0, False)
    first.ledger.close(LIMIT - 1)
    assert second.ledger.draw(0.0).total > 0
