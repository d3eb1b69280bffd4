"""A playbook as the program uses it: its checks, and how repeated runs are handled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from salvo.engine.jsonio.canonical import jcs, sha256
from salvo.playbooks.enums import DERIVED, Aggregation, Result, Severity

DetectionType: TypeAlias = Literal["deterministic", "pattern", "semantic", "hybrid"]


@dataclass(frozen=True, slots=True)
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

    @property
    def derived(self) -> bool:
        return self.id in DERIVED

    @property
    def needs_judge(self) -> bool:
        """Return whether an evaluator is asked: always if there are instructions."""
        return not self.derived and bool(self.instructions)


@dataclass(frozen=True, slots=True)
class Variance:
    min_runs: int = 3
    aggregation: Aggregation = Aggregation.MAJORITY_VOTE
    ok: float = 0.85
    """From this consistency on, findings are stable."""
    warn: float = 0.70
    """Below this consistency, findings are not reliable for decisions."""


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
