"""How often the rules agreed with independent labels of real AI outputs: what their confidence is computed from.

`rules_calibration.json` has the counts. `tests/playbooks/labelled/real/measure.py` writes it, from texts that no rule
was written by.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from salvo.playbooks.enums import Result
from salvo.playbooks.report.report import Calibration

PATH = Path(__file__).with_name("rules_calibration.json")

TARGET = 0.8
"""The rate of agreement that every check should reach."""

_MIN_TEXTS = 5
"""With fewer texts a confidence would be a guess."""


def calibration(rules_id: str, check_id: str, result: Result) -> Calibration | None:
    """Return how often this result of this check agreed with the labels; None if that was not measured."""
    measured = _measured(rules_id)
    counts = measured["checks"].get(check_id, {}).get(result) if measured else None
    return Calibration(**counts) if counts and counts["texts"] >= _MIN_TEXTS else None


def confidence(measured: Calibration) -> float:
    """Return the expected rate of agreement, by Laplace's rule: a few texts do not make a certainty."""
    return round((measured.agreed + 1) / (measured.texts + 2), 2)


def track_record(rules_id: str) -> str:
    """Return a sentence on how often the rules agreed with independent labels."""
    measured = _measured(rules_id)
    if not measured:
        return "How often these rules agree with independent labels has not been measured."
    totals = {
        check_id: tuple(sum(counts[part] for counts in results.values()) for part in ("agreed", "texts"))
        for check_id, results in measured["checks"].items()
    }
    checks = ", ".join(f"{check_id} {agreed} of {texts}" for check_id, (agreed, texts) in totals.items())
    below = ", ".join(check_id for check_id, (agreed, texts) in totals.items() if agreed / texts < TARGET)
    return (
        f"On {measured['texts']} real AI outputs that were kept aside, labelled by two language models independently, "
        f"the rules gave the label that both readers gave (where these agree) as follows: {checks}."
        + (f" Below the target of {TARGET:.2f}: {below}." if below else "")
    )


@cache
def _measured(rules_id: str) -> dict[str, Any] | None:
    """Return the counts if they were measured with these rules."""
    measured: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return measured if measured["rules"] == rules_id else None
