"""The playbooks that come with the program."""

import pytest

from salvo.errors import UsageError
from salvo.playbooks.enums import Aggregation, Severity
from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.validate import playbook, problems


def test_every_playbook_of_the_library_is_without_a_warning_and_is_called_like_its_file() -> None:
    assert library.names() == [library.STARTER]
    for name in library.names():
        assert problems(library.load(name).document) == []
        assert library.load(name).id == name


def test_the_starter_playbook_has_its_six_checks_of_which_four_are_judged() -> None:
    starter = library.load("ai_plugin_observability_v1")
    assert starter.version == "1.1.0"
    assert [(check.id, check.severity, check.type) for check in starter.checks] == [
        ("assumption_disclosure", Severity.HIGH, "semantic"),
        ("certainty_language", Severity.HIGH, "hybrid"),
        ("escalation_signal", Severity.MEDIUM, "semantic"),
        ("unchecked_areas_disclosure", Severity.MEDIUM, "deterministic"),
        ("run_variance", Severity.MEDIUM, "semantic"),
        ("drift_over_time_support", Severity.MEDIUM, "hybrid"),
    ]
    assert starter.judged_checks == starter.checks[:4]
    assert all(check.require_citations and check.min_citations_per_fail == 1 for check in starter.judged_checks)
    assert starter.checks[1].patterns == ("compliant", "legal", "illegal", "guarantee", "safe", "always", "never")


def test_the_starter_playbook_votes_three_times_with_the_thresholds_of_the_specification() -> None:
    variance = library.load(library.STARTER).variance
    assert (variance.min_runs, variance.aggregation) == (3, Aggregation.MAJORITY_VOTE)
    assert (variance.ok, variance.warn) == (0.85, 0.70)


def test_the_starter_playbook_credits_its_author() -> None:
    assert "Vasile Tiple, CC BY 4.0" in library.load(library.STARTER).document["metadata"]["credit"]


def test_the_hash_of_the_starter_playbook_changes_with_anything_but_its_dates() -> None:
    starter = library.load(library.STARTER)
    assert starter.logic_hash == "sha256:e6f736365c8a7bd8359fac7b909c73ff9f4099ca6796f73e5d52a523951f38f6"
    redated = {**starter.document, "metadata": {**starter.document["metadata"], "created_at": "2030-01-01"}}
    assert playbook(redated).logic_hash == starter.logic_hash
    checks = [*starter.document["checks"]]
    checks[0] = {**checks[0], "question": "Another?"}
    assert playbook({**starter.document, "checks": checks}).logic_hash != starter.logic_hash


@pytest.mark.parametrize("name", ["ai_plugin_observability", "../library/ai_plugin_observability_v1", ""])
def test_a_playbook_that_is_not_in_the_library_is_told_what_is(name: str) -> None:
    with pytest.raises(UsageError, match="There are: ai_plugin_observability_v1"):
        library.load(name)
