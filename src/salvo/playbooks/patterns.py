"""The patterns of a playbook on the text under evaluation: where they occur. Neither can hang the program."""

from __future__ import annotations

from dataclasses import dataclass

from salvo.playbooks.inputs import Span


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a pattern occurs."""

    pattern: str
    span: Span
