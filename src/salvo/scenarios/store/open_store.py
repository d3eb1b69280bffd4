"""Open a store by what a user calls it."""

from __future__ import annotations

from pathlib import Path

from salvo.errors import UsageError
from salvo.scenarios.store.store import RunStore


def open_store(text: str) -> RunStore:
    """Return the store at a path: the folder of a store, or that of a project. Raise UsageError if there is none."""
    folder = Path(text)
    for candidate in (folder / ".salvo", folder):
        if (candidate / "batches").is_dir() or (candidate / "recordings").is_dir():
            return RunStore(candidate)
    raise UsageError(f"There is no store in {text}.", hint="Name the folder .salvo of a project, or its copy.")
