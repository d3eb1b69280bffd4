"""Playbooks from Python: one call, one report."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from salvo.engine.runtime.pool import PoolStopped
from salvo.errors import SalvoError, StoreError, UsageError
from salvo.playbooks.enums import Mode
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.recorder import StoreRecorder
from salvo.playbooks.evaluate.request import DEFAULT_SUBJECT, EvaluationRequest, new_request
from salvo.playbooks.evaluate.runner import EvaluationOutcome, evaluate
from salvo.playbooks.evaluate.session import EvaluatorConfig, default_evaluator
from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.schema import Playbook
from salvo.playbooks.playbook.validate import playbook as validated


def run_playbook(
    playbook: Playbook | Mapping[str, Any] | str | Path,
    ai_output: str,
    source_doc: str | None = None,
    mode: str = "full",
    *,
    prompt: str | None = None,
    system_instructions: str | None = None,
    evaluator: str | None = None,
    runs: int | None = None,
    subject: str = DEFAULT_SUBJECT,
    producer: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    database: str | None = None,
) -> dict[str, Any]:
    """Evaluates a frozen AI output with a playbook, and returns the report: the content of `byop_report`.

    `playbook` is the document, the path of its file, or the id of one in the library. `evaluator` is "rules" or a model
    such as "anthropic/claude-sonnet-4-6"; without one, the model whose key the environment holds, else the rules.
    Nothing is stored unless `database` names a place for it ("sqlite:///byop_runs.db"): without one there is no drift.
    """
    if mode not in tuple(Mode):
        raise UsageError(f"There is no mode {mode!r}.", hint=f"Choose one of: {', '.join(Mode)}.")
    chosen = playbook if isinstance(playbook, Playbook) else _playbook(playbook)
    desk = EvaluatorConfig(evaluator or default_evaluator(os.environ), base_url=base_url, key=api_key)
    desk.check()
    order = new_request(
        report_id=desk.clock.new_id(),
        playbook=chosen,
        inputs=Inputs.from_texts(ai_output, source_doc, prompt, system_instructions),
        evaluator=desk.name,
        mode=Mode(mode),
        runs=runs,
        subject=subject,
        producer=producer,
    )
    done = _waited_for(order, desk, database)
    if done.store_error:
        raise StoreError(done.store_error)
    if isinstance(done.report, PoolStopped):
        raise SalvoError(f"The evaluation was stopped: {done.report.reason}.")
    return done.report.document()


def _playbook(given: Mapping[str, Any] | str | Path) -> Playbook:
    if isinstance(given, Mapping):
        return validated(given, "The playbook")
    return library.find(str(given))


def _waited_for(order: EvaluationRequest, desk: EvaluatorConfig, database: str | None) -> EvaluationOutcome:
    """Also where an event loop runs already, as in a notebook: then in a thread with a loop of its own."""

    async def whole() -> EvaluationOutcome:
        if database is None:
            async with desk.session() as session:
                return await evaluate(order, session)
        from salvo.playbooks.store.store import EvaluationStore

        with EvaluationStore.open(database, desk.clock) as store:
            async with desk.session(open_recorder=lambda: StoreRecorder(store)) as session:
                return await evaluate(order, session)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(whole())).result()
