"""Scores of `salvo score --judges batch` that wait for their judges."""

from __future__ import annotations

from pathlib import Path

from salvo.engine.wire.tape import Tape
from salvo.records import record
from salvo.scenarios.batch_judging.verdicts import judge_pending, prepare_stored
from salvo.scenarios.result import Batch
from salvo.scenarios.score import known_prices, present_scenario
from salvo.scenarios.spec.judge_server import scenario_judge_servers
from salvo.scenarios.spec.loader import from_document
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.score_store import RunScore, ScoreStore, Scoring
from salvo.scenarios.workspace import Workspace


@record
class PendingScores:
    """The pending scores of one scoring, each as `{score_id}/{run_id}`."""

    workspace: Workspace
    scoring: Scoring
    batch: Batch
    """The batch whose runs are scored."""

    def prepare(self) -> None:
        if any(scenario_judge_servers(from_document(self.scoring.scenario))):
            # Only the present file says where a key goes; a store does not.
            self.workspace.register_judges(self._present_scenario()[0])

    def waiting(self) -> list[str]:
        score_id = self.scoring.score_id
        return [f"{score_id}/{run_id}" for run_id in self._scores.waiting_runs(score_id)]

    def questions(self, owner: str) -> Tape:
        pending = self._scores.load_pending(self.scoring.score_id, _run_id(owner))
        return Tape.from_document(pending.questions, f"The pending score {owner}")

    async def finish(self, owner: str, answered: Tape) -> None:
        workspace, score_id, run_id = self.workspace, self.scoring.score_id, _run_id(owner)
        score = self._scores.load_pending(score_id, run_id).score
        run = score.apply(workspace.store().load_run(run_id), self.batch.batch_id)
        prepared = prepare_stored(workspace, self.batch, self.scoring.scenario, self._present_scenario)
        judged = await judge_pending(workspace, prepared, run, answered)
        self._scores.save_run(score_id, RunScore.from_result(judged.result, known_prices(judged.prices)))
        self._scores.remove_pending(score_id, run_id)

    def remove_finished(self) -> None:
        score_id = self.scoring.score_id
        for run_id in set(self._scores.pending_runs(score_id)) & set(self._scores.scored_runs(score_id)):
            self._scores.remove_pending(score_id, run_id)

    @property
    def _scores(self) -> ScoreStore:
        return ScoreStore(self.workspace.store())

    def _present_scenario(self) -> tuple[Scenario, Path]:
        scenario, file, _ = present_scenario(self.workspace, self.batch, self.scoring)
        return scenario, file


def _run_id(owner: str) -> str:
    return owner.rpartition("/")[2]
