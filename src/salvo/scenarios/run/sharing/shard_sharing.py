"""What a shard shares with the commands that make the others, in their store: batches, a budget and a rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

from salvo.engine.runtime.clock import Clock
from salvo.records import record
from salvo.scenarios.result import Batch, ListedServer
from salvo.scenarios.run.sharing.budget_ledger import BudgetLedger
from salvo.scenarios.run.sharing.shared_budget import SharedBudget
from salvo.scenarios.run.sharing.shared_rates import RateExchange
from salvo.scenarios.shards import Shard, continue_batch
from salvo.scenarios.store.backends.leases import Leases
from salvo.scenarios.store.store import RunStore

if TYPE_CHECKING:
    from salvo.scenarios.run.runner import ScenarioRuns


@record
class ShardSharing:
    store: RunStore
    shard: Shard
    command_id: str
    leases: Leases
    clock: Clock

    @classmethod
    def of_work(cls, work: Sequence[ScenarioRuns], store: RunStore, clock: Clock) -> Self | None:
        """Return None where the command makes all runs of its batches."""
        for runs in work:
            if runs.shard is not None and store.leases is not None:
                return cls(store, runs.shard, runs.batch.command, store.leases, clock)
        return None

    def save_batch(self, batch: Batch) -> None:
        """Store a batch, unless another shard has. Raise UsageError if that one has started another batch."""
        if not self.store.create_batch(batch):
            continue_batch(batch, self.store.read_batch(batch.batch_id))

    def save_listing(self, batch: Batch, name: str) -> None:
        """Store what an MCP server lists. The list of the first shard counts for all of them."""
        listing = batch.mcp_servers[name]
        stored = self.store.update_batch(batch.batch_id, lambda item: _add_listing(item, name, listing))
        batch.mcp_servers[name] = stored.mcp_servers[name]

    def budget(self, limit: float, on_unpriced: Callable[[str], None]) -> SharedBudget:
        ledger = BudgetLedger(self.store.storage, self.leases, self.command_id, limit, self.shard.count)
        return SharedBudget(limit, on_unpriced, ledger, in_thread=self.store.is_shared)

    def rate_exchange(self) -> RateExchange:
        return RateExchange(self.store.storage, self.command_id, self.leases.id, self.clock)


def _add_listing(batch: Batch, name: str, server: ListedServer) -> None:
    batch.mcp_servers.setdefault(name, server)
