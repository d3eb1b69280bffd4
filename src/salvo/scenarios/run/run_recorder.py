"""The recorder of a run: the wire that records, how far the run can be replayed, and the files of its recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from salvo.engine.runtime.pricing import UnitPrices
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import RecordingOptions
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.tape import OmittedContent, Tape, TapedReply
from salvo.scenarios.result import COMMAND, MCP, AgentRunResult, Replayable
from salvo.scenarios.run.conversation.users import USER_LANE
from salvo.scenarios.store.recordings.recording import Recording
from salvo.scenarios.store.recordings.recording_files import (
    HASHES_ONLY,
    OWN_CONNECTIONS,
    PROGRAM_RUNS_AGAIN,
    SERVED_PROGRAM_RUNS_AGAIN,
)

if TYPE_CHECKING:
    from salvo.scenarios.run.environment import RunEnvironment

_MAX_ADDRESSES = 3


class RunRecorder(RecordingWire):
    def recording_files(
        self, result: AgentRunResult, environment: RunEnvironment, options: RecordingOptions, redactor: Redactor
    ) -> dict[str, bytes]:
        """Note in the result how far the run can be replayed, and return the files of its recording."""
        result.recorded = True
        result.replayable, result.replay_note = _replayability(environment, self.tape, hashes_only=options.hashes_only)
        if environment.own_connections and not options.hashes_only:
            addresses = ", ".join(sorted(environment.own_connections)[:_MAX_ADDRESSES])
            result.replay_note += f" {OWN_CONNECTIONS} ({addresses}), which a replay refuses."
            result.replay_note = redactor.text(result.replay_note.strip())
        recording = Recording(
            batch=environment.prepared.batch,
            endpoint=environment.prepared.endpoint,
            tools=environment.toolbox.definitions,
            tape=self.tape,
            calls=environment.toolbox.records,
            prices=_all_prices(environment),
            result=result,
            mcp_servers=dict(environment.listings),
        )
        return (recording.without_content() if options.hashes_only else recording).to_files(redactor)


def _all_prices(environment: RunEnvironment) -> dict[str, UnitPrices | None]:
    simulated = environment.simulating.prices if environment.simulating else {}
    return {**environment.journal.prices, **environment.judging.prices, **simulated}


def _replayability(environment: RunEnvironment, tape: Tape, *, hashes_only: bool) -> tuple[Replayable, str]:
    """Return how far the run can be replayed, and why no further."""
    if hashes_only:
        return "no", HASHES_ONLY
    if environment.prepared.batch.adapter == MCP:
        return "full", ""
    replies = (exchange.reply for exchange in tape.exchanges)
    if any(isinstance(reply, TapedReply) and isinstance(reply.body, OmittedContent) for reply in replies):
        return "no", "A reply was too large to be recorded; the stored response is evaluated again."
    if any(not exchange.lane.startswith(("judge/", USER_LANE)) for exchange in tape.exchanges):
        if environment.prepared.batch.adapter != COMMAND:
            return "full", ""
        toolbox = environment.toolbox
        has_all_tools = bool(toolbox.records) and not toolbox.made_outside
        return ("full", SERVED_PROGRAM_RUNS_AGAIN) if has_all_tools else ("model-only", PROGRAM_RUNS_AGAIN)
    if environment.toolbox.records:
        return (
            "frozen-tools",
            "The adapter sends nothing through the wire of its run; it runs again with the recorded tools.",
        )
    return "no", "The adapter uses neither the wire nor the toolbox of its run; its stored response is evaluated again."
