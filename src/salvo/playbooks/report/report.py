"""The data model of a report, as people, the page and auditors read it. It is published as JSON Schema."""

from __future__ import annotations

from dataclasses import field, fields, is_dataclass
from typing import Any, Literal, TypeVar

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.errors import InputError
from salvo.playbooks.enums import DISCLAIMERS, Aggregation, Mode, Result, Severity, Status
from salvo.playbooks.evaluate.positions import DocumentPosition
from salvo.playbooks.review.section import ReviewSection
from salvo.records import record

SPEC_VERSION = "0.1"
"""The version of the BYOP specification that reports follow."""

VOTE_RULE = 3
"""How the votes of a new report are counted: see `VarianceSummary.vote_rule`."""

REPORT_HASH_METHOD = "SHA-256 of RFC 8785, report_hash empty, lone surrogates escaped (version 2)"
"""How the hash of a new report is computed. docs/report-hash.md has the procedure."""

T = TypeVar("T")
_ADDED_LATER = "added_later"


def added_later(default: T) -> T:
    """Declare a field that reports of earlier versions do not have.

    Where it has its default it is not written, so a report of an earlier version keeps its bytes and its hash.
    """
    declared: T = field(default=default, metadata={_ADDED_LATER: True})
    return declared


@record
class Location:
    """The position of a quote in the normalised AI output: code points from 0, `end` exclusive; lines from 1."""

    start: int
    end: int
    line: int
    position: DocumentPosition | None = added_later(default=None)
    """In its document. None if the file states nothing, or the text was not read from one."""


@record
class Citation:
    """A quote. With a location, it was found in the text and `span` is the text there; without, it was not found."""

    span: str
    location: Location | None
    context: str = ""
    runs: tuple[int, ...] = ()
    """The runs that gave it."""
    other_locations: tuple[Location, ...] = added_later(())
    """Where else it occurs, if the evaluator did not say which place it means; the first MAX_LOCATIONS in all."""
    occurrences: int = added_later(1)
    """How often it occurs, if it was found."""


@record
class Tokens:
    input: int
    output: int
    cache_read: int
    cache_write: int


NOT_ASKED = "This run was not made."
"""The problem of a run that was left out, because no call could succeed any more."""


@record
class RawRun:
    """One run of a check. `valid` is False if it gave no vote; `problem` says why."""

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
    abstained: bool = added_later(default=False)
    """The evaluator does not know the check, and judged nothing."""
    unsupported: str = added_later("")
    """Why the answer counts like no vote although it is valid: the text does not support it. Empty if it counts."""

    @property
    def counts(self) -> bool:
        """Return whether the answer is a vote."""
        return self.valid and not self.unsupported


@record
class Dissent:
    run: int
    result: Result
    """Another vote than the result of the check."""
    notes: str
    evidence_citations: tuple[Citation, ...] = ()


@record
class PatternHit:
    pattern: str
    span: str
    location: Location


DecidedBy = Literal["evaluator", "patterns", "derived"]


@record
class Calibration:
    """How often the evaluator's result on this check agreed with independent labels of real AI outputs."""

    agreed: int
    texts: int


@record
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
    """The original verdict, if its evidence was not found and the result became indeterminate."""
    rejected_citations: tuple[Citation, ...] = ()
    """Quotes that are no evidence: not found, too short, copied from the prompt, or addressed to the evaluator."""
    dissent: tuple[Dissent, ...] = ()
    pattern_hits: tuple[PatternHit, ...] = ()
    incomplete: bool = False
    """Fewer than a majority of its runs gave a vote."""
    abstained: bool = added_later(default=False)
    """The evaluator has no rule for this check, so nothing was judged. It has no consistency and no confidence."""
    calibration: Calibration | None = added_later(default=None)
    """What the confidence was measured by; None if it is only what the evaluator states."""


@record
class Summary:
    overall_status: Status
    status_reasons: tuple[str, ...]
    key_risks: tuple[str, ...]
    recommended_next_steps: tuple[str, ...]
    mending_prompt: str | None = None
    """A prompt for the AI that wrote the text; None if nothing failed."""


@record
class VarianceSummary:
    num_runs: int
    consistency_score: float | None
    """None in a screening. 0 in a full report in which no check has votes to compare: see `measured_consistency`."""
    divergent_findings: tuple[str, ...]
    threshold_ok: float
    threshold_warn: float
    aggregation: Aggregation
    note: str
    """What this number of runs can and cannot show."""
    vote_rule: int = added_later(1)
    """Which answers are votes. 1 (reports of earlier versions): all that could be read, and a FAIL whose quotes are not
    in the text becomes indeterminate. 2 and 3: those that the text supports (`RawRun.unsupported`). It also says by
    which rules drift is put down to a cause: from 3 on, the agreement of a deterministic evaluator with itself is not
    compared with anything."""


DriftKind = Literal[
    "none", "output", "output_or_evaluator", "judge", "evaluator_instability", "undetermined", "not_compared"
]


@record
class ChangedCheck:
    check_id: str
    severity: Severity
    before: Result
    now: Result
    worse: bool


@record
class DriftSummary:
    """What changed compared with a baseline, and whether the judge or the text changed."""

    kind: DriftKind
    baseline_id: str | None
    baseline_timestamp: str | None
    baseline_saved: bool | None
    """True if it was saved as a baseline, False if it is the newest earlier report."""
    consistency_before: float | None
    consistency_delta: float | None
    changed_checks: tuple[ChangedCheck, ...]
    same_text: bool | None
    same_judge: bool | None
    notes: tuple[str, ...] = ()


@record
class ArtifactFinding:
    """Something in the AI output that a reader should know: text that addresses the evaluator, unusual characters."""

    kind: str
    message: str
    span: str | None = None
    location: Location | None = None
    count: int = 1


@record
class ExtractedAssumption:
    text: str
    location: Location | None


@record
class UncheckedArea:
    area: str
    stated_by: Literal["output", "runner"]
    location: Location | None = None


@record
class ModelFingerprint:
    """The specification's seven fields. "unknown" is undisclosed, None is not applicable."""

    declared_model_name: str | None
    declared_model_version: str | None
    provider: str | None
    routing_or_mode: str | None
    temperature: float | Literal["unknown"] | None
    system_prompt_id: str | None
    other_runtime_metadata: dict[str, Any] = field(default_factory=dict)


@record
class Fingerprints:
    evaluator: ModelFingerprint
    """Measured."""
    producer: ModelFingerprint
    """As declared in the request."""


@record
class Spending:
    """None is unknown, not zero."""

    calls: int
    tokens: Tokens | None
    cost_usd: float | None
    seconds: float | None
    """The sum over all calls, of which many are made at the same time."""
    wall_seconds: float | None = added_later(default=None)
    """From the start of the evaluation to its last vote; None if it was resumed, or not measured."""


@record
class Integrity:
    playbook_logic_hash: str
    inputs_fingerprint: str
    runner_fingerprint: str
    raw_inputs: dict[str, str]
    """The sha256 of the bytes of each input, before normalisation: of its file if it was read from one."""
    report_hash: str = ""
    """The hash of the whole report, with this field empty."""
    report_hash_method: str | None = added_later(None)
    """How `report_hash` is computed. Reports of earlier versions do not say it: they escape lone surrogates as JSON
    does, so that a lone surrogate and its escaped form have the same hash."""

    def has_same_inputs(self, other: Integrity) -> bool:
        """Return whether both are about the same texts.

        The same file is not always the same text: another version may extract it differently. Its bytes decide only
        where the fingerprints cannot, because an earlier version computed one of them by another rule.
        """
        if self.inputs_fingerprint == other.inputs_fingerprint:
            return True
        same_rule = (self.report_hash_method is None) == (other.report_hash_method is None)
        return not same_rule and bool(self.raw_inputs) and self.raw_inputs == other.raw_inputs


@record
class DocumentIdentity:
    """What the evaluated document is called, and the file that its text was read from. None is not recorded."""

    title: str | None = None
    """As the requester declared it."""
    file_name: str | None = None
    """Without its folder."""
    file_sha256: str | None = None
    """Of the bytes of the file."""
    pages: int | None = None
    """None also if the format has no pages."""
    reviewer: str | None = None
    """Who asked for the evaluation, as the requester declared it."""


@record
class PresentationRules:
    disclaimers: tuple[str, ...] = DISCLAIMERS
    label: str = ""


@record
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
    """Some check has fewer than a majority of valid votes. The other results are valid."""
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
    input_notices: tuple[str, ...] = added_later(())
    """What was assumed when the files were read, such as an encoding, and what of them is not part of the texts."""
    document_identity: DocumentIdentity | None = added_later(default=None)
    """What the document is called, and its file. None if nothing of it was recorded."""
    texts_withheld: bool = False
    """Quotes, notes and raw answers are replaced by their hashes: see `text_hashing`."""

    def document(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        document: dict[str, Any] = json_codec.loads(json_codec.dumps(_written(self)))
        return document


def measured_consistency(report: Report) -> float | None:
    """Return the overall consistency; None if no check has votes that can be compared."""
    measured = any(check.per_check_consistency is not None for check in report.check_results)
    return report.variance_summary.consistency_score if measured else None


def is_deterministic(fingerprints: Fingerprints) -> bool:
    """Return whether the evaluator works by rules, and so always agrees with itself. Only a model has a provider."""
    return fingerprints.evaluator.provider is None


def _written(value: Any) -> Any:
    """Return the value with dataclasses as dicts of the fields that are written."""
    if is_dataclass(value):
        return {
            part.name: _written(content)
            for part in fields(value)
            if (content := getattr(value, part.name)) != part.default or _ADDED_LATER not in part.metadata
        }
    return [_written(item) for item in value] if isinstance(value, tuple) else value


@record
class Signature:
    """Over the exact bytes of the file without the signature, in the pre-authentication encoding of DSSE."""

    algorithm: Literal["ed25519"]
    public_key: str
    value: str
    payload_type: str | None = None
    """The kind of file that was signed. None in files of earlier versions, which signed the RFC 8785 form of
    `byop_report` and not the bytes of the file."""


@record
class ReportFile:
    """The content of a report file: the report, its review if there is one, and a signature if one was requested."""

    byop_report: Report
    signature: Signature | None = None
    review: ReviewSection | None = None


def read_report(content: bytes, name: str = "The report") -> ReportFile:
    """Read a report from a file or a database; InputError says what is wrong with it and where."""
    # Imported here because a list of evaluations is read without pydantic, which is slow to import.
    from pydantic import ValidationError

    try:
        document = json_codec.loads(content)
    except ValueError as error:
        raise InputError(f"{name} is not JSON: {error}.") from error
    if not isinstance(document, dict) or "byop_report" not in document:
        raise InputError(f"{name} is not a BYOP report: it has no byop_report.")
    try:
        return type_adapter(ReportFile).validate_python(document)
    except ValidationError as error:
        raise InputError(f"{name} is not a BYOP report of this version: {': '.join(first_error(error))}.") from error


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a report file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **type_adapter(ReportFile).json_schema()}
