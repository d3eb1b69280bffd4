"""Judgings of `salvo judge --judges batch` that wait for their votes."""

from __future__ import annotations

from dataclasses import replace

from salvo.engine.batches.deferral import AnswerWire
from salvo.engine.wire.tape import Tape
from salvo.records import record
from salvo.scenarios.analysis.rejudge import rejudge
from salvo.scenarios.evaluators.base import refuse_to_load
from salvo.scenarios.result import Batch
from salvo.scenarios.run.environment import JudgingServices
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.store.rejudge_store import PendingKey, RejudgeStore
from salvo.scenarios.stored_judges import stored_judges, with_present_servers
from salvo.scenarios.workspace import Workspace


@record
class PendingJudgings:
    """The pending judgings of one batch, each as `{run_id}.{time}.{command}`."""

    workspace: Workspace
    batch: Batch

    def prepare(self) -> None:
        self.workspace.register_judges(with_present_servers(self.workspace, self.batch))

    def waiting(self) -> list[str]:
        return list(map(str, self._judgings.pending(self.batch.batch_id)))

    def questions(self, owner: str) -> Tape:
        pending = self._judgings.load_pending(self.batch.batch_id, PendingKey.parse(owner))
        return Tape.from_document(pending.questions, f"The pending judging {owner}")

    async def finish(self, owner: str, answered: Tape) -> None:
        workspace, key, batch_id = self.workspace, PendingKey.parse(owner), self.batch.batch_id
        pending = self._judgings.load_pending(batch_id, key)
        scenario, redactor = stored_judges(self.batch), workspace.redactor()
        wire = AnswerWire(answered, redactor)

        def services(index: int, lane_prefix: str) -> JudgingServices:
            journal = Journal(workspace.clock, price_book=workspace.price_book())
            return JudgingServices(wire, journal, refuse_to_load, scenario, index, lane_prefix=lane_prefix)

        result = workspace.store().load_run(key.judging.run_id)
        judged, _ = await rejudge(scenario, result, key.judging.time, pending.salvo_version, redactor, services)
        self._judgings.append(batch_id, replace(judged, batched=True))
        self._judgings.remove_pending(batch_id, key)

    def remove_finished(self) -> None:
        """Keep everything: the answers are stored, so one that is judged twice is the same, and counts once."""

    @property
    def _judgings(self) -> RejudgeStore:
        return RejudgeStore(self.workspace.store())
