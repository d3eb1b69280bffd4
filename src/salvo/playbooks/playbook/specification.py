"""What a playbook's document looks like, by the specification: BYOP v0.1 by Vasile Tiple (CC BY 4.0)."""

from __future__ import annotations

from typing import get_args

from salvo.playbooks.enums import Aggregation, Result, Severity
from salvo.playbooks.playbook.schema import DetectionType
from salvo.playbooks.playbook.shapes import (
    Anything,
    Choice,
    Field,
    Flag,
    Items,
    Number,
    OneOrMore,
    Record,
    Regex,
    Sections,
    Text,
)

CHECKS = 1_000
"""More are not looked at: every one may cost as many calls as there are runs."""
ARTIFACT_TYPES = ("ai_output_only", "ai_output_plus_source_doc", "ai_output_plus_tool_trace")
RESULTS = tuple(Result)
OK, WARN = "consistency_score_min_ok", "consistency_score_warn"

_METADATA = Record(
    {
        "id": Field("required", Text(), "What the playbook is called, the same in all its versions."),
        "version": Field("required", Text(), "Which version of it this is."),
        "author": Field("expected", OneOrMore(), "Who wrote it."),
        "created_at": Field("expected", Text(), "The day it was written, as in 2026-02-07. Not part of the hash."),
        "updated_at": Field("optional", Text(), "The day it was changed last. Not part of the hash."),
        "jurisdiction": Field("expected", OneOrMore(), "Whose law it has in mind, or neutral."),
        "intended_use": Field("expected", OneOrMore(), "What it is for."),
    }
)
_INPUT_CONTRACT = Record(
    {
        "artifact_type": Field("expected", Text(), f"One of {', '.join(ARTIFACT_TYPES)}."),
        "required_inputs": Field("expected", Items(Text()), "The inputs that must be given."),
        "optional_inputs": Field("expected", Items(Text()), "The inputs that may be given."),
        "normalization_rules": Field("expected", Items(Text()), "What may be changed in them before they are read."),
    }
)
_RISK_POSTURE = Record(
    {
        "tolerance": Field("expected", Text(), "How much risk is acceptable."),
        "primary_risks": Field("expected", Items(Text(), empty="warning"), "The risks that the checks look for."),
    }
)
_DETECTION_METHOD = Record(
    {
        "type": Field("required", Choice(get_args(DetectionType)), "How the check is decided."),
        "instructions": Field("optional", Text(), "What the evaluator is told. With them, the evaluator decides."),
        "pattern_hints": Field(
            "optional",
            Items(Regex(), most=200),
            "Regular expressions, upper and lower case alike; one of letters, digits and spaces only is a whole word.",
        ),
        "patterns": Field("optional", Items(Regex(), most=200), "The same as pattern_hints."),
        "on_match": Field(
            "optional",
            Choice((Result.PASS, Result.FAIL)),
            "Without instructions: the result where a pattern occurs (by default fail), the opposite of it elsewhere.",
        ),
    }
)
_EVIDENCE_REQUIREMENTS = Record(
    {
        "require_citations": Field("optional", Flag(), "Whether a result must quote the AI output."),
        "citation_type": Field("optional", Text(), "What is quoted: output_spans."),
        "min_citations_per_fail": Field("optional", Number(0, 100, whole=True), "Quotes that a fail needs at least."),
    }
)
_CHECK = Record(
    {
        "id": Field("required", Text(), "What the check is called; no two have the same."),
        "severity": Field("required", Choice(tuple(Severity)), "How grave a failure is."),
        "question": Field("required", Text(), "What is asked about the AI output."),
        "detection_method": Field("required", _DETECTION_METHOD, "How it is answered."),
        "result_states": Field(
            "expected", Items(Choice(RESULTS), empty="error"), "The possible results: pass, fail, indeterminate."
        ),
        "evidence_requirements": Field("expected", _EVIDENCE_REQUIREMENTS, "What must be quoted."),
    }
)
_THRESHOLDS = Record(
    {
        OK: Field("optional", Number(0, 1), "From this consistency on, the findings are stable."),
        WARN: Field("optional", Number(0, 1), "Below this consistency, they are not reliable for decisions."),
        "ok": Field("optional", Number(0, 1), f"The same as {OK}."),
        "warn": Field("optional", Number(0, 1), f"The same as {WARN}."),
    }
)
_VARIANCE_HANDLING = Record(
    {
        "min_runs": Field("expected", Number(3, 1_000, whole=True), "How often each judged check is run in full mode."),
        "aggregation": Field("expected", Choice(tuple(Aggregation)), "How the runs of a check become its result."),
        "thresholds": Field("expected", _THRESHOLDS, "What counts as stable."),
    }
)
_OUTPUT_SECTIONS = (
    "summary",
    "check_results",
    "assumptions_extracted",
    "uncertainty",
    "unchecked_areas",
    "variance_summary",
    "limitations",
    "integrity",
)
_LOG_FIELDS = (
    "playbook_id",
    "playbook_version",
    "playbook_logic_hash",
    "runner_name",
    "runner_version",
    "timestamp",
    "model_fingerprint",
    "inputs_fingerprint",
    "raw_runs",
    "byop_report",
)
PLAYBOOK = Record(
    {
        "metadata": Field("required", _METADATA, "What the playbook is, and whose."),
        "input_contract": Field("expected", _INPUT_CONTRACT, "What it is applied to."),
        "assumptions": Field("expected", Items(Anything(), empty="warning"), "What it takes for granted."),
        "risk_posture": Field("expected", _RISK_POSTURE, "What it is careful about."),
        "checks": Field("required", Items(_CHECK, empty="error", most=CHECKS), "The tests."),
        "variance_handling": Field("expected", _VARIANCE_HANDLING, "How repeated runs are dealt with."),
        "output_contract": Field("expected", Sections(_OUTPUT_SECTIONS), "What a report must have."),
        "logging": Field("expected", Sections(_LOG_FIELDS), "What the log must have."),
    }
)
