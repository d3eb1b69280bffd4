"""Beside every verdict: whether its confidence was measured, and how often the rules agreed with independent labels."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.byop_project import JUDGED, TEXT, ByopProject, ScriptedJudge, check
from tests.support.provider import LoopbackProvider


def evaluate(project: ByopProject, text: str) -> tuple[str, dict[str, Any], str]:
    project.write("text.md", text)
    shown = project.byop("run", "text.md", "-o", "r.json", "-o", "r.html", "-o", "r.md")
    report = json.loads((project.folder / "r.json").read_text())["byop_report"]
    # The terminal wraps its lines.
    return " ".join(shown.stdout.split()), report, (project.folder / "r.md").read_text()


def test_a_confidence_of_the_rules_is_measured_and_says_on_how_many_texts(project: ByopProject) -> None:
    terminal, report, markdown = evaluate(project, TEXT)
    calibrated = {name: check(report, name)["calibration"] for name in JUDGED if "calibration" in check(report, name)}
    assert calibrated
    for name, counts in calibrated.items():
        expected = round((counts["agreed"] + 1) / (counts["texts"] + 2), 2)
        assert check(report, name)["per_check_confidence"] == pytest.approx(expected)
        measured = f"{expected:.2f} (measured on {counts['texts']} labelled texts)"
        assert measured in terminal
        assert measured in markdown
        record = f"agreed with independent labels in {counts['agreed']} of {counts['texts']} real outputs."
        assert record in terminal
        assert record in markdown
    (record,) = [sentence for sentence in report["limitations"] if "real AI outputs" in sentence]
    assert all(name in record for name in JUDGED)
    assert "labelled by two language models" in record


def test_a_confidence_that_a_model_states_is_not_calibrated(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        terminal, report, markdown = evaluate(project, TEXT)
    for name in JUDGED:
        stated = check(report, name)
        assert "calibration" not in stated
        assert isinstance(stated["per_check_confidence"], float)
    html = (project.folder / "r.html").read_text()
    assert [surface.count("not calibrated") >= len(JUDGED) for surface in (terminal, markdown, html)] == [True] * 3


def test_a_text_in_another_language_is_an_abstention_in_the_report(project: ByopProject) -> None:
    german = "Die Klausel ist wirksam, und der Auftragnehmer hat die Daten auf Verlangen zu löschen. " * 8
    terminal, report, _ = evaluate(project, german)
    for name in JUDGED:
        assert (check(report, name)["result"], check(report, name)["abstained"]) == ("indeterminate", True)
        assert "This language is not covered" in check(report, name)["notes"]
    assert "German" in terminal
    assert "3 of 3" not in terminal
