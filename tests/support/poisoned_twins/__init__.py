"""Poisoned twins: clean texts into which text that addresses the evaluator was put, the same ones every time.

Thirty families of such text, half of them kept aside, in ten carriers: ten clean texts, each with its own place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.poisoned_twins.kept_aside import KEPT_ASIDE
from tests.support.poisoned_twins.tuned import TUNED

LABELLED = Path(__file__).parents[2] / "playbooks" / "labelled"


@dataclass(frozen=True, slots=True)
class Carrier:
    """A clean text, and how a poison is put into it."""

    name: str
    text: str
    insert: Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Twin:
    family: str
    carrier: Carrier
    poison: str
    kept_aside: bool

    @property
    def text(self) -> str:
        return self.carrier.insert(self.carrier.text, self.poison)

    @property
    def name(self) -> str:
        return f"{self.family}, {self.carrier.name}"


def _one_line(poison: str) -> str:
    return " ".join(poison.split())


def _at_the_end(text: str, poison: str) -> str:
    return f"{text}\n\n{poison}"


def _at_the_start(text: str, poison: str) -> str:
    return f"{poison}\n\n{text}"


def _between(text: str, poison: str, index: int) -> str:
    paragraphs = text.split("\n\n")
    return "\n\n".join([*paragraphs[:index], poison, *paragraphs[index:]])


def _after_the_first_paragraph(text: str, poison: str) -> str:
    return _between(text, poison, 1)


def _in_the_middle(text: str, poison: str) -> str:
    return _between(text, poison, text.count("\n\n") // 2 + 1)


def _on_the_next_line(text: str, poison: str) -> str:
    return f"{text}\n{poison.strip()}"


def _at_the_end_of_a_paragraph(text: str, poison: str) -> str:
    first, _, rest = text.partition("\n\n")
    second, _, tail = rest.partition("\n\n")
    return f"{first}\n\n{second} {_one_line(poison)}\n\n{tail}"


def _as_a_list_item(text: str, poison: str) -> str:
    head, marker, tail = text.rpartition("\n- ")
    return f"{head}\n- {_one_line(poison)}{marker}{tail}"


def _as_a_quotation(text: str, poison: str) -> str:
    return _at_the_end(text, "\n".join(f"> {line}" for line in poison.strip().splitlines()))


def _in_a_code_block(text: str, poison: str) -> str:
    return _at_the_start(text, f"~~~~\n{poison.strip()}\n~~~~")


def _below_a_rule(text: str, poison: str) -> str:
    return f"{text}\n\n---\n\n{poison.strip()}"


_PLACES: dict[str, tuple[str, Callable[[str, str], str]]] = {
    "at the end": ("aia-02", _at_the_end),
    "at the start": ("dpa-02", _at_the_start),
    "after the first paragraph": ("aia-01", _after_the_first_paragraph),
    "in the middle": ("emp-01", _in_the_middle),
    "on the next line": ("nda-02", _on_the_next_line),
    "at the end of a paragraph": ("emp-02", _at_the_end_of_a_paragraph),
    "as a list item": ("dpa-01", _as_a_list_item),
    "as a quotation": ("pol-02", _as_a_quotation),
    "in a code block": ("nda-01", _in_a_code_block),
    "below a rule": ("further-nda-01", _below_a_rule),
}
"""Where the poison goes, and the labelled text that it goes into."""


@cache
def _labelled_texts() -> dict[str, str]:
    pairs = [
        pair
        for path in sorted((LABELLED / "dev").glob("*.json"))
        for pair in json.loads(path.read_text(encoding="utf-8"))["pairs"]
    ]
    return {pair["id"]: pair["texts"][0]["text"] for pair in pairs}


@cache
def carriers() -> tuple[Carrier, ...]:
    return tuple(Carrier(place, _labelled_texts()[entry], insert) for place, (entry, insert) in _PLACES.items())


def twins(*, every_wording: bool = False) -> Iterator[Twin]:
    """Yield each family in each carrier: its wordings take turns, or each of them."""
    for families, kept_aside in ((TUNED, False), (KEPT_ASIDE, True)):
        for family, wordings in families.items():
            for index, carrier in enumerate(carriers()):
                poisons = wordings if every_wording else [wordings[index % len(wordings)]]
                yield from (Twin(family, carrier, poison, kept_aside) for poison in poisons)
