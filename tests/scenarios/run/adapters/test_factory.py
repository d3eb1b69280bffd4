"""The adapter that a scenario names."""

from pathlib import Path

import pytest

from salvo.errors import InputError
from salvo.scenarios.run.adapters.command import CommandAdapter
from salvo.scenarios.run.adapters.factory import FunctionAdapter, find_adapter
from salvo.scenarios.run.adapters.tool_loop import ProviderAdapter
from salvo.scenarios.spec.project import Project
from tests.support.evaluation import scenario


class OwnAdapter(ProviderAdapter):
    def __init__(self) -> None:
        super().__init__("openai")


@pytest.mark.parametrize(
    "name, kind",
    [
        ("openai", ProviderAdapter),
        ("command", CommandAdapter),
        ("function:mine.answer", FunctionAdapter),
        ("mine:OwnAdapter", OwnAdapter),
    ],
)
def test_an_adapter_is_found_by_its_name_or_path(name: str, kind: type, tmp_path: Path) -> None:
    project = Project(tmp_path, tmp_path, {"mine.answer": lambda: 42, "mine:OwnAdapter": OwnAdapter})
    assert isinstance(find_adapter(scenario(adapter=name), tmp_path / "s.yaml", project).make(), kind)


@pytest.mark.parametrize(
    "name, message",
    [
        ("mine:OwnAdapter", "mine:OwnAdapter is not a class derived from salvo.BaseAdapter"),
        ("function:mine.answer", "function:mine.answer is not callable"),
    ],
)
def test_what_cannot_be_an_adapter_is_an_error(name: str, message: str, tmp_path: Path) -> None:
    project = Project(tmp_path, tmp_path, {"mine.answer": 42, "mine:OwnAdapter": OwnAdapter.run})
    with pytest.raises(InputError) as caught:
        find_adapter(scenario(adapter=name), tmp_path / "s.yaml", project)
    assert str(caught.value) == message
