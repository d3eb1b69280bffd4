"""The sentences that the rules were developed on, each in an otherwise neutral text."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from salvo.playbooks.evaluate.judges.rules.engine import judge

NEUTRAL = (
    "We looked at the new services agreement between the two companies. The term is two years and starts in May. {} The fee is "
    "in clause 4. The annex lists the sites, the contacts and the languages of the service. Invoices come once a month, in "
    "euros, and are paid by bank transfer within the month that follows. The period of notice might be short."
)
CASES = [
    (check, result, sentences)
    for check, results in tomllib.loads(
        Path(__file__).with_name("development.toml").read_text(encoding="utf-8")
    ).items()
    for result, sentences in results.items()
]


@pytest.mark.parametrize("check,result,sentences", CASES, ids=[f"{check}-{result}" for check, result, _ in CASES])
def test_a_sentence_decides_its_check(check: str, result: str, sentences: list[str]) -> None:
    assert [sentence for sentence in sentences if judge(check, NEUTRAL.format(sentence)).result != result] == []
