"""The confidence of the rules is measured: on how many texts, and how often they were right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.judges import rules_calibration
from salvo.playbooks.evaluate.judges.rules.engine import JUDGES, judge
from salvo.playbooks.evaluate.judges.rules_judge import RulesJudge
from salvo.playbooks.report.report import Calibration

REAL = Path(__file__).parents[2] / "labelled" / "real"
LABELS = [json.loads(line) for line in (REAL / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
MEASURED = json.loads(rules_calibration.PATH.read_text(encoding="utf-8"))


def test_the_calibration_belongs_to_these_rules_and_to_the_labels_that_were_kept_aside() -> None:
    """A changed rule changes the id, and its confidence is "not calibrated" until it is measured again.

    If only quotes or notes changed, and no verdict, write the new id into the file.
    """
    held = [entry for entry in LABELS if entry["part"] == "held"]
    assert (MEASURED["rules"], MEASURED["texts"]) == (RulesJudge.prompt_id, len(held))
    for check in JUDGES:
        agreed = sum(entry["one"][check] == entry["two"][check] for entry in held)
        assert sum(counts["texts"] for counts in MEASURED["checks"][check].values()) == agreed


def test_at_least_sixty_texts_are_labelled_twice_and_half_of_them_are_kept_aside() -> None:
    parts = [entry["part"] for entry in LABELS]
    assert len(LABELS) == len({entry["id"] for entry in LABELS}) >= 60
    assert parts.count("held") >= parts.count("dev")
    assert all(
        set(entry[reader]) == set(JUDGES) and set(entry[reader].values()) <= {"pass", "fail", "indeterminate"}
        for entry in LABELS
        for reader in ("one", "two")
    )
    assert all(set(entry) == {"id", "part", "one", "two"} for entry in LABELS)


@pytest.mark.parametrize("agreed,texts,confidence", [(0, 5, 0.14), (5, 5, 0.86), (26, 27, 0.93)])
def test_a_few_texts_do_not_make_a_certainty(agreed: int, texts: int, confidence: float) -> None:
    assert rules_calibration.confidence(Calibration(agreed, texts)) == confidence


def test_too_few_texts_or_other_rules_give_no_calibration() -> None:
    for check in JUDGES:
        for result in Result:
            counts = MEASURED["checks"][check][result]
            expected = Calibration(**counts) if counts["texts"] >= 5 else None
            assert rules_calibration.calibration(RulesJudge.prompt_id, check, result) == expected
            assert rules_calibration.calibration("rules-of-another-day", check, result) is None


def test_the_measurement_prints_counts_and_no_text(tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    text = "The zebra clause may be too wide for health data, and counsel should review it before signature. " * 5
    texts.write_text("".join(json.dumps({"id": entry["id"], "text": text}) + "\n" for entry in LABELS))
    ended = subprocess.run(
        [sys.executable, str(REAL / "measure.py"), "--part", "dev", str(texts)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "| `escalation_signal` | pass | " in ended.stdout
    assert "zebra" not in ended.stdout


def test_the_documentation_publishes_the_counts() -> None:
    published = (Path(__file__).parents[4] / "docs" / "evidence.md").read_text(encoding="utf-8")
    for check, results in MEASURED["checks"].items():
        cells = " | ".join(f"{counts['agreed']} of {counts['texts']}" for counts in results.values())
        assert f"| `{check}` | {cells} |" in published
        right = sum(counts["agreed"] for counts in results.values())
        total = sum(counts["texts"] for counts in results.values())
        assert f"| `{check}` | {right / total:.2f} (" in published


def test_the_documentation_publishes_the_agreement_on_the_texts_of_the_project() -> None:
    published = (Path(__file__).parents[4] / "docs" / "evidence.md").read_text(encoding="utf-8")
    files = (REAL.parent / "test").glob("*.json")
    pairs = (pair for file in files for pair in json.loads(file.read_text(encoding="utf-8"))["pairs"])
    texts = [text for pair in pairs for text in pair["texts"]]
    agreed = {
        check: sum(judge(check, text["text"]).result == text["labels"][check] for text in texts)
        for check in sorted(JUDGES)
    }
    counts = "{} (assumptions), {} (certainty), {} (escalation) and {} (unchecked areas)".format(*agreed.values())
    assert f"{counts} of {len(texts)} texts" in " ".join(published.split())


def test_the_track_record_names_the_checks_that_miss_the_target() -> None:
    record = rules_calibration.track_record(RulesJudge.prompt_id)
    missed = [
        check
        for check, results in MEASURED["checks"].items()
        if sum(counts["agreed"] for counts in results.values())
        < 0.8 * sum(counts["texts"] for counts in results.values())
    ]
    assert record.endswith(f" Below the target of 0.80: {', '.join(missed)}.") if missed else "Below" not in record
