"""Save a run that was made here or by a worker."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from salvo.errors import StoreError
from salvo.scenarios.result import Cause, Outcome
from salvo.scenarios.run.attempt import FinishedRun
from salvo.scenarios.run.executors.base import EncodedRun, ReplayNote, decode_result
from salvo.scenarios.store.index import IndexEntry, index_entry
from salvo.scenarios.store.store import RunStore, encode_run


class SavedRun(NamedTuple):
    entry: IndexEntry
    """What lists show of it. If it could not be stored, its outcome is an error that says why."""
    replay: ReplayNote
    is_stored: bool


def save_run(store: RunStore, run: FinishedRun | EncodedRun) -> SavedRun:
    """Save the recording first, so that a run that says it is recorded is."""
    if isinstance(run, EncodedRun):
        entry, replay = run.entry, run.replay
    else:
        entry, replay = index_entry(run.result), ReplayNote(run.result.replayable, run.result.replay_note)
    try:
        if run.questions is not None:
            result = run.result if isinstance(run, FinishedRun) else decode_result(run)
            return SavedRun(store.save_pending(result, run.questions, run.recording), replay, is_stored=True)
        if run.recording is not None:
            store.save_recording(entry.run_id, run.recording)
        if isinstance(run, FinishedRun):
            store.save_encoded(entry, encode_run(run.result, store.has_recording))
        elif run.content is not None:
            store.save_encoded(entry, run.content)
        else:  # a worker stored it, or says why it could not
            return SavedRun(entry, replay, is_stored=entry.cause is not Cause.STORE)
    except StoreError as error:
        entry = replace(entry, outcome=Outcome.ERROR, cause=Cause.STORE, error=str(error))
        return SavedRun(entry, replay, is_stored=False)
    return SavedRun(entry, replay, is_stored=True)
