"""What a JMESPath assertion holds for, what it says when it does not, and what is refused before any call."""

from typing import Any

import jmespath
import pytest

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime import safe_regex
from salvo.scenarios.result import Cause, ToolCall
from tests.support.evaluation import evaluate, findings, run

OUTPUT = {
    "id": "ABCDEF",
    "price": 120,
    "exact": 9.5,
    "paid": True,
    "date": "2026-03-15",
    "tags": ["cheap", 1, {"a": 1}],
    "nothing": None,
    "note": "Refunded in full",
    "seat": {"row": 12},
}


async def holds(path: str, operator: str, *value: Any) -> bool:
    given = {"value": value[0]} if value else {}
    found = await evaluate(
        {"type": "jmespath", "path": f"final_output.{path}", "operator": operator, **given}, run(OUTPUT)
    )
    assert found.error is None
    assert found.passed is not None
    assert found.score == float(found.passed)
    return found.passed


async def message(operator: str, value: Any, output: Any) -> str:
    asked = {"type": "jmespath", "path": "final_output.x", "operator": operator, "value": value}
    found = await evaluate(asked, run({"x": output}))
    assert found.passed is False
    return found.message


@pytest.mark.parametrize(
    "path, operator, value",
    [
        ("id", "eq", "ABCDEF"),
        ("exact", "eq", 9.5),
        ("price", "eq", 120.0),
        ("tags", "eq", ["cheap", 1, {"a": 1.0}]),
        ("seat", "eq", {"row": 12}),
        ("paid", "eq", True),
        ("price", "ne", 121),
        ("price", "gt", 119.99),
        ("price", "gte", 120),
        ("price", "lt", 121),
        ("price", "lte", 120),
        ("date", "lt", "2026-03-16"),
        ("note", "contains", "full"),
        ("tags", "contains", "cheap"),
        ("tags", "contains", {"a": 1}),
        ("seat", "contains", "row"),
        ("id", "regex", "^[A-Z]{6}$"),
        ("note", "regex", "(?i)REFUND"),
        ("price", "exists", True),
        ("absent", "exists", False),
    ],
)
async def test_an_operator_holds_for_values_of_its_kind(path: str, operator: str, value: Any) -> None:
    assert await holds(path, operator, value)


@pytest.mark.parametrize(
    "path, operator, value",
    [
        ("price", "eq", "120"),
        ("paid", "eq", 1),
        ("paid", "eq", "true"),
        ("tags", "eq", ["cheap", True, {"a": 1}]),
        ("price", "gt", "100"),
        ("date", "gt", 2025),
        ("paid", "gte", 0),
        ("tags", "lt", 5),
        ("tags", "contains", True),
        ("tags", "contains", "che"),
        ("seat", "contains", 12),
        ("price", "contains", "1"),
        ("note", "contains", "FULL"),
        ("price", "regex", "120"),
        ("tags", "regex", "cheap"),
        ("id", "regex", "^[a-z]+$"),
    ],
)
async def test_nothing_is_coerced_to_make_an_operator_hold(path: str, operator: str, value: Any) -> None:
    assert not await holds(path, operator, value)


async def test_exists_needs_no_value() -> None:
    assert await holds("price", "exists")
    assert not await holds("absent", "exists")
    assert not await holds("price", "exists", False)


@pytest.mark.parametrize("path", ["absent", "absent.deeper", "nothing", "tags[9]", "seat.row.x"])
async def test_a_missing_path_is_null_and_only_what_holds_for_null_holds_for_it(path: str) -> None:
    assert await holds(path, "ne", "x")
    assert await holds(path, "eq", None)
    assert not await holds(path, "ne", None)
    assert not await holds(path, "eq", "x")
    for operator, value in [("gt", 0), ("gte", 0), ("lt", 0), ("lte", 0), ("contains", "x"), ("regex", "")]:
        assert not await holds(path, operator, value)


@pytest.mark.parametrize("operator, value", [("eq", 5), ("ne", None), ("lte", 5), ("regex", "x"), ("contains", "x")])
async def test_a_failure_says_whether_the_path_is_missing_or_null(operator: str, value: Any) -> None:
    assert (await message(operator, value, None)).endswith(", got null")
    for path in (
        "final_output.y",
        "final_output.y.z",
        "final_output.x.z",
        "final_output.list[3]",
        "tool_calls[0].name",
    ):
        fields = {"type": "jmespath", "path": path, "operator": operator, "value": value}
        failed = await evaluate(fields, run({"x": None, "list": [1]}))
        assert failed.message.startswith(f"expected {path} ")
        assert failed.message.endswith(", but the path is missing")


@pytest.mark.parametrize("path", ["final_output.list[?@ > `9`] | [0]", "final_output.(x || y)", "max(`[]`)"])
async def test_an_expression_that_gives_null_is_not_called_missing(path: str) -> None:
    fields = {"type": "jmespath", "path": path.replace(".(", " | ("), "operator": "exists"}
    assert (await evaluate(fields, run({"x": None, "list": [1]}))).message.endswith("to exist, got null")


@pytest.mark.parametrize("empty", ["", " \n", [], {}, None])
async def test_only_not_empty_fails_for_what_is_empty(empty: Any) -> None:
    assert (await message("not_empty", None, empty)).startswith("expected final_output.x not to be empty, got ")
    if empty is not None:
        exists = {"type": "jmespath", "path": "final_output.x", "operator": "exists"}
        assert (await evaluate(exists, run({"x": empty}))).passed


@pytest.mark.parametrize("value", ["a", 0, False, [None], {"a": None}])
async def test_what_is_not_empty_is_not_empty(value: Any) -> None:
    fields = {"type": "jmespath", "path": "final_output.x", "operator": "not_empty"}
    assert (await evaluate(fields, run({"x": value}))).passed


async def test_a_very_long_value_is_not_stored_again() -> None:
    fields = {"type": "jmespath", "path": "final_output", "operator": "contains", "value": "y"}
    found = await evaluate(fields, run("y" * 50_000))
    assert (found.passed, found.actual) == (True, "y" * 10_000 + "… (50,000 characters)")
    found = await evaluate(fields, run(["y"] * 50_000))
    assert (found.passed, len(found.actual) < 11_000) == (True, True)


@pytest.mark.parametrize(
    "operator, value, output, said",
    [
        ("lte", 100, 120, "expected final_output.x to be at most 100, got 120"),
        ("eq", 5, "5", 'expected final_output.x to be 5, got "5"'),
        ("ne", True, True, "expected final_output.x not to be true, got true"),
        (
            "gt",
            5,
            "9",
            'expected final_output.x to be more than 5, got "9", a string, which has no order with a number',
        ),
        ("gte", 5, 4, "expected final_output.x to be at least 5, got 4"),
        ("lt", 5, 5, "expected final_output.x to be less than 5, got 5"),
        ("contains", "a", 7, 'expected final_output.x to contain "a", got 7, a number, which contains nothing'),
        ("regex", "^a", 7, 'expected final_output.x to match "^a", got 7, a number; only text is matched'),
        ("exists", False, 7, "expected final_output.x not to exist, got 7"),
        ("exists", True, None, "expected final_output.x to exist, got null"),
    ],
)
async def test_a_failure_says_what_was_expected_and_what_was_there(
    operator: str, value: Any, output: Any, said: str
) -> None:
    assert await message(operator, value, output) == said


async def test_a_long_value_is_cut_in_the_message_and_whole_in_the_fields() -> None:
    long = "y" * 10_000
    found = await evaluate(
        {"type": "jmespath", "path": "final_output", "operator": "eq", "value": "x" * 5_000}, run(long)
    )
    assert len(found.message) < 600
    assert "(10,002 characters)" in found.message
    assert (found.expected, found.actual) == ("x" * 5_000, long)


async def test_the_root_is_the_whole_run() -> None:
    result = run("done", ToolCall("search", {"to": "JFK"}), ToolCall("book", {}))
    for path, value in [
        ("tool_calls[0].arguments.to", "JFK"),
        ("length(tool_calls)", 2),
        ("tool_calls[?name=='book'] | [0].error", None),
        ("metrics.cost", 0.01),
        ("join(' ', tool_calls[].name)", "search book"),
    ]:
        found = await evaluate({"type": "jmespath", "path": path, "operator": "eq", "value": value}, result)
        assert found.passed, found.message


@pytest.mark.parametrize(
    "path",
    [
        "final_output.price",
        "*.price",
        "@.final_output",
        "keys(@)",
        "values(@)[?type(@) == 'object'].price",
        "[final_output.id, metrics.tool_count, nowhere]",
        "{id: final_output.id, all: @}",
        "nowhere || final_output.id",
        "nowhere || @.final_output.id",
        "not_null(nowhere, tool_calls[0].name)",
        "tool_calls[?arguments.a == `1`].name | [0]",
        "sort_by(tool_calls, &name)[-1].name",
        "tool_calls[].arguments.a",
        "tool_calls[:1].name",
        "map(&name, tool_calls)",
        "!final_output && metrics",
        "length(tool_calls) > `1` && outcome == 'failed'",
        "'a word'",
        "[0]",
    ],
)
async def test_a_path_finds_what_it_would_find_in_the_whole_run(path: str) -> None:
    result = run(OUTPUT, ToolCall("look", {"a": 1}), ToolCall("book", {"a": 2}, result="x"))
    found = await evaluate({"type": "jmespath", "path": path, "operator": "exists"}, result)
    assert found.actual == jmespath.search(path, json_codec.plain(result))


async def test_a_function_that_cannot_take_what_the_agent_put_out_finds_nothing_and_says_why() -> None:
    asked = {"type": "jmespath", "path": "length(final_output.items)", "operator": "gte", "value": 1}
    found = await evaluate(asked, run({}))
    assert found.passed is False
    assert "but it has no value (In function length(), invalid type for value: None" in found.message


async def test_text_with_lone_surrogates_can_be_asserted_on() -> None:
    asked = {"type": "jmespath", "path": "final_output", "operator": "regex", "value": "^ok"}
    assert (await evaluate(asked, run("ok \ud800"))).passed


@pytest.mark.parametrize(
    "pattern, text",
    [("(a+)+$", "a" * 60 + "!"), ("(a|a)*b", "a" * 60), ("(.*,){25}P", ",x" * 60)],
)
async def test_a_match_that_would_never_end_is_ended_and_leaves_the_assertion_unjudged(
    pattern: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_regex, "TIMEOUT", 0.5)
    found = await evaluate(
        {"type": "jmespath", "path": "final_output", "operator": "regex", "value": pattern}, run(text)
    )
    assert (found.passed, found.cause) == (None, Cause.EVALUATOR)
    assert "did not finish on a text" in found.message


async def test_a_pattern_that_only_looks_dangerous_is_matched_in_a_process_of_its_own() -> None:
    for text, expected in [("www.example.com", True), ("x" * 40, False), ("\ud800.com", False)]:
        asked = {"type": "jmespath", "path": "final_output", "operator": "regex", "value": r"^(?:[a-z0-9]+\.)+com$"}
        assert (await evaluate(asked, run(text))).passed is expected


@pytest.mark.parametrize(
    "fields, place, said",
    [
        (
            {"path": "final_output["},
            "path",
            '"final_output[" is not a JMESPath expression: Incomplete expression.',
        ),
        ({"path": "final_ouput.id"}, "path", 'A run has no "final_ouput"; did you mean "final_output"?'),
        ({"path": "lenght(tool_calls)"}, "path", 'JMESPath has no function "lenght"; did you mean "length"?'),
        ({"path": "{a: metrics.cost, b: tols}"}, "path", 'A run has no "tols"'),
        (
            {"operator": "equals"},
            "operator",
            'must be one of eq, ne, gt, gte, lt, lte, contains, regex, exists, not_empty; did you mean "eq"?',
        ),
        ({"operator": "regex", "value": "("}, "value", '"(" is not a regular expression: missing )'),
        ({"operator": "regex", "value": 5}, "value", "A regular expression is a string, not a number."),
        ({"operator": "gt", "value": [1]}, "value", "gt orders numbers or strings; value is a list."),
        ({"operator": "gt", "value": True}, "value", "gt orders numbers or strings; value is a boolean."),
        ({"operator": "not_empty", "value": 1}, "value", "not_empty takes no value."),
        ({"operator": "exists", "value": "yes"}, "value", 'With exists, value is true or false, not "yes".'),
        ({"path": ""}, "path", "must not be empty"),
    ],
)
def test_what_can_never_hold_is_refused_before_any_call(fields: dict[str, Any], place: str, said: str) -> None:
    good = {"type": "jmespath", "path": "final_output", "operator": "eq", "value": 1}
    [(path, sentence)] = findings(good | fields)
    assert path == ("assertions", 0, place)
    assert sentence.startswith(said)


def test_a_date_without_quotes_is_refused_because_no_json_value_equals_it() -> None:
    from datetime import date

    [(path, sentence)] = findings(
        {"type": "jmespath", "path": "final_output", "operator": "eq", "value": {"on": [date(2026, 3, 15)]}}
    )
    assert path == ("assertions", 0, "value")
    assert sentence == "value holds a date, which no JSON value equals. Put it in quotes."


def test_an_operator_without_its_value_is_refused_and_null_must_be_written() -> None:
    [(path, sentence)] = findings({"type": "jmespath", "path": "final_output", "operator": "eq"})
    assert path == ("assertions", 0, "operator")
    assert sentence == "eq needs a value. To compare with null, write value: null."
    assert findings({"type": "jmespath", "path": "final_output", "operator": "eq", "value": None}) == []


def test_a_path_that_doubles_the_run_at_each_step_is_refused() -> None:
    doubled = "final_output | " + "[@, @] | " * 13
    assert findings({"type": "jmespath", "path": f"{doubled}@", "operator": "exists"}) == []
    refused = findings({"type": "jmespath", "path": f"{doubled}[@, @] | length(to_string(@))", "operator": "exists"})
    assert "would repeat parts of the run more than 10,000 times" in str(refused)


@pytest.mark.parametrize(
    "path",
    [
        "@",
        "tool_calls[?name=='a' && arguments.b].result",
        "max_by(tool_calls, &seconds).name",
        "`5`",
        "trace[*].data | [0]",
        "metrics.*",
        "!error",
        "[final_output, error || cause]",
    ],
)
def test_a_path_that_starts_from_the_run_is_accepted(path: str) -> None:
    assert findings({"type": "jmespath", "path": path, "operator": "exists"}) == []
