"""Every problem of a playbook with its path: what is refused, what is only said, what is kept."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.engine.jsonio import json_schema
from salvo.errors import PlaybookError
from salvo.playbooks.enums import Aggregation, Result, Severity
from salvo.playbooks.playbook.definition import Check, Variance
from salvo.playbooks.playbook.schema import playbook_schema
from salvo.playbooks.playbook.validate import examine, playbook, problems, read
from tests.support.playbook import changed, document


def said(given: Any, level: str) -> list[str]:
    found = examine(given)[1] if isinstance(given, bytes) else problems(given)
    return [str(problem) for problem in found if problem.level == level]


def test_a_complete_playbook_has_no_problem() -> None:
    assert problems(document()) == []


def test_a_playbook_is_read_as_it_is_written() -> None:
    found = read(json.dumps(document()).encode(), "lease.json")
    assert (found.id, found.version) == ("lease_review", "2.0")
    assert found.variance == Variance(3, Aggregation.CONSENSUS_REQUIRED, ok=0.9, warn=0.6)
    assert found.checks == (
        Check(
            "names_the_law",
            Severity.HIGH,
            "Does it name the law that applies?",
            "semantic",
            instructions="PASS if a law is named.",
            require_citations=True,
            min_citations_per_fail=1,
        ),
        Check(
            "no_guarantee",
            Severity.MEDIUM,
            "Does it guarantee an outcome?",
            "pattern",
            patterns=("guarantee[ds]?", "certainly"),
            on_match=Result.FAIL,
        ),
    )
    assert found.document == document()
    assert found.judged_checks == found.checks[:1]


METHOD = "checks.0.detection_method"
PATTERN = "checks.1.detection_method"
THRESHOLDS = "variance_handling.thresholds"


@pytest.mark.parametrize(
    "path, value, message",
    [
        ("metadata", ..., "$.metadata: is missing; it needs id and version"),
        ("metadata", [], "$.metadata: must be an object, not a list"),
        ("metadata.id", ..., "$.metadata.id: is missing"),
        ("metadata.id", " ", "$.metadata.id: must not be empty"),
        ("metadata.version", 1.1, "$.metadata.version: must be text, not a number; put it in quotes"),
        ("metadata.author", None, "$.metadata.author: must be text or a list of texts, not null"),
        ("assumptions", "none", "$.assumptions: must be a list, not text"),
        ("checks", ..., "$.checks: is missing"),
        ("checks", [], "$.checks: must not be empty"),
        ("checks", {}, "$.checks: must be a list, not an object"),
        ("checks.1", None, "$.checks[1]: must be an object, not null"),
        ("checks.1.id", "names_the_law", "$.checks[1].id: is already the id of check 1"),
        ("checks.0.severity", ..., "$.checks[0].severity: is missing"),
        ("checks.0.severity", "low", "$.checks[0].severity: must be one of high, medium"),
        ("checks.0.severity", True, "$.checks[0].severity: must be one of high, medium"),
        (
            "checks.0.severity",
            "MEDUIM",
            '$.checks[0].severity: must be one of high, medium; did you mean "medium"?',
        ),
        ("checks.0.question", "", "$.checks[0].question: must not be empty"),
        ("checks.0.question", ..., "$.checks[0].question: is missing"),
        (METHOD, ..., "$.checks[0].detection_method: is missing; it needs type"),
        (
            f"{METHOD}.type",
            "semantics",
            (
                "$.checks[0].detection_method.type: must be one of deterministic, pattern, semantic, hybrid; "
                'did you mean "semantic"?'
            ),
        ),
        (
            f"{METHOD}.instructions",
            ...,
            (
                "$.checks[0].detection_method.instructions: is missing: "
                "a semantic check must tell the evaluator how to decide"
            ),
        ),
        (f"{METHOD}.instructions", "\n", "$.checks[0].detection_method.instructions: must not be empty"),
        (
            f"{PATTERN}.patterns",
            [],
            "$.checks[1].detection_method: has neither instructions nor patterns: nothing can decide this check",
        ),
        (f"{PATTERN}.patterns", "legal", "$.checks[1].detection_method.patterns: must be a list, not text"),
        (f"{PATTERN}.patterns.0", "", "$.checks[1].detection_method.patterns[0]: must not be empty"),
        (
            f"{PATTERN}.patterns.0",
            "(legal",
            (
                '$.checks[1].detection_method.patterns[0]: "(legal" is not a regular expression: '
                "missing ), unterminated subpattern at position 0"
            ),
        ),
        (
            f"{PATTERN}.patterns.0",
            "a" * 2_001,
            ("$.checks[1].detection_method.patterns[0]: must have at most 2,000 characters"),
        ),
        (
            f"{PATTERN}.patterns",
            ["a"] * 201,
            "$.checks[1].detection_method.patterns: must have at most 200 entries, not 201",
        ),
        (
            f"{PATTERN}.on_match",
            "indeterminate",
            "$.checks[1].detection_method.on_match: must be one of pass, fail",
        ),
        (
            "checks.0.result_states.1",
            "failed",
            '$.checks[0].result_states[1]: must be one of pass, fail, indeterminate; did you mean "fail"?',
        ),
        ("checks.0.result_states", [], "$.checks[0].result_states: must not be empty"),
        (
            "checks.0.evidence_requirements.require_citations",
            "yes",
            "$.checks[0].evidence_requirements.require_citations: must be true or false, not text",
        ),
        (
            "checks.0.evidence_requirements.min_citations_per_fail",
            -1,
            "$.checks[0].evidence_requirements.min_citations_per_fail: must be at least 0",
        ),
        ("variance_handling.min_runs", 2, "$.variance_handling.min_runs: must be at least 3"),
        ("variance_handling.min_runs", 10**9, "$.variance_handling.min_runs: must be at most 1,000"),
        (
            "variance_handling.min_runs",
            3.5,
            "$.variance_handling.min_runs: must be a whole number, not a number with a decimal point",
        ),
        ("variance_handling.min_runs", True, "$.variance_handling.min_runs: must be a whole number, not true"),
        (
            "variance_handling.aggregation",
            "majority",
            (
                "$.variance_handling.aggregation: must be one of majority_vote, report_all_runs, consensus_required; "
                'did you mean "majority_vote"?'
            ),
        ),
        (
            f"{THRESHOLDS}.consistency_score_min_ok",
            85,
            "$.variance_handling.thresholds.consistency_score_min_ok: must be at most 1",
        ),
        (
            f"{THRESHOLDS}.consistency_score_warn",
            0.95,
            (
                "$.variance_handling.thresholds: "
                "the warning threshold, 0.95, is above the threshold for stable findings, 0.9"
            ),
        ),
        (
            THRESHOLDS,
            {"ok": 0.5},
            (
                "$.variance_handling.thresholds: "
                "the warning threshold, 0.7, is above the threshold for stable findings, 0.5"
            ),
        ),
        (
            f"{THRESHOLDS}.ok",
            0.9,
            "$.variance_handling.thresholds.ok: is the same as consistency_score_min_ok: give one of the two",
        ),
        ("output_contract", [], "$.output_contract: must be an object, not a list"),
        ("metadata.id", "half \ud800", "$.metadata.id: has half a character (a lone surrogate) in it"),
        ("metadata.\ud800", 1, '$.metadata["\\ud800"]: has half a character (a lone surrogate) in its name'),
        ("metadata.revision", 2**53, "$.metadata.revision: is too large: canonical JSON holds integers below 2^53"),
        ("metadata.weight", float("inf"), "$.metadata.weight: is not a number that JSON can hold"),
        ("metadata.when", object(), "$.metadata.when: has the type object, which JSON cannot hold"),
        ("metadata", {"id": "a", "version": "1", 0.5: [float("nan")]}, "$.metadata: has a key that is not text: 0.5"),
    ],
)
def test_an_error_is_named_with_its_path_and_keeps_the_playbook_from_being_used(
    path: str, value: Any, message: str
) -> None:
    assert said(changed(path, value), "error") == [message]
    with pytest.raises(PlaybookError):
        playbook(changed(path, value))


@pytest.mark.parametrize(
    "path, value, message",
    [
        ("metadata.author", ..., "$.metadata.author: is missing; the specification asks for it"),
        ("metadata.jurisdiction", ..., "$.metadata.jurisdiction: is missing; the specification asks for it"),
        ("metadata.created_at", "soon", '$.metadata.created_at: is not a date: "soon". Write it as in 2026-02-07'),
        (
            "metadata.updated_at",
            "2026-02-31",
            '$.metadata.updated_at: is not a date: "2026-02-31". Write it as in 2026-02-07',
        ),
        ("input_contract", ..., "$.input_contract: is missing; the specification asks for it"),
        (
            "input_contract.artifact_type",
            "ai_output",
            (
                "$.input_contract.artifact_type: is not one of the specification's ai_output_only, "
                'ai_output_plus_source_doc, ai_output_plus_tool_trace; did you mean "ai_output_only"?'
            ),
        ),
        ("assumptions", [], "$.assumptions: must not be empty"),
        ("risk_posture.primary_risks", [], "$.risk_posture.primary_risks: must not be empty"),
        ("variance_handling", ..., "$.variance_handling: is missing; the specification asks for it"),
        (
            f"{THRESHOLDS}.consistency_score_warn",
            ...,
            "$.variance_handling.thresholds.consistency_score_warn: is missing; 0.7 is used",
        ),
        ("output_contract.summary", ..., "$.output_contract.summary: is missing; the specification asks for it"),
        ("logging", ..., "$.logging: is missing; the specification asks for it"),
        ("checks.0.result_states", ..., "$.checks[0].result_states: is missing; the specification asks for it"),
        (
            "checks.0.result_states",
            ["pass", "fail"],
            "$.checks[0].result_states: lacks indeterminate, which can be the result all the same",
        ),
        (
            "checks.0.evidence_requirements",
            ...,
            "$.checks[0].evidence_requirements: is missing; the specification asks for it",
        ),
        (
            "checks.0.evidence_requirements.citation_type",
            "page_numbers",
            (
                "$.checks[0].evidence_requirements.citation_type: "
                "only output_spans is supported: quotes are looked up in the AI output only"
            ),
        ),
        (
            "checks.1.evidence_requirements.min_citations_per_fail",
            2,
            "$.checks[1].evidence_requirements.min_citations_per_fail: has no effect with require_citations: false",
        ),
        (
            f"{PATTERN}.on_match",
            ...,
            (
                "$.checks[1].detection_method.on_match: is missing: "
                "the check fails if a pattern occurs. Write fail or pass"
            ),
        ),
        (
            f"{PATTERN}.type",
            "hybrid",
            "$.checks[1].detection_method.instructions: is missing: the patterns alone decide this check",
        ),
        (
            f"{METHOD}.type",
            "hybrid",
            "$.checks[0].detection_method.pattern_hints: is missing: a hybrid check without patterns is a semantic one",
        ),
        (
            f"{METHOD}.type",
            "pattern",
            "$.checks[0].detection_method.type: is pattern, but there are instructions: an evaluator decides this check",
        ),
        (
            f"{METHOD}.on_match",
            "pass",
            (
                "$.checks[0].detection_method.on_match: has no effect: "
                "there are instructions, so an evaluator decides this check"
            ),
        ),
    ],
)
def test_a_warning_is_named_with_its_path_and_the_playbook_can_be_used(path: str, value: Any, message: str) -> None:
    assert said(changed(path, value), "warning") == [message]
    assert playbook(changed(path, value)).id == "lease_review"


@pytest.mark.parametrize(
    "path, value, level, message",
    [
        ("metadata.autor", "A. Writer", "warning", '$.metadata.autor: no such field; did you mean "author"?'),
        ("checks.0.serverity", "high", "error", '$.checks[0].serverity: no such field; did you mean "severity"?'),
        ("output_contract.sumary", {}, "warning", '$.output_contract.sumary: no such field; did you mean "summary"?'),
    ],
)
def test_a_misspelt_field_is_named_instead_of_the_one_that_is_missing(
    path: str, value: Any, level: str, message: str
) -> None:
    around, meant = path.rpartition(".")[0], message.split('"')[1]
    misspelt = changed(f"{around}.{meant}", ...)
    part = misspelt["checks"][0] if around == "checks.0" else misspelt[around]
    part[path.rpartition(".")[2]] = value
    assert [(problem.level, str(problem)) for problem in problems(misspelt)] == [(level, message)]


def test_other_fields_are_kept_and_not_spoken_of() -> None:
    extended = changed("checks.0.reviewed_by", {"name": "B"})
    extended["metadata"]["versions"] = ["1.0", "2.0"]  # near "version", which is there: no misspelling of it
    assert problems(extended) == []
    assert playbook(extended).document == extended
    assert playbook(extended).logic_hash != playbook(document()).logic_hash


def test_the_short_names_of_the_thresholds_mean_the_same() -> None:
    found = playbook(changed(THRESHOLDS, {"ok": 1, "warn": 0.5}))
    assert (found.variance.ok, found.variance.warn) == (1, 0.5)


def test_what_a_playbook_does_not_say_is_as_the_specification_has_it() -> None:
    assert playbook(changed("variance_handling", ...)).variance == Variance(3, Aggregation.MAJORITY_VOTE, 0.85, 0.70)


def test_a_whole_number_may_be_written_with_a_decimal_point() -> None:
    runs = playbook(changed("variance_handling.min_runs", 4.0)).variance.min_runs
    assert (runs, type(runs)) == (4, int)


def test_hints_and_patterns_are_all_looked_for() -> None:
    found = playbook(changed(f"{PATTERN}.pattern_hints", ["surely"]))
    assert found.checks[1].patterns == ("surely", "guarantee[ds]?", "certainly")


def test_a_derived_check_needs_neither_instructions_nor_patterns_but_is_not_enough() -> None:
    derived = {**document()["checks"][0], "id": "run_variance", "detection_method": {"type": "semantic"}}
    with_derived = changed("checks", [*document()["checks"], derived])
    assert problems(with_derived) == []
    assert said(changed("checks", [derived]), "error") == [
        "$.checks: leaves nothing to evaluate: every check in it is derived from the results of others"
    ]


def test_checks_alone_want_an_id_and_a_version_to_be_named_by() -> None:
    assert said({"checks": document()["checks"]}, "error") == ["$.metadata: is missing; it needs id and version"]
    named = {"metadata": {"id": "mine", "version": "1"}, "checks": document()["checks"]}
    assert said(named, "error") == []
    assert playbook(named).id == "mine"


def test_thousands_of_checks_are_refused_with_one_sentence() -> None:
    many = said(changed("checks", [{}] * 20_000), "error")
    assert many == ["$.checks: must have at most 1,000 entries, not 20,000"]


def test_an_error_lists_all_errors_of_the_file_at_once() -> None:
    bad = changed("checks.1.severity", "hihg")
    bad["variance_handling"]["min_runs"] = 1
    bad["metadata"]["id"] = "\x1b[2J\ud800"
    with pytest.raises(PlaybookError) as caught:
        read(json.dumps(bad).encode(), "bad.json")
    assert str(caught.value) == snapshot("""\
bad.json cannot be used as a playbook.
$.metadata.id: has half a character (a lone surrogate) in it
$.checks[1].severity: must be one of high, medium; did you mean "high"?
$.variance_handling.min_runs: must be at least 3 `byop validate FILE` shows these and the warnings.\
""")
    assert len(caught.value.errors) == 3


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(-2, 2)
    | st.sampled_from(["", " ", "high", "pass", "(", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "type", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def paths(part: Any, way: tuple[str, ...] = ()) -> list[str]:
    inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    return [path for step, value in inside for path in [".".join((*way, str(step))), *paths(value, (*way, str(step)))]]


@given(path=st.sampled_from(paths(document())), value=values | st.just(...))
def test_what_the_published_schema_refuses_is_refused_and_what_is_accepted_fits_it(path: str, value: Any) -> None:
    given = changed(path, value)
    errors = said(given, "error")
    if json_schema.problems(playbook_schema(), given):
        assert errors
    if not errors:
        assert playbook(given).logic_hash.startswith("sha256:")
        assert read(json.dumps(given).encode(), "x") == playbook(given)


def test_the_published_schema_is_a_schema_and_refuses_what_it_can() -> None:
    json_schema.check(playbook_schema())
    for path, value in [
        ("checks", []),
        ("variance_handling.min_runs", 2),
        ("checks.0.severity", "low"),
        ("metadata.id", ""),
    ]:
        assert json_schema.problems(playbook_schema(), changed(path, value))
    assert json_schema.problems(playbook_schema(), document()) == []
