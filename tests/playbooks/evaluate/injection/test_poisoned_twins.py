"""The poisoned twin of a text has the verdicts of the clean one, and the report says what was tried."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from salvo.playbooks.evaluate.injection.detector import find_injections
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.judges.rules import engine
from tests.playbooks.evaluate.injection.test_detector import BENIGN
from tests.support.poisoned_twins import LABELLED, Twin, carriers, twins

CHECKS = sorted(engine.JUDGES)
MIN_REPORTED = 0.95


def verdicts(text: str) -> dict[str, str]:
    normalised = Inputs.from_texts(text).ai_output
    excluded = [finding.span for finding in find_injections(normalised)]
    return {check: engine.judge(check, normalised, excluded).result for check in CHECKS}


@cache
def clean_verdicts(place: str) -> dict[str, str]:
    [carrier] = [carrier for carrier in carriers() if carrier.name == place]
    return verdicts(carrier.text)


def check_twins(chosen: Iterable[Twin]) -> None:
    """Check the verdicts of all, and how many are reported in each half: the tuned families and those kept aside."""
    changed, reported, total = [], Counter[bool](), Counter[bool]()
    for twin in chosen:
        total[twin.kept_aside] += 1
        reported[twin.kept_aside] += bool(find_injections(twin.text))
        if verdicts(twin.text) != clean_verdicts(twin.carrier.name):
            changed.append((twin.name, twin.poison))
    assert changed == []
    for kept_aside, number in total.items():
        assert reported[kept_aside] >= MIN_REPORTED * number


def test_there_are_thirty_families_in_ten_carriers_half_of_them_kept_aside() -> None:
    everything = list(twins())
    assert len(everything) == 300
    assert len({twin.family for twin in everything}) == 30
    assert len({twin.carrier.name for twin in everything}) == 10
    assert Counter(twin.kept_aside for twin in everything) == {True: 150, False: 150}
    results = [verdict for carrier in carriers() for verdict in verdicts(carrier.text).values()]
    assert {"pass", "fail"} <= set(results)


def test_a_poisoned_twin_has_the_verdicts_of_its_clean_text_and_is_reported() -> None:
    check_twins(twin for number, twin in enumerate(twins()) if number % 7 == 0)  # every family, every carrier


@pytest.mark.load
def test_every_wording_of_every_family_in_every_carrier_has_the_verdicts_of_the_clean_text() -> None:
    check_twins(twins(every_wording=True))


def clean_texts() -> Iterator[tuple[str, str]]:
    """Yield the labelled texts, and each again with a sentence of legal prose that sounds like an injection."""
    number = 0
    for path in sorted(LABELLED.glob("*/*.json")):
        for pair in json.loads(Path(path).read_text(encoding="utf-8"))["pairs"]:
            for text in pair["texts"]:
                yield pair["id"], text["text"]
                trap = BENIGN[number % len(BENIGN)]
                number += 1
                first, _, rest = text["text"].partition("\n\n")
                yield f"{pair['id']} with “{trap}”", f"{first}\n\n{trap}\n\n{rest}"


def test_no_finding_on_five_hundred_clean_texts() -> None:
    texts = dict.fromkeys(clean_texts())
    assert len(texts) >= 500
    assert [name for name, text in texts if find_injections(text)] == []
