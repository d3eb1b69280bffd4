"""Several servers on one database: each waiting evaluation is run by one of them, in turns; on both databases."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from salvo.errors import LeaseLostError, TokenUsedError, UsageError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.verification import verify_store
from salvo.playbooks.audit.verification.finding import VerificationState
from salvo.playbooks.store.queueing import leases
from salvo.playbooks.store.queueing.leases import TYPED_KEY, Submission
from salvo.playbooks.store.queueing.queue import AbandonedEvaluations, QueueCounts
from salvo.playbooks.store.records import State
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.playbooks import a_report, a_vote
from tests.support.stored_evaluations import begin_evaluation

ANY = frozenset({""})
GONE = (leases.LEASE + leases.CLOCK_TOLERANCE + timedelta(seconds=1)).total_seconds()


@pytest.fixture
def other(url: str, clock: HeldClock) -> Iterator[EvaluationStore]:
    """The store of another server."""
    with EvaluationStore.open(url, clock) as opened:
        yield opened


def submit(
    store: EvaluationStore,
    name: str = "id-0001",
    *,
    client: str = "one",
    requirement: str | None = "",
    token: str | None = None,
    waits: bool = True,
) -> str:
    return begin_evaluation(store, name, submission=Submission(client, requirement, token, waits))


def altered(store: EvaluationStore) -> list[str]:
    findings = verify_store.verify_all(store)
    return [finding.message for finding in findings if finding.standing is VerificationState.ALTERED]


def test_what_waits_is_run_by_the_server_that_claims_it(store: EvaluationStore, other: EvaluationStore) -> None:
    submit(store)
    assert (store.load("id-0001").state, store.queue.position("id-0001")) == (State.QUEUED, 1)
    assert [row.state for row in other.history().rows] == [State.QUEUED]
    assert other.queue.claim(ANY) == "id-0001"
    assert (store.queue.claim(ANY), store.queue.position("id-0001")) == (None, None)
    assert store.load("id-0001").state is State.RUNNING
    with pytest.raises(LeaseLostError):
        store.save_votes("id-0001", [a_vote()])
    assert other.save_votes("id-0001", [a_vote()]) == [1]
    other.finish("id-0001", a_report())
    assert (store.load("id-0001").state, altered(store)) == (State.DONE, [])
    assert [entry.action for entry in store.audit_log()] == [audit_log.CREATED, audit_log.EVALUATION]


def test_servers_that_claim_at_the_same_time_get_different_evaluations(
    store: EvaluationStore, other: EvaluationStore
) -> None:
    names = {submit(store, f"id-{number:04d}") for number in range(20)}

    def claim_all(queue: EvaluationStore) -> list[str]:
        return list(iter(lambda: queue.queue.claim(ANY), None))

    with ThreadPoolExecutor(4) as threads:
        claimed = [name for names in threads.map(claim_all, (store, other, store, other)) for name in names]
    # PostgreSQL skips a row that another transaction has locked, so all may have ended with one still being claimed.
    assert (len(claimed), set(claimed)) == (20, names)


def test_only_a_server_that_has_what_an_evaluation_requires_claims_it(store: EvaluationStore) -> None:
    submit(store, "id-0001", requirement="key openai")
    submit(store, "id-0002", requirement=TYPED_KEY)
    submit(store, "id-0003", requirement=None)
    assert store.queue.claim(ANY) is None
    assert store.queue.claim({"", "key openai"}) == "id-0001"
    assert store.queue.claim({"", "key openai"}) is None


def test_clients_take_turns(store: EvaluationStore) -> None:
    for number in range(1, 5):
        submit(store, f"a-{number}", client="many")
    assert [store.queue.claim(ANY) for _ in range(2)] == ["a-1", "a-2"]
    submit(store, "b-1", client="few")
    submit(store, "b-2", client="few")
    assert [store.queue.position(name) for name in ("a-3", "b-1", "a-4", "b-2")] == [1, 2, 3, 4]
    assert [store.queue.claim(ANY) for _ in range(4)] == ["a-3", "b-1", "a-4", "b-2"]


def test_what_only_one_server_can_run_keeps_its_turn(store: EvaluationStore, other: EvaluationStore) -> None:
    submit(store, "id-0001", requirement=TYPED_KEY)
    submit(store, "id-0002")
    before = (store.queue.turn("id-0001"), "id-0001")
    assert store.queue.claim(ANY, before) is None
    assert (store.load("id-0001").state, other.load("id-0001").state) == (State.QUEUED, State.QUEUED)
    with pytest.raises(UsageError, match="still running in another process"):
        other.resume("id-0001")
    assert (other.queue.begin("id-0001"), store.queue.begin("id-0001")) == (False, True)
    assert (other.load("id-0001").state, store.queue.counts()) == (State.RUNNING, QueueCounts(waiting=1, running=1))


def test_an_owner_that_stops_renewing_loses_the_evaluation_and_can_write_nothing_more(
    store: EvaluationStore, other: EvaluationStore, clock: HeldClock
) -> None:
    submit(store, waits=False)
    store.save_votes("id-0001", [a_vote(run=1)])
    clock.advance(leases.LEASE.total_seconds())
    assert other.queue.release_abandoned() == AbandonedEvaluations()
    assert store.queue.renew(["id-0001"]) == {"id-0001"}
    clock.advance(GONE)
    assert other.load("id-0001").state is State.QUEUED
    assert other.queue.release_abandoned() == AbandonedEvaluations(requeued=("id-0001",))
    assert other.queue.claim(ANY) == "id-0001"
    assert store.queue.renew(["id-0001"]) == set()
    for write in (
        lambda: store.save_votes("id-0001", [a_vote(run=2)]),
        lambda: store.finish("id-0001", a_report()),
        lambda: store.interrupt("id-0001"),
    ):
        with pytest.raises(LeaseLostError, match="Another process runs the evaluation id-0001 now"):
            write()
    assert other.save_votes("id-0001", [a_vote(run=2)]) == [2]
    other.finish("id-0001", a_report())
    with pytest.raises(LeaseLostError):
        store.save_votes("id-0001", [a_vote(run=3)])
    assert [entry.action for entry in store.audit_log()] == ["created", "resumed", "evaluation"]
    assert altered(store) == []


@pytest.mark.parametrize("requirement", [TYPED_KEY, None])
def test_what_no_other_server_can_run_is_interrupted_when_its_owner_is_gone(
    store: EvaluationStore, other: EvaluationStore, clock: HeldClock, requirement: str | None
) -> None:
    submit(store, requirement=requirement)
    clock.advance(GONE)
    assert other.load("id-0001").state is State.INTERRUPTED
    assert other.queue.release_abandoned() == AbandonedEvaluations(interrupted=("id-0001",))
    assert (store.load("id-0001").state, altered(store)) == (State.INTERRUPTED, [])


def test_an_owner_whose_clock_is_a_little_behind_keeps_its_evaluations(store: EvaluationStore, url: str) -> None:
    submit(store, waits=False)
    ahead = HeldClock()
    ahead.advance((leases.LEASE + leases.CLOCK_TOLERANCE).total_seconds())
    with EvaluationStore.open(url, ahead) as other:
        assert other.queue.release_abandoned() == AbandonedEvaluations()


def test_a_server_that_stops_gives_back_what_others_can_run(store: EvaluationStore, other: EvaluationStore) -> None:
    submit(store, waits=False)
    store.save_votes("id-0001", [a_vote()])
    other.queue.release("id-0001")  # not its own
    assert other.queue.claim(ANY) is None
    store.queue.release("id-0001")
    assert other.queue.claim(ANY) == "id-0001"
    assert [vote.key for _, vote in other.votes("id-0001")] == [a_vote().key]


def test_one_token_is_one_evaluation_on_all_servers(store: EvaluationStore, other: EvaluationStore) -> None:
    submit(store, token="double-click")
    with pytest.raises(TokenUsedError) as used:
        submit(other, "id-0002", token="double-click")
    assert (used.value.evaluation_id, other.queue.find_token("double-click")) == ("id-0001", "id-0001")
    submit(store, "id-0003")
    submit(store, "id-0004")  # without a token, as many as there are
    with pytest.raises(IntegrityError), store._database.writing() as connection:  # the database itself refuses it
        connection.exec_driver_sql("UPDATE byop_evaluations SET client_token = 'double-click'")


def test_an_evaluation_is_cancelled_on_any_server_and_its_owner_learns_of_it(
    store: EvaluationStore, other: EvaluationStore
) -> None:
    submit(store, waits=False)
    other.cancel("id-0001")
    assert store.queue.renew(["id-0001"]) == set()
    assert store.save_votes("id-0001", [a_vote()]) == [1]  # it has been paid for
    other.resume("id-0001", Submission("two", "", waits=False))
    with pytest.raises(LeaseLostError):
        store.save_votes("id-0001", [a_vote(run=2)])
    assert altered(store) == []


def test_what_waits_is_deleted_only_after_it_was_cancelled(store: EvaluationStore) -> None:
    submit(store)
    with pytest.raises(UsageError, match="still running"):
        store.delete("id-0001")
    store.cancel("id-0001")
    store.delete("id-0001")
    assert (store.queue.claim(ANY), store.history().rows) == (None, [])
