"""Replace the texts in reports and votes by their hashes, for stores that may keep only fingerprints and verdicts.

This covers everything that may repeat the text under evaluation or what an evaluator wrote about it: quotes, notes, raw
answers, and sentences made from them. Results, confidences, offsets and hashes stay. Someone who has the text can still
prove what was quoted; others learn nothing about it.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.audit.integrity import with_hash
from salvo.playbooks.evaluate.positions import DocumentPosition
from salvo.playbooks.evaluate.votes import JudgeAnswer, RawCitation, Vote
from salvo.playbooks.report.report import (
    ArtifactFinding,
    CheckResult,
    Citation,
    Dissent,
    ExtractedAssumption,
    PatternHit,
    RawRun,
    Report,
    Summary,
    UncheckedArea,
)

_MARK = "withheld:"

_TEXT_FIELDS: dict[type, frozenset[str]] = {
    Report: frozenset({"uncertainty", "input_notices"}),
    Summary: frozenset({"key_risks", "recommended_next_steps", "mending_prompt"}),
    CheckResult: frozenset({"notes"}),
    RawRun: frozenset({"notes", "raw_answer", "problem"}),
    Dissent: frozenset({"notes"}),
    Citation: frozenset({"span", "context"}),
    DocumentPosition: frozenset({"heading"}),
    PatternHit: frozenset({"span"}),
    ArtifactFinding: frozenset({"message", "span"}),
    ExtractedAssumption: frozenset({"text"}),
    UncheckedArea: frozenset({"area"}),
    JudgeAnswer: frozenset({"notes", "raw", "problem"}),
    RawCitation: frozenset({"span", "context"}),
}


def without_texts(report: Report) -> Report:
    """Return the report without its texts. It differs from the original, so it has its own hash."""
    if report.texts_withheld:
        return report
    hashed: Report = _without_texts(report)
    return with_hash(replace(hashed, texts_withheld=True))


def vote_without_texts(vote: Vote) -> Vote:
    """Return the vote without texts and exchanges: those contain the whole text, which a replay would need."""
    return Vote(vote.check_id, vote.run, _without_texts(vote.answer))


def withheld(text: str) -> str:
    """Return the replacement for a text; an empty text stays empty."""
    return _MARK + sha256(text.encode("utf-8", "surrogatepass")) if text else ""


def is_withheld(text: str) -> bool:
    return text.startswith(f"{_MARK}sha256:")


def _without_texts(value: Any, *, is_text: bool = False) -> Any:
    """Return a copy of the value in which all fields of _TEXT_FIELDS, at any depth, are hashed."""
    if isinstance(value, tuple):
        return tuple(_without_texts(item, is_text=is_text) for item in value)
    if is_text and isinstance(value, str):
        return withheld(value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    texts = frozenset[str]() if _is_ours(value) else _TEXT_FIELDS.get(type(value), frozenset())
    parts = ((field.name, getattr(value, field.name)) for field in fields(value))
    return replace(value, **{name: _without_texts(part, is_text=name in texts) for name, part in parts})


def _is_ours(value: object) -> bool:
    """Return whether the runner wrote the texts of the value, from nothing but results."""
    if isinstance(value, CheckResult):
        return value.decided_by == "derived"
    return isinstance(value, UncheckedArea) and value.stated_by == "runner"
