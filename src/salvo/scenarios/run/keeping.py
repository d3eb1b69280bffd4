"""What is kept of a recorded run, and how far a replay of it will get."""

from __future__ import annotations

from salvo.engine.wire.record import RecordingWire
from salvo.scenarios.result import COMMAND, AgentRunResult, Batch, Replayable
from salvo.scenarios.run.environment import PreparedScenario, RunEnvironment
from salvo.scenarios.store.recording import HASHES_ONLY, PROGRAM_RUNS_AGAIN, Recording


def recording_of(
    prepared: PreparedScenario,
    result: AgentRunResult,
    stage: RunEnvironment,
    recorder: RecordingWire,
    *,
    hashes_only: bool,
) -> Recording:
    """The recording; its result says that there is one, and how far it goes."""
    result.recorded = True
    result.replayable, result.replay_note = _replayability(stage, recorder, prepared.batch, hashes_only=hashes_only)
    recording = Recording(
        batch=prepared.batch,
        endpoint=prepared.endpoint,
        tools=stage.toolbox.definitions,
        tape=recorder.tape,
        calls=stage.toolbox.records,
        prices={**stage.journal.prices, **stage.judging.prices},
        result=result,
    )
    return recording.without_content() if hashes_only else recording


def _replayability(
    stage: RunEnvironment, recorder: RecordingWire, batch: Batch, *, hashes_only: bool
) -> tuple[Replayable, str]:
    """How far a run can be replayed, and why no further."""
    if hashes_only:
        return "no", HASHES_ONLY
    if any(not exchange.lane.startswith("judge/") for exchange in recorder.tape.exchanges):
        return ("model-only", PROGRAM_RUNS_AGAIN) if batch.adapter == COMMAND else ("full", "")
    if stage.toolbox.records:
        return (
            "frozen-tools",
            "The adapter sends nothing through the wire of its run; it runs again with the recorded tools.",
        )
    return "no", "The adapter uses neither the wire nor the toolbox of its run; its stored response is evaluated again."
