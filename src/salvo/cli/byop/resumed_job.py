"""The job that continues a stored evaluation."""

from __future__ import annotations

from dataclasses import replace

from salvo.cli.byop.evaluation_session import EvaluationJob
from salvo.cli.byop.evaluator_configs import ServerOptions, stored_config
from salvo.cli.byop.lazy_store import LazyStore
from salvo.errors import UsageError
from salvo.playbooks.evaluate.request import stored_request


def resumed_job(evaluation_id: str, lazy_store: LazyStore, server: ServerOptions) -> EvaluationJob:
    """Return a job for the unanswered questions. An incomplete report stays; a new one takes over its votes."""
    store = lazy_store.store()
    stored = store.load(evaluation_id)
    lazy_store.group = stored.group
    request = stored_request(stored)
    config = stored_config(stored, server)
    votes = [vote for _, vote in store.votes(stored.id) if vote.answer.result is not None]
    if stored.report is None:
        store.resume(stored.id)
        return EvaluationJob(config, request, votes, already_stored=True)
    if not stored.report.incomplete:
        raise UsageError(f"The evaluation {stored.id} is complete: there is nothing to resume.")
    return EvaluationJob(config, replace(request, report_id=config.clock.new_id()), votes)
