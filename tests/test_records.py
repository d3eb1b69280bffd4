"""Classes that only hold values."""

from __future__ import annotations

from dataclasses import asdict, field, replace

from salvo.records import record


@record
class Point:
    x: int
    y: int = 0
    secret: str = field(default="", repr=False)
    note: str = field(default="", compare=False)


@record
class Labelled(Point):
    label: str = ""


@record
class Spoken:
    word: str

    def __repr__(self) -> str:
        return f"«{self.word}»"


def test_records_are_equal_if_their_class_and_all_compared_fields_are() -> None:
    assert Point(1, 2) == Point(1, 2, note="other")
    assert Point(1, 2) != Point(1, 3)
    assert Point(1, 2) != Labelled(1, 2)
    values: object = (1, 2, "")
    assert Point(1, 2) != values
    assert Labelled(1, label="a") != Labelled(1, label="b")


def test_equal_records_are_one_key() -> None:
    assert {Point(1, 2): "first", Point(1, 2, note="other"): "second"} == {Point(1, 2): "second"}


def test_a_representation_names_every_field_but_those_that_must_not_be_shown() -> None:
    assert repr(Point(1, secret="hidden")) == "Point(x=1, y=0, note='')"
    assert repr(Labelled(1, label="a")) == "Labelled(x=1, y=0, note='', label='a')"


def test_a_record_keeps_the_methods_that_it_defines() -> None:
    assert repr(Spoken("aye")) == "«aye»"


def test_records_are_dataclasses_with_slots() -> None:
    assert replace(Point(1, 2), y=3) == Point(1, 3)
    assert asdict(Point(1, 2)) == {"x": 1, "y": 2, "secret": "", "note": ""}
    assert not hasattr(Point(1, 2), "__dict__")
