"""The report's shape: the contract that people, pages and auditors read. Built by `build`, published as JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.errors import InputError
from salvo.playbooks.enums import DISCLAIMERS, Aggregation, Mode, Result, Severity, Status

SPEC_VERSION = "0.1"


@dataclass(frozen=True, slots=True)
class Location:
    """Where a quote stands in the normalised AI output: code points from 0, `end` exclusive; lines from 1."""

    start: int
    end: int
    line: int


@dataclass(frozen=True, slots=True)
class Citation:
    """A quote. With a location it was found in the text, and `span` is what stands there; without, it was not."""

    span: str
    location: Location | None
    context: str = ""
    runs: tuple[int, ...] = ()
    """The runs that gave it."""


@dataclass(frozen=True, slots=True)
class Tokens:
    input: int
    output: int
    cache_read: int
    cache_write: int


@dataclass(frozen=True, slots=True)
class RawRun:
    """One run of a check, as it was. `valid` is False where it is no vote, and `problem` says why."""

    run: int
    result: Result
    valid: bool
    confidence: float | None
    evidence_citations: tuple[Citation, ...]
    notes: str
    raw_answer: str
    problem: str = ""
    rule: str = ""
    model: str | None = None
    system_fingerprint: str | None = None
    tokens: Tokens | None = None
    cost_usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Dissent:
    run: int
    result: Result
    notes: str
    evidence_citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class PatternHit:
    pattern: str
    span: str
    location: Location


DecidedBy = Literal["evaluator", "patterns", "derived"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    check_id: str
    severity: Severity
    question: str
    result: Result
    per_check_confidence: float | None
    per_check_consistency: float | None
    evidence_citations: tuple[Citation, ...]
    notes: str
    raw_runs: tuple[RawRun, ...] = ()
    decided_by: DecidedBy = "evaluator"
    raw_result: Result | None = None
    """What the vote said, where the evidence did not bear it out and the result became indeterminate."""
    rejected_citations: tuple[Citation, ...] = ()
    """Quotes that stand nowhere in the text."""
    dissent: tuple[Dissent, ...] = ()
    pattern_hits: tuple[PatternHit, ...] = ()
    incomplete: bool = False
    """Fewer than a majority of its runs gave a vote."""


@dataclass(frozen=True, slots=True)
class Summary:
    overall_status: Status
    status_reasons: tuple[str, ...]
    key_risks: tuple[str, ...]
    recommended_next_steps: tuple[str, ...]
    mending_prompt: str | None = None
    """Ready to be pasted to the AI that wrote the text; None where nothing failed."""


@dataclass(frozen=True, slots=True)
class VarianceSummary:
    num_runs: int
    consistency_score: float | None
    divergent_findings: tuple[str, ...]
    threshold_ok: float
    threshold_warn: float
    aggregation: Aggregation
    note: str
    """What so many runs can and cannot show."""


DriftKind = Literal["none", "output", "judge", "evaluator_instability", "undetermined", "not_compared"]


@dataclass(frozen=True, slots=True)
class ChangedCheck:
    check_id: str
    severity: Severity
    before: Result
    now: Result
    worse: bool


@dataclass(frozen=True, slots=True)
class DriftSummary:
    """What changed against a baseline, and whether the judge or the output changed with it."""

    kind: DriftKind
    baseline_id: str | None
    baseline_timestamp: str | None
    baseline_saved: bool | None
    """True where somebody saved it as a baseline, False where it is simply the newest earlier report."""
    consistency_before: float | None
    consistency_delta: float | None
    changed_checks: tuple[ChangedCheck, ...]
    same_text: bool | None
    same_judge: bool | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArtifactFinding:
    """Something in the AI output that a reader should know of: text that addresses the evaluator, odd characters."""

    kind: str
    message: str
    span: str | None = None
    location: Location | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class ExtractedAssumption:
    text: str
    location: Location | None


@dataclass(frozen=True, slots=True)
class UncheckedArea:
    area: str
    stated_by: Literal["output", "runner"]
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class ModelFingerprint:
    """The specification's seven fields. "unknown" is undisclosed, None is not applicable."""

    declared_model_name: str | None
    declared_model_version: str | None
    provider: str | None
    routing_or_mode: str | None
    temperature: float | Literal["unknown"] | None
    system_prompt_id: str | None
    other_runtime_metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fingerprints:
    evaluator: ModelFingerprint
    """Measured."""
    producer: ModelFingerprint
    """Declared by whoever asked for the evaluation."""


@dataclass(frozen=True, slots=True)
class Spending:
    """None is unknown, not zero."""

    calls: int
    tokens: Tokens | None
    cost_usd: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Integrity:
    playbook_logic_hash: str
    inputs_fingerprint: str
    runner_fingerprint: str
    raw_inputs: dict[str, str]
    """The sha256 of each input's bytes as they were given, before normalisation."""
    report_hash: str = ""
    """Over the whole report without this field and without its id's place in a store: RFC 8785, sha256."""


@dataclass(frozen=True, slots=True)
class PresentationRules:
    disclaimers: tuple[str, ...] = DISCLAIMERS
    label: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    spec_version: str
    report_id: str
    playbook_id: str
    playbook_version: str
    execution_mode: Mode
    timestamp: str
    subject: str
    evaluator: str
    incomplete: bool
    """Some check has fewer than a majority of valid votes: what is here stands, and something is missing."""
    summary: Summary
    check_results: tuple[CheckResult, ...]
    variance_summary: VarianceSummary
    drift_summary: DriftSummary
    artifact_findings: tuple[ArtifactFinding, ...]
    assumptions_extracted: tuple[ExtractedAssumption, ...]
    uncertainty: tuple[str, ...]
    unchecked_areas: tuple[UncheckedArea, ...]
    limitations: tuple[str, ...]
    model_fingerprints: Fingerprints
    spent: Spending
    integrity: Integrity
    presentation_rules: PresentationRules
    texts_withheld: bool = False
    """Quotes, notes and raw answers gave way to their hashes: see `withheld`."""

    def document(self) -> dict[str, Any]:
        """As plain JSON values."""
        document: dict[str, Any] = json_codec.loads(json_codec.dumps(self))
        return document


@dataclass(frozen=True, slots=True)
class Signature:
    """Over the RFC 8785 form of `byop_report`."""

    algorithm: Literal["ed25519"]
    public_key: str
    value: str


@dataclass(frozen=True, slots=True)
class ReportFile:
    """What is written to a file: the report in its wrapper, and a signature where one was asked for."""

    byop_report: Report
    signature: Signature | None = None


def read_report(content: bytes, name: str = "The report") -> ReportFile:
    """A report from a file or a database; InputError says what is wrong with it and where."""
    from pydantic import ValidationError

    try:
        found = json_codec.loads(content)
    except ValueError as fault:
        raise InputError(f"{name} is not JSON: {fault}.") from fault
    if not isinstance(found, dict) or "byop_report" not in found:
        raise InputError(f"{name} is not a BYOP report: it has no byop_report.")
    try:
        return type_adapter(ReportFile).validate_python(found)
    except ValidationError as fault:
        raise InputError(f"{name} is not a BYOP report of this version: {': '.join(first_error(fault))}.") from fault


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a report's file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **type_adapter(ReportFile).json_schema()}
