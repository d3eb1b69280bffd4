"""A playbook as the program uses it: its checks, and how repeated runs are handled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, Self, TypeAlias

from salvo.engine.jsonio.canonical import jcs, sha256
from salvo.playbooks.enums import DERIVED, Aggregation, Result, Severity
from salvo.records import record

MIN_CITATIONS: Final = 1
"""The quotes that a fail needs if it must have some and the playbook does not say how many."""
DetectionType: TypeAlias = Literal["deterministic", "pattern", "semantic", "hybrid"]


@record
class Check:
    id: str
    severity: Severity
    question: str
    type: DetectionType
    instructions: str = ""
    patterns: tuple[str, ...] = ()
    on_match: Result = Result.FAIL
    """The result of a hit if there are no instructions, so that patterns alone decide."""
    require_citations: bool = False
    min_citations_per_fail: int = 0
    needs_evidence_on_pass: bool = False
    """A PASS without a quote that is in the text does not count."""

    @classmethod
    def from_document(cls, check: Mapping[str, Any]) -> Self:
        """Return the check of a document without errors."""
        method, evidence = check["detection_method"], check.get("evidence_requirements", {})
        require_citations = evidence.get("require_citations", False)
        min_citations = int(evidence.get("min_citations_per_fail", MIN_CITATIONS))
        return cls(
            id=check["id"],
            severity=Severity(check["severity"]),
            question=check["question"],
            type=method["type"],
            instructions=method.get("instructions", ""),
            patterns=(*method.get("pattern_hints", ()), *method.get("patterns", ())),
            on_match=Result(method.get("on_match", Result.FAIL)),
            require_citations=require_citations,
            min_citations_per_fail=min_citations if require_citations else 0,
            needs_evidence_on_pass="required" in (check.get("evidence_on_pass"), evidence.get("evidence_on_pass")),
        )

    @property
    def derived(self) -> bool:
        return self.id in DERIVED

    @property
    def needs_judge(self) -> bool:
        """Return whether an evaluator is asked: always if there are instructions."""
        return not self.derived and bool(self.instructions)


@record
class Variance:
    min_runs: int = 3
    aggregation: Aggregation = Aggregation.MAJORITY_VOTE
    ok: float = 0.85
    """From this consistency on, findings are stable."""
    warn: float = 0.70
    """Below this consistency, findings are not reliable for decisions."""

    @classmethod
    def from_document(cls, handling: Mapping[str, Any]) -> Self:
        """Return what a document without errors says. Each threshold has two names."""
        default = cls()
        thresholds = handling.get("thresholds", {})
        ok = thresholds.get("ok", thresholds.get("consistency_score_min_ok", default.ok))
        warn = thresholds.get("warn", thresholds.get("consistency_score_warn", default.warn))
        return cls(
            min_runs=int(handling.get("min_runs", default.min_runs)),
            aggregation=Aggregation(handling.get("aggregation", default.aggregation)),
            ok=float(ok),
            warn=float(warn),
        )


ARTIFACT_TYPES: Final = ("ai_output_only", "ai_output_plus_source_doc", "ai_output_plus_tool_trace")
INPUTS: Mapping[str, str] = {
    "ai_output": "ai_output",
    "ai_output_text": "ai_output",
    "source_document": "source_document",
    "source_document_text": "source_document",
    "prompt": "prompt",
    "user_prompt": "prompt",
    "system_instructions": "system_instructions",
}
"""Our name of an input, by each name that a playbook may use: ours, or the specification's."""
UNSUPPORTED_INPUT = "tool_trace"
"""The specification names it too. An evaluation has none, so a playbook must not require it."""


@dataclass(frozen=True)
class Playbook:
    id: str
    version: str
    checks: tuple[Check, ...]
    variance: Variance
    document: Mapping[str, Any] = field(repr=False)
    """The whole file."""

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Return the playbook of a document without errors: one of the library, or one that `validate` has checked."""
        return cls(
            id=document["metadata"]["id"],
            version=document["metadata"]["version"],
            checks=tuple(map(Check.from_document, document["checks"])),
            variance=Variance.from_document(document.get("variance_handling", {})),
            document=document,
        )

    @cached_property
    def logic_hash(self) -> str:
        """Return the hash of the whole playbook in canonical form (RFC 8785), without its two dates."""
        metadata = {
            name: value for name, value in self.document["metadata"].items() if name not in ("created_at", "updated_at")
        }
        return sha256(jcs({**self.document, "metadata": metadata}))

    @property
    def required_inputs(self) -> tuple[str, ...]:
        """Return the inputs that its contract requires, by our names. A tool trace is not supported."""
        required = self.document.get("input_contract", {}).get("required_inputs", ())
        return tuple(dict.fromkeys(INPUTS[name] for name in required if name in INPUTS))

    @property
    def judged_checks(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.needs_judge)
