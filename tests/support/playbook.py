"""A playbook in which nothing is wrong and nothing is missing, to be changed in one place."""

from __future__ import annotations

import copy
from typing import Any


def document() -> dict[str, Any]:
    return copy.deepcopy(_DOCUMENT)


def changed(path: str, value: Any) -> dict[str, Any]:
    """The document with another value at `a.0.b`; `...` takes away what is there."""
    result = document()
    *way, last = (int(step) if step.isdigit() else step for step in path.split("."))
    part: Any = result
    for step in way:
        part = part[step]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return result


_DOCUMENT: dict[str, Any] = {
    "metadata": {
        "id": "lease_review",
        "version": "2.0",
        "author": "A. Writer",
        "created_at": "2026-03-01",
        "jurisdiction": ["DE", "AT"],
        "intended_use": "reviews of leases",
    },
    "input_contract": {
        "artifact_type": "ai_output_only",
        "required_inputs": ["ai_output"],
        "optional_inputs": [],
        "normalization_rules": ["none"],
    },
    "assumptions": ["The text is a review."],
    "risk_posture": {"tolerance": "low", "primary_risks": ["rent"]},
    "checks": [
        {
            "id": "names_the_law",
            "severity": "high",
            "question": "Does it name the law that applies?",
            "detection_method": {"type": "semantic", "instructions": "PASS if a law is named."},
            "result_states": ["pass", "fail", "indeterminate"],
            "evidence_requirements": {"require_citations": True, "citation_type": "output_spans"},
        },
        {
            "id": "no_guarantee",
            "severity": "medium",
            "question": "Does it guarantee an outcome?",
            "detection_method": {"type": "pattern", "patterns": ["guarantee[ds]?", "certainly"], "on_match": "fail"},
            "result_states": ["pass", "fail", "indeterminate"],
            "evidence_requirements": {"require_citations": False},
        },
    ],
    "variance_handling": {
        "min_runs": 3,
        "aggregation": "consensus_required",
        "thresholds": {"consistency_score_min_ok": 0.9, "consistency_score_warn": 0.6},
    },
    "output_contract": {
        "summary": {},
        "check_results": {},
        "variance_summary": {},
        "integrity": {},
        "required_fields": ["assumptions_extracted", "uncertainty", "unchecked_areas", "limitations"],
    },
    "logging": {
        "required_fields": [
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
        ]
    },
}
