"""text: what the final output contains, how it begins, how long it is and how near it is to an expected text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.scenarios.evaluators.builtin.text import edit_distance
from tests.support.evaluation import evaluate, findings, run

ANSWER = 'You get a Refund of 49.90 for {"kettle": 1}.'


@pytest.mark.parametrize(
    "fields, passed",
    [
        ({"contains_all": ["Refund", "49.90"]}, True),
        ({"contains_all": ["Refund", "toaster"]}, False),
        ({"contains_all": ["refund"]}, False),
        ({"contains_all": ["refund"], "ignore_case": True}, True),
        ({"contains_any": ["toaster", "49"]}, True),
        ({"contains_any": ["toaster", "mug"]}, False),
        ({"starts_with": "You"}, True),
        ({"starts_with": "you"}, False),
        ({"starts_with": "you", "ignore_case": True}, True),
        ({"words": {"min": 9, "max": 9}}, True),
        ({"words": {"min": 10}}, False),
        ({"words": {"max": 8}}, False),
        ({"edit_distance": {"expected": 'You get a refund of 49.90 for {"kettle": 2}.', "max": 2}}, True),
        ({"edit_distance": {"expected": 'You get a refund of 49.90 for {"kettle": 2}.', "max": 1}}, False),
        ({"contains_json": True}, True),
        ({"contains_json": False}, False),
        ({"contains_json": {"required": ["kettle"]}}, True),
        ({"contains_json": {"required": ["toaster"]}}, False),
        ({"starts_with": "You", "words": {"min": 100}}, False),
    ],
)
async def test_all_checks_must_hold_and_negate_turns_the_verdict_round(fields: dict[str, Any], passed: bool) -> None:
    assert (await evaluate({"type": "text", **fields}, run(ANSWER))).passed is passed
    assert (await evaluate({"type": "text", **fields, "negate": True}, run(ANSWER))).passed is not passed


async def test_a_failure_says_which_check_and_shows_the_text() -> None:
    fields = {"type": "text", "contains_all": ["mug"], "words": {"max": 2}}
    assert (await evaluate(fields, run("three short words"))).message == snapshot(
        'the final output does not contain "mug"; the final output has 3 words; it is "three short words"'
    )
    negated = await evaluate({"type": "text", "starts_with": "three", "negate": True}, run("three"))
    assert negated.message == snapshot('all checks hold for "three", and they must not')


async def test_an_output_that_is_not_text_is_judged_as_its_json() -> None:
    assert (await evaluate({"type": "text", "contains_all": ['"amount":5']}, run({"amount": 5}))).passed is True


async def test_many_braces_do_not_make_it_slow() -> None:
    assert (await evaluate({"type": "text", "contains_json": True}, run('{"a":' * 100_000))).passed is False


def test_an_assertion_without_a_check_and_a_broken_schema_are_errors() -> None:
    assert "needs one of contains_all" in findings({"type": "text"})[0][1]
    [(path, _)] = findings({"type": "text", "contains_json": {"type": "no such type"}})
    assert path == ("assertions", 0, "contains_json")


@given(one=st.text("abc", max_size=12), other=st.text("abc", max_size=12), limit=st.integers(0, 14))
def test_the_distance_is_levenshteins_up_to_the_limit(one: str, other: str, limit: int) -> None:
    rows = list(range(len(other) + 1))
    for row, left in enumerate(one, start=1):
        previous, rows = rows, [row]
        for column, right in enumerate(other, start=1):
            rows.append(min(previous[column] + 1, rows[-1] + 1, previous[column - 1] + (left != right)))
    assert min(edit_distance(one, other, limit), limit + 1) == min(rows[-1], limit + 1)
