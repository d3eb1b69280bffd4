"""Playbooks: an evaluator judges a frozen AI output, several times per check, and quotes evidence as required."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from salvo.playbooks.api import run_playbook

__all__ = ["run_playbook"]


def __getattr__(name: str) -> object:
    """Import the API on first use: the commands do not need it."""
    if name == "run_playbook":
        from salvo.playbooks.api import run_playbook

        return run_playbook
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
