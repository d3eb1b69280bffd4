"""docs/python-api.md documents every exported name with all its fields."""

import dataclasses
import re
from enum import Enum

import pytest
from pydantic import BaseModel

import salvo
from tests.docs.documents import ROOT

NAMES = sorted(set(salvo.__all__) - {"__version__"})


def section(name: str) -> str:
    page = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
    match = re.search(rf"^### `{name}`\n(.*?)(?=^##)", page + "\n##", re.MULTILINE | re.DOTALL)
    assert match, f"{name} has no section"
    return match[1]


def fields(name: str) -> set[str]:
    exported = getattr(salvo, name)
    if isinstance(exported, type) and issubclass(exported, Enum):
        return {str(member.value) for member in exported}
    if isinstance(exported, type) and issubclass(exported, BaseModel):
        return set(exported.model_fields)
    if dataclasses.is_dataclass(exported):
        return {field.name for field in dataclasses.fields(exported)}
    return set(getattr(exported, "_fields", ()))


@pytest.mark.parametrize("name", NAMES)
def test_every_exported_name_is_documented_with_its_fields(name: str) -> None:
    documented = set(re.findall(r"`(\w+)", section(name)))
    assert fields(name) - documented == set()


def test_every_section_is_an_exported_name() -> None:
    page = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### `(\w+)`", page, re.MULTILINE)) == set(NAMES)
