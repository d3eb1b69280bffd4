"""What changed between two versions of a playbook, in words."""

from typing import Any

from inline_snapshot import snapshot

from salvo.playbooks.playbook.changes import changes, effect, sentence
from tests.support.playbook import changed, document


def sentences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [sentence(change) for change in changes(before, after)]


def test_equal_documents_have_no_changes() -> None:
    assert sentences(document(), document()) == []
    assert effect([]) == "The two versions are the same."


def test_every_kind_of_change_is_told_in_words() -> None:
    after = changed("checks.0.severity", "medium")
    after["checks"][1]["detection_method"]["patterns"] = ["certainly", "surely"]
    after["checks"].append({**after["checks"][0], "id": "new_one", "question": "Is it new?"})
    after["checks"][0]["labelled_examples"] = [{"text": "It is.", "expected": "fail"}]
    after["assumptions"] = []
    after["variance_handling"]["min_runs"] = 5
    assert sentences(document(), after) == snapshot(
        [
            "names_the_law: Severity: changed from “high” to “medium”.",
            "names_the_law: Example 1: added, “It is. (fail)”.",
            "no_guarantee: Patterns: removed, “guarantee[ds]?”.",
            "no_guarantee: Patterns: added, “surely”.",
            "new_one: added, “Is it new?”.",
            "Assumptions: removed, “The text is a review.”.",
            "Repeated runs, number of runs: changed from “3” to “5”.",
        ]
    )
    assert sentences(after, document())[0] == "new_one: removed, “Is it new?”."


def test_another_order_of_the_checks_is_a_change() -> None:
    after = document()
    after["checks"].reverse()
    [only] = sentences(document(), after)
    assert only.startswith("Order of the checks: moved")


def test_a_change_of_examples_alone_is_told_from_a_change_of_the_checks() -> None:
    after = changed("metadata.version", "2.1")
    after["checks"][0]["labelled_examples"] = [{"text": "It is.", "expected": "fail"}]
    assert effect(changes(document(), after)).startswith("Only examples changed: every check is judged as before.")
    after["checks"][0]["severity"] = "medium"
    assert effect(changes(document(), after)).startswith("The logic hash is another one")
