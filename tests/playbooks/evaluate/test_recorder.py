"""An evaluation's way into the store."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

from salvo.playbooks.evaluate.recorder import EvaluationRecorder, StoreRecorder
from salvo.playbooks.evaluate.request import new_request
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.playbooks import a_playbook, a_vote, some_inputs


class Slow(StoreRecorder):
    """Its first write takes until it is told to go on."""

    def __init__(self, store: EvaluationStore) -> None:
        super().__init__(store)
        self.writes: list[int] = []
        self.writing = threading.Event()
        self.go_on = threading.Event()

    def save_votes(self, evaluation_id: str, cast: Sequence[Vote]) -> Sequence[int]:
        self.writes.append(len(cast))
        self.writing.set()
        self.go_on.wait(10)
        return super().save_votes(evaluation_id, cast)


async def test_votes_that_come_in_while_another_is_written_go_in_together(tmp_path: Path) -> None:
    with EvaluationStore.open(f"sqlite:///{tmp_path}/byop_runs.db", HeldClock()) as store:
        slow = Slow(store)
        recorder = EvaluationRecorder(lambda: slow, new_request("id-0001", a_playbook(), some_inputs(), "rules"))
        await recorder.start(())
        first = asyncio.create_task(recorder.save_vote(a_vote(run=1)))
        await asyncio.to_thread(slow.writing.wait, 10)
        others = [asyncio.create_task(recorder.save_vote(a_vote(run=run))) for run in (2, 3)]
        await asyncio.sleep(0)
        slow.go_on.set()
        assert await asyncio.gather(first, *others) == [1, 2, 3]
        assert slow.writes == [1, 2]
        assert [(number, vote.run) for number, vote in store.votes("id-0001")] == [(1, 1), (2, 2), (3, 3)]


async def test_an_evaluation_that_is_already_stored_is_not_stored_again(tmp_path: Path) -> None:
    with EvaluationStore.open(f"sqlite:///{tmp_path}/byop_runs.db", HeldClock()) as store:
        request = new_request("id-0001", a_playbook(), some_inputs(), "rules")
        assert list(StoreRecorder(store).start(request, [a_vote(run=1)])) == [1]
        recorder = EvaluationRecorder(lambda: StoreRecorder(store), request, already_stored=True)
        await recorder.start([a_vote(run=1)])
        assert await recorder.save_vote(a_vote(run=2)) == 2
        assert (recorder.error, [number for number, _ in store.votes("id-0001")]) == (None, [1, 2])
