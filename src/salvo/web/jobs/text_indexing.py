"""Indexes the words of texts that an earlier version stored, a few at a time, while the server works."""

from __future__ import annotations

import asyncio
import logging

from salvo.errors import SalvoError
from salvo.playbooks.store.store import EvaluationStore

TEXTS_PER_STEP = 8
"""Indexed in one transaction. Who else writes waits for it: some tens of milliseconds for texts of some pages."""
_PAUSE = 0.05
"""Seconds in which others write and use the processor."""

_log = logging.getLogger(__name__)


async def index_texts(store: EvaluationStore, closing: asyncio.Event) -> None:
    """Index every text that waits for it. Several servers may do so at once: each step takes what then is next."""
    if store.is_new:
        return
    try:
        while not closing.is_set() and await asyncio.to_thread(store.index_texts, TEXTS_PER_STEP) > 0:
            try:
                await asyncio.wait_for(closing.wait(), _PAUSE)
            except TimeoutError:
                continue
    except SalvoError as error:
        # The server goes on: a search reads the texts that are not indexed, and the next start tries again.
        _log.warning("Texts are not indexed for searches: %s", error.message)
