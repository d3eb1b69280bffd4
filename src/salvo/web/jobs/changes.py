"""Wakes those who watch an evaluation that another server runs."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from salvo.engine.runtime.pool import is_set_within


class Changes:
    """By the id of the evaluation. Where the database tells nothing, those who wait look again after a while."""

    def __init__(self) -> None:
        self._watchers: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    def notify(self, evaluation_id: str) -> None:
        for changed in self._watchers.get(evaluation_id, ()):
            changed.set()

    async def wait(self, evaluation_id: str, seconds: float) -> None:
        """Wait for the next change, for so many seconds at most."""
        changed = asyncio.Event()
        watchers = self._watchers[evaluation_id]
        watchers.add(changed)
        try:
            await is_set_within(seconds, changed)
        finally:
            watchers.discard(changed)
            if not watchers:
                self._watchers.pop(evaluation_id, None)
