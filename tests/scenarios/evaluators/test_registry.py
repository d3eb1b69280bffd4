"""Types of assertions: how they are found, and what is reported about wrong assertions."""

import sys
from importlib.metadata import EntryPoints
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from inline_snapshot import snapshot

from salvo.engine.jsonio.pydantic_errors import FieldError
from salvo.errors import UsageError
from salvo.scenarios.evaluators.base import EvaluatorType
from salvo.scenarios.evaluators.registry import BUILT_IN, Registry, builtin_registry, is_metadata_stale
from salvo.scenarios.result import EvalResult
from tests.support.evaluation import FakeServices, evaluate, findings, run, scenario


def always(passed: bool) -> EvaluatorType:
    return EvaluatorType("always", lambda *_: EvalResult.judged(passed))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package on the path that offers evaluators, as pip would install it."""
    info = tmp_path / "their_evals-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-evals\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[salvo.evaluators]\nshouting = their_evals:shouting\nbroken = their_evals:absent\nodd = their_evals:odd\n"
    )
    (tmp_path / "their_evals.py").write_text(
        "def shouting(scenario, assertion, result):\n    return result.final_output.isupper()\nodd = 5\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_the_built_in_types_are_found_and_describe_every_field() -> None:
    types = {name: builtin_registry().find(name) for name in BUILT_IN}
    assert all(type_.name == name for name, type_ in types.items())
    for type_ in types.values():
        assert type_.fields is not None
        assert type_.fields.model_json_schema()["additionalProperties"] is False
        assert all(field.description for field in type_.fields.model_fields.values())


def test_the_schema_of_a_field_with_two_names_has_both() -> None:
    for name, field, alias in [("llm_judge", "votes", "k"), ("custom", "function", "path")]:
        shape = builtin_registry().find(name).fields
        assert shape is not None
        schema = shape.model_json_schema()
        assert schema["properties"][alias] == schema["properties"][field]
        assert field not in schema["required"]


def test_what_is_misspelt_is_checked_as_what_was_meant() -> None:
    assert [path[2:] for path, _ in findings({"type": "jmespath", "pathh": "final_output[", "operator": "exists"})] == [
        ("pathh",),
        ("pathh",),
    ]


def test_a_type_that_nobody_asks_for_is_not_imported() -> None:
    registry = Registry()
    registry.register("never", "no_such_module:TYPE")
    assert "never" in registry.names()
    with pytest.raises(UsageError, match=r'The assertion type "never" cannot be imported from no_such_module:TYPE'):
        registry.find("never")


def test_a_type_may_be_registered_as_itself_by_name_or_as_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("mine")
    module.TYPE = always(True)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mine", module)
    registry = Registry()
    registry.register("by_name", "mine:TYPE")
    registry.register("itself", always(False))
    registry.register("function", lambda *_: True)
    assert registry.find("by_name") is module.TYPE
    assert registry.find("itself").name == "always"
    assert registry.find("function").name == "function"
    assert list(registry.types()) == ["by_name", "function", "itself", "playbook"]


def test_a_name_is_given_once() -> None:
    with pytest.raises(UsageError, match='"jmespath" is already registered'):
        builtin_registry().register("jmespath", always(True))


def test_an_unknown_type_is_an_error_with_a_suggestion_and_the_list() -> None:
    with pytest.raises(UsageError) as caught:
        builtin_registry().find("jmspath")
    assert str(caught.value) == (
        'There is no assertion type "jmspath"; did you mean "jmespath"? '
        "Types: all_of, any_of, cost_limit, custom, jmespath, json_schema, latency_limit, llm_judge, mcp_server, must_not_call, not, playbook, similarity, text, tool_choice, tool_sequence."
    )


async def test_a_type_of_an_installed_package_is_found_by_its_entry_point(installed: Path) -> None:
    assert "shouting" in builtin_registry().names()
    assert "their_evals" not in sys.modules
    assert (await evaluate({"type": "shouting"}, run("HELLO"))).passed is True
    assert (await evaluate({"type": "shouting"}, run("hello"))).passed is False
    sys.modules.pop("their_evals")


def test_entry_points_are_not_looked_up_for_a_registered_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salvo.scenarios.evaluators.registry._entry_points", lambda: pytest.fail("looked up"))
    for name in BUILT_IN:
        assert builtin_registry().find(name).name == name


def test_the_playbook_assertion_is_found_by_its_entry_point() -> None:
    assert "playbook" not in BUILT_IN
    assert builtin_registry().find("playbook").name == "playbook"
    assert not is_metadata_stale()


@pytest.mark.parametrize("distribution", ["their-evals", "not-installed"])
def test_stale_metadata_is_an_error_that_says_what_to_do(
    installed: Path, monkeypatch: pytest.MonkeyPatch, distribution: str
) -> None:
    """As in an editable installation that is older than the entry points in pyproject.toml."""
    (installed / "their_evals-1.0.dist-info/entry_points.txt").unlink()
    monkeypatch.setattr("salvo.scenarios.evaluators.registry._DISTRIBUTION", distribution)
    monkeypatch.setattr("salvo.scenarios.evaluators.registry._entry_points", lambda: EntryPoints([]))
    with pytest.raises(UsageError) as caught:
        builtin_registry().find("playbook")
    assert str(caught.value) == snapshot(
        'There is no assertion type "playbook". Types: all_of, any_of, cost_limit, custom, jmespath, json_schema, latency_limit, llm_judge, mcp_server, must_not_call, not, similarity, text, tool_choice, tool_sequence. The installed metadata of Salvo is older than its code, so types such as playbook are missing. Install it again: in the folder of its source, run pip install . (or pip install --editable .).'
    )
    with pytest.raises(UsageError, match="The assertion types cannot be listed"):
        builtin_registry().types()


def test_an_installed_package_that_is_broken_says_so(installed: Path) -> None:
    with pytest.raises(UsageError, match="cannot be imported from their_evals:absent: AttributeError"):
        builtin_registry().find("broken")
    with pytest.raises(UsageError, match='The assertion type "odd" is registered as 5'):
        builtin_registry().find("odd")
    [(path, sentence)] = findings({"type": "broken"})
    assert path == ("assertions", 0, "type")
    assert "Fix the package that offers it" in sentence
    sys.modules.pop("their_evals")


def test_every_problem_of_every_assertion_is_found_at_once() -> None:
    found = findings(
        {"type": "jmespath", "path": "final_output", "opertor": "eq", "value": 1},
        {"type": "jmspath"},
        {"type": "cost_limit", "name": "cheap", "max_usd": 1},
        {"type": "latency_limit", "name": "cheap", "max_secs": 1, "wieght": 2},
        {"type": "jmespath", "path": "final_output[", "operator": "regex", "value": "(", "requird": True},
        {"type": "custom", "function": "my_evals.check"},
    )
    assert [(path[1:], sentence) for path, sentence in found] == snapshot(
        [
            ((0, "opertor"), 'no such field; did you mean "operator"?'),
            (
                (1, "type"),
                'There is no assertion type "jmspath"; did you mean "jmespath"? Types: all_of, any_of, cost_limit, custom, jmespath, json_schema, latency_limit, llm_judge, mcp_server, must_not_call, not, playbook, similarity, text, tool_choice, tool_sequence.',
            ),
            ((3, "name"), 'Assertion 3 is already called "cheap".'),
            ((3, "max_secs"), 'no such field; did you mean "max_seconds"?'),
            ((3, "wieght"), 'no such field; did you mean "weight"?'),
            ((4, "requird"), 'no such field; did you mean "required"?'),
            ((4, "path"), '"final_output[" is not a JMESPath expression: Incomplete expression.'),
            ((4, "value"), '"(" is not a regular expression: missing ), unterminated subpattern at position 0.'),
            ((5, "function"), "my_evals.check cannot be found."),
        ]
    )
    assert all(path[0] == "assertions" for path, _ in found)


def test_assertions_that_only_share_a_label_are_no_problem() -> None:
    twice = {"type": "jmespath", "path": "final_output.id", "operator": "exists"}
    assert findings(twice, twice) == []


def test_a_check_of_a_stranger_that_breaks_does_not_hide_what_others_found() -> None:
    def check(*_: Any) -> list[Any]:
        raise RuntimeError("oops")

    registry = builtin_registry()
    registry.register("theirs", EvaluatorType("theirs", always(True).evaluate, check=check))
    asked = scenario({"type": "theirs"}, {"type": "cost_limit"})
    assert list(registry.check(asked, FakeServices().load)) == [
        FieldError(("assertions", 0), "theirs cannot be checked: RuntimeError: oops"),
        FieldError(("assertions", 1, "max_usd"), "is missing"),
    ]
