"""The rules as a judge: one id for one behaviour."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from salvo.playbooks.evaluate.judges.rules import engine
from salvo.playbooks.evaluate.judges.rules_judge import RulesJudge

LABELLED = Path(__file__).parents[2] / "labelled"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["text"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)


def test_the_id_stands_for_exactly_these_verdicts() -> None:
    """A stored evaluation is replayed with the rules of the same id, and drift is measured between equal ids.

    If this fails because a rule was changed on purpose, give the rules a new id, and then the digest that is shown.
    """
    findings = [
        [check, finding.result, finding.confidence, finding.spans, finding.rule, finding.notes]
        for path in sorted(LABELLED.glob("*/*.json"))
        for text in _texts(json.loads(path.read_text(encoding="utf-8")))
        for check in sorted(engine.JUDGES)
        for finding in [engine.judge(check, text)]
    ]
    digest = hashlib.sha256(json.dumps(findings).encode()).hexdigest()[:16]
    assert (RulesJudge.prompt_id, digest) == ("rules-46ecb5feef6c", "46ecb5feef6ceac4")
