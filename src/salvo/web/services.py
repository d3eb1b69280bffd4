"""What the routes work with."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from salvo.playbooks.store.records import StoredEvaluation
from salvo.playbooks.store.store import EvaluationStore
from salvo.scenarios.store.batch_catalog import BatchCatalog
from salvo.web.jobs import Jobs
from salvo.web.responses import ConflictError
from salvo.web.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    settings: Settings
    store: EvaluationStore
    jobs: Jobs
    shelf: BatchCatalog
    """The stored runs of scenarios."""
    closing: asyncio.Event
    """Set when the server is stopped: whoever watches is not kept any longer."""

    def load(self, named: str) -> StoredEvaluation:
        """By its id, by the beginning of one, or the latest. Blocks."""
        return self.store.load(self.store.find(named))

    def with_report(self, named: str) -> StoredEvaluation:
        stored = self.load(named)
        if stored.report is None:
            raise ConflictError(
                f"The evaluation {stored.id} has no report: it is {stored.state}.",
                hint="A report is there when the evaluation is done.",
            )
        return stored


def _services(request: Request) -> Services:
    return cast("Services", request.app.state.services)


ServicesDep = Annotated[Services, Depends(_services)]
