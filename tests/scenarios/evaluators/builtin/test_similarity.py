"""similarity: how near a text is to an expected one, and texts that are too long to compare."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.scenarios.evaluators.builtin import similarity
from salvo.scenarios.result import Cause
from tests.support.evaluation import evaluate, findings, run

HELLO = {"type": "similarity", "expected": "Your refund is on its way."}


async def test_a_text_that_is_near_enough_passes() -> None:
    near = await evaluate(HELLO, run("Your refund is on the way."))
    assert (near.passed, near.score) == (True, 1.0)
    assert near.message == "similarity 0.923"  # 1 - 4 / 52: two characters are deleted and two inserted
    far = await evaluate(HELLO, run("I cannot help."))
    assert far.passed is False
    assert far.score is not None
    assert 0 < far.score < 1
    assert far.message.endswith(', less than 0.8; the final output is "I cannot help."')


@pytest.mark.parametrize(
    "fields, output, passed",
    [
        ({"expected": ["no", "yes"]}, "yes", True),
        ({"expected": "b a", "method": "words", "min_similarity": 1}, "a  b", True),
        ({"expected": "b a", "min_similarity": 1}, "a b", False),
        ({"expected": "YES", "ignore_case": True, "min_similarity": 1}, "yes", True),
        ({"expected": "YES"}, "yes", False),
        ({"expected": "x", "path": "final_output.answer"}, {"answer": "x"}, True),
        ({"expected": "x", "path": "final_output.answer"}, {"answer": 1}, False),
        ({"expected": "x", "path": "final_output.gone"}, {"answer": 1}, False),
        ({"expected": ""}, "", True),
        ({"expected": ""}, "x", False),
        ({"expected": '{"a":1}', "min_similarity": 1}, {"a": 1}, True),  # the output as text
    ],
)
async def test_what_is_compared(fields: dict[str, Any], output: Any, passed: bool) -> None:
    assert (await evaluate({"type": "similarity", **fields}, run(output))).passed is passed


@given(one=st.text(max_size=20), other=st.text(max_size=20))
async def test_the_similarity_is_that_of_the_documented_formula(one: str, other: str) -> None:
    verdict = await evaluate({"type": "similarity", "expected": other, "min_similarity": 0.5}, run(one))
    first, second = one.strip(), other.strip()
    common = _longest_common_subsequence(first, second)
    expected = 2 * common / (len(first) + len(second)) if first and second else float(first == second)
    assert verdict.details["similarity"] == pytest.approx(expected)


def _longest_common_subsequence(one: str, other: str) -> int:
    row = [0] * (len(other) + 1)
    for a in one:
        previous = row
        row = [0]
        for index, b in enumerate(other):
            row.append(previous[index] + 1 if a == b else max(previous[index + 1], row[-1]))
    return row[-1]


async def test_texts_that_are_too_long_are_judged_by_their_lengths_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(similarity, "MAX_PAIRS", 100)
    short = await evaluate({"type": "similarity", "expected": "x" * 20}, run("x" * 1000))
    assert short.passed is False
    assert short.message.startswith("similarity at most 0.0392, less than 0.8")
    unknown = await evaluate({"type": "similarity", "expected": "x" * 20}, run("x" * 20))
    assert (unknown.passed, unknown.cause) == (None, Cause.EVALUATOR)
    assert "too long to compare: 20 and 20 characters" in unknown.message


def test_without_the_package_the_file_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "find_spec", lambda _: None)
    [(path, message)] = findings(HELLO)
    assert path == ("assertions", 0, "type")
    assert "pip install '.[similarity]'" in message


def test_a_path_is_checked_before_a_run() -> None:
    assert [path for path, _ in findings({**HELLO, "path": "final_output["})] == [("assertions", 0, "path")]
