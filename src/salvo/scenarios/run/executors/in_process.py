"""The executor that makes runs in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping

from salvo.records import record
from salvo.scenarios.run.attempt import FinishedRun, run_once
from salvo.scenarios.run.environment import PreparedScenario, Session
from salvo.scenarios.run.executors.base import Lease


@record
class InProcess:
    session: Session
    scenarios: Mapping[str, PreparedScenario]
    """By batch id."""

    async def map(self, leases: Iterable[Lease]) -> AsyncIterator[FinishedRun]:
        for lease in leases:
            for number in lease.numbers:
                yield await run_once(self.scenarios[lease.batch_id], number, self.session)
