"""The models of a playbook's file, by BYOP v0.1 of Vasile Tiple (CC BY 4.0).

Fields that they do not name are kept in the document, and are part of its hash. `validate` reads a file with them and
reports every problem.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Tag
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from salvo.engine.jsonio.pydantic_errors import NOT_BLANK, kind_discriminator
from salvo.engine.runtime import safe_regex
from salvo.playbooks.playbook.definition import ARTIFACT_TYPES, MIN_CITATIONS, DetectionType, Variance
from salvo.playbooks.playbook.document import MAX_CHECKS

EXPECTED: Final = "expected"
"""Marks a field that the specification asks for. An evaluation can do without it, so its absence is a warning."""
MAX_ITEMS: Final = 1_000
MAX_PATTERNS: Final = 200
MAX_PATTERN_LENGTH: Final = 2_000
MAX_EXAMPLES: Final = 100
MAX_EXAMPLE_LENGTH: Final = 20_000

T = TypeVar("T")
Expected = Annotated[T, EXPECTED]


def _check_regex(pattern: str) -> str:
    if error := safe_regex.pattern_error(pattern):
        raise ValueError(error.rstrip("."))
    return pattern


def _without_fraction(value: Any) -> Any:
    """JSON has one type of number: 3.0 is a whole number too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_WHOLE_NUMBER = BeforeValidator(_without_fraction)


def _text_or_list(value: Any) -> str | None:
    if isinstance(value, str):
        return "text"
    return "list" if isinstance(value, list) else None


Text = Annotated[str, Field(pattern=NOT_BLANK)]
Texts = Annotated[list[Text], Field(max_length=MAX_ITEMS)]
TextOrTexts = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Texts, Tag("list")],
    kind_discriminator(_text_or_list, "text or a list of texts"),
]
Regex = Annotated[
    str,
    Field(pattern=NOT_BLANK, max_length=MAX_PATTERN_LENGTH, json_schema_extra={"format": "regex"}),
    AfterValidator(_check_regex),
]
Patterns = Annotated[list[Regex], Field(max_length=MAX_PATTERNS)]
Ratio = Annotated[float, Field(ge=0, le=1)]


class FileSection(BaseModel):
    """A part of a playbook's file. Defaults stand for fields that are absent; they are not validated."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True, regex_engine="python-re")


class Metadata(FileSection):
    id: Text = Field(description="What the playbook is called, the same in all its versions.")
    version: Text = Field(description="Which version of it this is.")
    author: Expected[TextOrTexts] = Field("", description="Who wrote it.")
    created_at: Expected[Text] = Field("", description="The day it was written: 2026-02-07. Not part of the hash.")
    updated_at: Text = Field("", description="The day it was changed last. Not part of the hash.")
    jurisdiction: Expected[TextOrTexts] = Field("", description="Whose law it has in mind, or neutral.")
    intended_use: Expected[TextOrTexts] = Field("", description="What it is for.")


class InputContract(FileSection):
    artifact_type: Expected[Text] = Field("", description=f"One of {', '.join(ARTIFACT_TYPES)}.")
    required_inputs: Expected[Texts] = Field([], description="The inputs that must be given.")
    optional_inputs: Expected[Texts] = Field([], description="The inputs that may be given.")
    normalization_rules: Expected[Texts] = Field([], description="How they may be changed before they are read.")


class RiskPosture(FileSection):
    tolerance: Expected[Text] = Field("", description="How much risk is acceptable.")
    primary_risks: Expected[Texts] = Field([], description="The risks that the checks look for.")


class DetectionMethod(FileSection):
    type: DetectionType = Field(description="How the check is decided.")
    instructions: Text = Field("", description="What the evaluator is told. With them, the evaluator decides.")
    pattern_hints: Patterns = Field(
        [], description="Regular expressions, ignoring case. Letters, digits and spaces alone match whole words."
    )
    patterns: Patterns = Field([], description="The same as pattern_hints.")
    on_match: Literal["pass", "fail"] = Field(
        "fail", description="Without instructions: the result if a pattern occurs. Otherwise it is the opposite."
    )


class LabelledExample(FileSection):
    text: Annotated[str, Field(pattern=NOT_BLANK, max_length=MAX_EXAMPLE_LENGTH)] = Field(
        description="A passage as an AI might write it."
    )
    expected: Literal["pass", "fail", "indeterminate"] = Field(description="What the check should say about it.")


EvidenceOnPass: TypeAlias = Literal["required", "optional"]


class EvidenceRequirements(FileSection):
    require_citations: bool = Field(False, description="Whether a result must quote the AI output.")
    citation_type: Text = Field("output_spans", description="What is quoted: output_spans.")
    min_citations_per_fail: Annotated[int, Field(ge=0, le=100), _WHOLE_NUMBER] = Field(
        MIN_CITATIONS, description="The least number of quotes that a fail needs."
    )
    evidence_on_pass: EvidenceOnPass = Field("optional", description="The same as evidence_on_pass of the check.")


class FileCheck(FileSection):
    id: Text = Field(description="What the check is called; every check has its own id.")
    severity: Literal["high", "medium"] = Field(description="How serious a failure is.")
    question: Text = Field(description="What is asked about the AI output.")
    detection_method: DetectionMethod = Field(description="How it is answered.")
    result_states: Expected[
        Annotated[list[Literal["pass", "fail", "indeterminate"]], Field(min_length=1, max_length=MAX_ITEMS)]
    ] = Field([], description="The possible results: pass, fail, indeterminate.")
    evidence_requirements: Expected[EvidenceRequirements] = Field(
        default_factory=EvidenceRequirements, description="What must be quoted."
    )
    evidence_on_pass: EvidenceOnPass = Field(
        "optional",
        description="Whether a pass needs a quote. Without one it counts like no vote. Where a pass means that "
        "something is absent, there is nothing to quote.",
    )
    labelled_examples: Annotated[list[LabelledExample], Field(max_length=MAX_EXAMPLES)] = Field(
        [],
        description="Passages with the result that the check should have, to try the wording on. An evaluation does "
        "not read them; like every field they are part of the logic hash.",
    )


class Thresholds(FileSection):
    consistency_score_min_ok: Ratio = Field(Variance().ok, description="From this consistency on, findings are stable.")
    consistency_score_warn: Ratio = Field(
        Variance().warn, description="Below this consistency, findings are not reliable for decisions."
    )
    ok: Ratio = Field(Variance().ok, description="The same as consistency_score_min_ok.")
    warn: Ratio = Field(Variance().warn, description="The same as consistency_score_warn.")


class VarianceHandling(FileSection):
    min_runs: Expected[Annotated[int, Field(ge=3, le=1_000), _WHOLE_NUMBER]] = Field(
        Variance().min_runs, description="How often each judged check is run in full mode."
    )
    aggregation: Expected[Literal["majority_vote", "report_all_runs", "consensus_required"]] = Field(
        "majority_vote", description="How the runs of a check become its result."
    )
    thresholds: Expected[Thresholds] = Field(default_factory=Thresholds, description="What counts as stable.")


class ContractSection(FileSection):
    """A section that names its fields: as its own, or in the list `required_fields`."""

    required_fields: Texts = Field([], description="Fields that are only named.")


class OutputContract(ContractSection):
    summary: Expected[Any] = None
    check_results: Expected[Any] = None
    assumptions_extracted: Expected[Any] = None
    uncertainty: Expected[Any] = None
    unchecked_areas: Expected[Any] = None
    variance_summary: Expected[Any] = None
    limitations: Expected[Any] = None
    integrity: Expected[Any] = None


class Logging(ContractSection):
    playbook_id: Expected[Any] = None
    playbook_version: Expected[Any] = None
    playbook_logic_hash: Expected[Any] = None
    runner_name: Expected[Any] = None
    runner_version: Expected[Any] = None
    timestamp: Expected[Any] = None
    model_fingerprint: Expected[Any] = None
    inputs_fingerprint: Expected[Any] = None
    raw_runs: Expected[Any] = None
    byop_report: Expected[Any] = None


class PlaybookFile(FileSection):
    """A versioned set of checks on a frozen AI output. Fields that are not named here are kept."""

    metadata: Metadata = Field(description="What the playbook is, and whose.")
    input_contract: Expected[InputContract] = Field(default_factory=InputContract, description="What it is applied to.")
    assumptions: Expected[Annotated[list[Any], Field(max_length=MAX_ITEMS)]] = Field(
        [], description="What it takes for granted."
    )
    risk_posture: Expected[RiskPosture] = Field(default_factory=RiskPosture, description="What it is careful about.")
    checks: Annotated[list[FileCheck], Field(min_length=1, max_length=MAX_CHECKS)] = Field(description="The tests.")
    variance_handling: Expected[VarianceHandling] = Field(
        default_factory=VarianceHandling, description="How repeated runs are handled."
    )
    output_contract: Expected[OutputContract] = Field(
        default_factory=OutputContract, description="What a report must have."
    )
    logging: Expected[Logging] = Field(default_factory=Logging, description="What the log must have.")


class _WithoutDefaults(GenerateJsonSchema):
    """A default only stands for an absent field: the schema would not accept most of them."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def playbook_schema() -> dict[str, Any]:
    """Return the JSON Schema of a playbook: every playbook without an error fits it."""
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        **PlaybookFile.model_json_schema(schema_generator=_WithoutDefaults),
        "title": "BYOP playbook",
    }
