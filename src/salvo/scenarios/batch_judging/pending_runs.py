"""Runs of `salvo run --judges batch` that wait for their judges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from salvo.engine.wire.tape import Tape
from salvo.records import record
from salvo.scenarios.batch_judging.verdicts import judge_pending, prepare_stored
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.plan import RunSettings
from salvo.scenarios.result import Batch
from salvo.scenarios.spec.judge_server import scenario_judge_servers
from salvo.scenarios.spec.loader import from_document
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.ids import split_run_id
from salvo.scenarios.store.recordings.recording import Recording
from salvo.scenarios.workspace import Calls, Workspace


@record
class PendingBatchRuns:
    """The pending runs of some batches, by their ids."""

    workspace: Workspace
    batches: Sequence[Batch]

    def prepare(self) -> None:
        for batch in self.batches:
            if any(scenario_judge_servers(from_document(batch.scenario))):
                # Only the present file says where a key goes; a store does not.
                self.workspace.register_judges(self._present_scenario(batch)[0])

    def waiting(self) -> list[str]:
        store = self.workspace.store()
        return [run_id for batch in self.batches for run_id in store.waiting_runs(batch)]

    def questions(self, owner: str) -> Tape:
        return Tape.from_document(self.workspace.store().pending.load(owner).questions, f"The pending run {owner}")

    async def finish(self, owner: str, answered: Tape) -> None:
        workspace, store = self.workspace, self.workspace.store()
        batch = next(batch for batch in self.batches if batch.batch_id == split_run_id(owner)[0])
        pending = store.pending.load(owner)
        recording = None
        if pending.recording is not None:
            files = {name: content.encode() for name, content in pending.recording.items()}
            recording = Recording.from_files(files, owner)
        prepared = prepare_stored(workspace, batch, batch.scenario, lambda: self._present_scenario(batch))
        options = RunSettings.from_batch(batch).recording
        judged = await judge_pending(workspace, prepared, pending.run, answered, recording, options)
        if judged.recording is not None:
            store.save_recording(owner, judged.recording)
        store.save_run(judged.result)
        store.pending.remove(owner)

    def remove_finished(self) -> None:
        store = self.workspace.store()
        for batch in self.batches:
            for run_id in store.pending.run_ids(f"{batch.batch_id}-"):
                if store.has_run(run_id) or store.has_recording(run_id):
                    store.pending.remove(run_id)

    def _present_scenario(self, batch: Batch) -> tuple[Scenario, Path]:
        workspace = self.workspace
        file = workspace.project.stored_source(
            batch.source,
            "A store does not choose where keys go, or where code comes from.",
            "Restore the scenario file. What was asked of the judges is kept.",
        )
        overrides = ScenarioOverrides.from_batch(batch)
        return workspace.read(file, overrides, scenario_id=batch.scenario_id, calls=Calls.JUDGES), file
