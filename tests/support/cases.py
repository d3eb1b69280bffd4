"""Checks, inputs and cases of the playbook product, as short as a test can write them."""

import dataclasses
from typing import Any

from salvo.playbooks.enums import Severity
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.judges.base import Case
from salvo.playbooks.playbook.definition import Check

OUTPUT = """\
Our review of the data processing agreement:

The clause is compliant with the GDPR. No further steps are needed.
- Sub-processors are always covered by clause 7."""

CERTAINTY = Check(
    id="certainty_language",
    severity=Severity.HIGH,
    question="Does the AI output use unjustified certainty?",
    type="hybrid",
    instructions="Flag absolute legal claims. PASS if certainty is appropriately qualified; FAIL if it is unqualified.",
    patterns=("compliant", "always"),
    require_citations=True,
    min_citations_per_fail=1,
)


def check(**fields: Any) -> Check:
    return Check(**{part.name: getattr(CERTAINTY, part.name) for part in dataclasses.fields(Check)} | fields)


def case(output: str = OUTPUT, *, check: Check = CERTAINTY, run: int = 1, **around: Any) -> Case:
    """`around`: the other inputs, and the fields of a case."""
    fields = {name: around.pop(name) for name in ("hits", "addressed") if name in around}
    return Case(check=check, inputs=Inputs.from_texts(output, **around), run=run, **fields)
