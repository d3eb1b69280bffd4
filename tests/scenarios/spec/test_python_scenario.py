"""Scenarios written in Python: functions and classes get names that stand for them."""

from typing import Any

import pytest

from salvo.errors import InputError
from salvo.scenarios.spec.python_scenario import python_scenario


class Agent: ...


def check(*_: Any) -> bool:
    return True


def search() -> None: ...


FIELDS: dict[str, Any] = {"scenario": "s", "adapter": "openai", "user_message": "Hello", "assertions": [check]}


def test_objects_are_known_by_their_paths_and_tools_by_their_names() -> None:
    scenario, objects = python_scenario(FIELDS | {"adapter": Agent, "tools": [search, "book"]})
    assert scenario.adapter == f"{__name__}.Agent"
    assert scenario.tools == ["search", "book"]
    [assertion] = scenario.assertions
    assert (assertion.type, assertion.name, assertion.fields) == ("custom", "check", {"function": f"{__name__}.check"})
    assert objects == {f"{__name__}.Agent": Agent, f"{__name__}.check": check, "search": search}


def test_a_function_as_adapter_and_in_a_mapping_of_an_assertion() -> None:
    scenario, _ = python_scenario(
        FIELDS | {"adapter": search, "assertions": [{"type": "custom", "function": check, "min_score": 0.5}]}
    )
    assert scenario.adapter == f"function:{__name__}.search"
    assert scenario.assertions[0].fields == {"function": f"{__name__}.check", "min_score": 0.5}


def test_two_objects_of_one_path_get_two_names() -> None:
    first, second = (lambda *_: True), (lambda *_: False)
    scenario, objects = python_scenario(FIELDS | {"assertions": [first, second, first]})
    paths = [assertion.fields["function"] for assertion in scenario.assertions]
    assert [objects[path] for path in paths] == [first, second, first]
    assert paths[1] == f"{paths[0]}-2"


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"tools": [search, lambda: 1, lambda: 2]}, "two of its tools are called <lambda>."),
        (
            {"tools": 3, "assertions": 4},
            "assertions: must be a list, not a number; tools: must be a list, not a number.",
        ),
        ({"modle": "x"}, 'modle: no such field; did you mean "model"?'),
    ],
)
def test_a_scenario_that_cannot_be_used_says_why(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        python_scenario(FIELDS | fields)
    assert str(caught.value) == f"The scenario cannot be used: {message}"
