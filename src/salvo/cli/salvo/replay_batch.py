"""`salvo replay BATCH` and `salvo replay --failed`: replay many runs, with a summary and one exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.errors import InputError, SalvoError
from salvo.records import record
from salvo.scenarios.replay import NamedCode, Replayer, RunReplay
from salvo.scenarios.result import Outcome
from salvo.scenarios.store.store import RunStore


class _ReplayState(StrEnum):
    IDENTICAL = "identical"
    RECONSTRUCTED = "reconstructed"
    DIVERGED = "diverged"
    NOT_RECORDED = "not recorded"
    NOT_REPLAYED = "could not be replayed"


@record
class _ReplayedRun:
    run_id: str
    state: _ReplayState
    reason: str = ""
    replay: RunReplay | None = None


def runs_to_replay(store: RunStore, batch: str, *, failed: bool) -> list[str]:
    """Return the runs of a batch, or the failed ones; for `latest` those of all batches of the newest command."""
    batches = store.find_batches(batch)
    if not failed:
        return [run_id for item in batches for run_id in store.batch_run_ids(item.batch_id)]
    entries = (entry for item in batches for entry in store.batch_entries(item))
    return [entry.run_id for entry in entries if entry.outcome is Outcome.FAILED]


async def replay_runs(replayer: Replayer, run_ids: Sequence[str], code: NamedCode, *, as_json: bool) -> ExitCode:
    """Replay runs one after the other, print what did not come out identical, and return one exit code for all."""
    counts: Counter[_ReplayState] = Counter()
    notes: Counter[str] = Counter()
    documents: list[dict[str, Any]] = []
    for run_id in run_ids:
        run = await _replay_run(replayer, run_id, code)
        counts[run.state] += 1
        notes.update(run.replay.warnings if run.replay else ())
        if as_json:
            documents.append(_document(run))
        elif run.state is not _ReplayState.IDENTICAL:
            echo(f"{run_id}  {run.state}  {printable(' '.join(run.reason.split()))}".rstrip())
    if counts[_ReplayState.NOT_RECORDED] == len(run_ids):
        raise InputError("None of these runs was recorded, so none can be replayed.", hint="salvo run --record")
    if as_json:
        totals = {state.name.lower(): counts[state] for state in _ReplayState}
        echo_json(json_codec.dumps({"runs": len(run_ids), **totals, "replays": documents}, indent=2))
    else:
        echo("\n".join(_summary(len(run_ids), counts, notes)))
    if counts[_ReplayState.DIVERGED]:
        return ExitCode.FAILED
    return (
        ExitCode.NOT_JUDGED if counts[_ReplayState.NOT_RECORDED] or counts[_ReplayState.NOT_REPLAYED] else ExitCode.OK
    )


async def _replay_run(replayer: Replayer, run_id: str, code: NamedCode) -> _ReplayedRun:
    if not replayer.store.has_recording(run_id):
        return _ReplayedRun(run_id, _ReplayState.NOT_RECORDED)
    try:
        replay = await replayer.replay(run_id, code)
    except SalvoError as error:  # the other runs may still be replayed
        return _ReplayedRun(run_id, _ReplayState.NOT_REPLAYED, str(error))
    if not replay.identical:
        return _ReplayedRun(run_id, _ReplayState.DIVERGED, replay.first_difference, replay)
    if replay.mode == "reconstructed":
        return _ReplayedRun(run_id, _ReplayState.RECONSTRUCTED, replay=replay)
    return _ReplayedRun(run_id, _ReplayState.IDENTICAL, replay=replay)


def _summary(total: int, counts: Counter[_ReplayState], notes: Counter[str]) -> Iterator[str]:
    yield from (f"Note ({pluralize(count, 'run')}): {printable(note)}" for note, count in notes.items())
    yield f"{pluralize(total, 'run')}: " + ", ".join(
        f"{counts[state]} {state}" for state in _ReplayState if counts[state]
    )


def _document(run: _ReplayedRun) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "state": run.state.name.lower(),
        "mode": run.replay.mode if run.replay else None,
        "reason": run.reason or None,
        "differences": [difference._asdict() for difference in run.replay.differences] if run.replay else [],
    }
