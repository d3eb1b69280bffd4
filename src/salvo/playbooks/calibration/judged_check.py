"""A check of a stored report, as an evaluator judged it."""

from __future__ import annotations

from dataclasses import dataclass

from salvo.playbooks.enums import Result


@dataclass(frozen=True, slots=True)
class JudgedCheck:
    report_id: str
    check_id: str
    result: Result
    unanimous: bool
    """Whether all of its valid votes agree."""
    playbook_id: str
    playbook_version: str
    playbook_hash: str
    evaluator: str
    subject: str
