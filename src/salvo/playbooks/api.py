"""The Python API of playbooks: `run_playbook` returns a report."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from salvo.engine.runtime.pool import PoolStopped
from salvo.errors import SalvoError, StoreError, UsageError
from salvo.playbooks.audit.head_key import head_key_reader
from salvo.playbooks.enums import Mode
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.recorder import StoreRecorder
from salvo.playbooks.evaluate.request import DEFAULT_SUBJECT, EvaluationRequest, new_request
from salvo.playbooks.evaluate.runner import EvaluationOutcome, evaluate
from salvo.playbooks.evaluate.session import EvaluatorConfig, default_evaluator, split_evaluator
from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.definition import Playbook
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
    title: str | None = None,
    reviewer: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float | None = None,
    database: str | None = None,
) -> dict[str, Any]:
    """Evaluate a frozen AI output with a playbook and return the report: the content of `byop_report`.

    `playbook` is the document, the path of its file, or the id of one in the library. `evaluator` is "rules" or a model
    such as "anthropic/claude-sonnet-4-6"; by default a model whose key is in the environment, else the rules. A model
    on another server is "openai/llama@http://127.0.0.1:8080", and `timeout` is how many seconds one call may take.
    The evaluation is stored only if `database` is given ("sqlite:///byop_runs.db"); otherwise there is no drift.
    """
    if mode not in tuple(Mode):
        raise UsageError(f"There is no mode {mode!r}.", hint=f"Choose one of: {', '.join(Mode)}.")
    if isinstance(playbook, Mapping):
        playbook = validated(playbook, "The playbook")
    elif not isinstance(playbook, Playbook):
        playbook = library.find(str(playbook))
    name, own_url = split_evaluator(evaluator or default_evaluator(os.environ))
    config = EvaluatorConfig(name, base_url=own_url or base_url, key=api_key, timeout=timeout)
    config.check()
    request = new_request(
        report_id=config.clock.new_id(),
        playbook=playbook,
        inputs=Inputs.from_texts(ai_output, source_doc, prompt, system_instructions),
        evaluator=config.name,
        mode=Mode(mode),
        runs=runs,
        subject=subject,
        producer=producer,
        title=title,
        reviewer=reviewer,
    )
    outcome = _evaluate(request, config, database)
    if outcome.store_error:
        raise StoreError(outcome.store_error)
    if isinstance(outcome.report, PoolStopped):
        raise SalvoError(f"The evaluation was stopped: {outcome.report.reason}.")
    return outcome.report.document()


def _evaluate(request: EvaluationRequest, config: EvaluatorConfig, database: str | None) -> EvaluationOutcome:
    """Evaluate in a thread with its own event loop: in a notebook, one runs in this thread already."""

    async def run() -> EvaluationOutcome:
        if database is None:
            async with config.session() as context:
                return await evaluate(request, context)
        from salvo.playbooks.store.store import EvaluationStore  # loads SQLAlchemy

        with EvaluationStore.open(database, config.clock, read_key=head_key_reader(os.environ, Path.home())) as store:
            async with config.session(open_recorder=lambda: StoreRecorder(store, settings=config.settings)) as context:
                return await evaluate(request, context)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(run())).result()
