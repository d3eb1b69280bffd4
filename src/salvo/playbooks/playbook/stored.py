"""A playbook as an evaluation or a database stored it."""

from __future__ import annotations

from typing import Any

from salvo.playbooks.playbook.definition import Playbook


def stored_playbook(document: Any) -> Playbook:
    """Return the playbook of a stored evaluation. What earlier versions accepted is not refused afterwards."""
    from salvo.playbooks.playbook import validate  # Pydantic: 0.1 s for commands that need none of it

    return validate.stored_playbook(document)
