"""Labels in a folder and in an object store: one per question and reviewer, and a draw that is made once."""

import pytest

from salvo.errors import StoreError
from salvo.scenarios.labels.label_store import Label, LabelAnswer, LabelStore, reviewer_name
from salvo.scenarios.store.store import RunStore
from tests.scenarios.store.conftest import StorePlace


@pytest.fixture
def store(place: StorePlace) -> RunStore:
    opened = place.open()
    opened.prepare()
    return opened


KEY, OTHER = "a" * 64, "b" * 64


def label(
    key: str = KEY, answer: LabelAnswer = LabelAnswer.PASS, reviewer: str = "Ada", at: str = "2026-11-18"
) -> Label:
    return Label(key, answer, reviewer, at, note="so", scenario_id="greet", assertion="polite", run_id="b-0001")


def test_a_reviewer_has_one_answer_and_every_reviewer_an_own_one(store: RunStore) -> None:
    labels = LabelStore(store)
    assert labels.load([KEY]) == []
    before = labels.version()
    for item in (label(), label(answer=LabelAnswer.FAIL, at="2026-11-19"), label(reviewer="Bob"), label(OTHER)):
        labels.save(item)
    assert labels.load([KEY]) == [label(reviewer="Bob"), label(answer=LabelAnswer.FAIL, at="2026-11-19")]
    assert labels.load([OTHER]) == [label(OTHER)]
    assert labels.version() != before


def test_a_draw_is_made_once(store: RunStore) -> None:
    labels = LabelStore(store)
    assert labels.draw("01k9batch") is None
    draw = labels.make_draw("01k9batch", "first", "2026-11-18")
    assert labels.make_draw("01k9batch", "second", "2026-11-19") == draw == labels.draw("01k9batch")
    order = sorted((f"b-{number:04}" for number in range(50)), key=draw.position)
    assert order != sorted(order), "the order is not that of the runs"


def test_a_damaged_label_is_named_and_a_key_leads_nowhere_else(store: RunStore) -> None:
    labels = LabelStore(store)
    with pytest.raises(StoreError, match="not the key of a label"):
        labels.save(label("../../somewhere"))
    store.storage.put(f"labels/{KEY}.x.json", b'{"key": "' + KEY.encode() + b'", "answer": "perhaps"}')
    with pytest.raises(StoreError, match=r"is damaged at answer"):
        labels.load([KEY])
    # A file under another name is read for what it says.
    store.storage.put(f"labels/{OTHER}.x.json", b'{"key": "c", "answer": "pass", "reviewer": "A", "at": ""}')
    assert labels.load([OTHER]) == []


def test_a_name_has_no_superfluous_spaces() -> None:
    assert reviewer_name("  Ada \n Brown ") == "Ada Brown"
