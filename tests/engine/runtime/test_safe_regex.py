"""Patterns of strangers on text of strangers: where they occur, and that nothing ever waits for one that never ends."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.runtime import safe_regex
from salvo.engine.runtime.safe_regex import Occurrences, occurrences, pattern_error, search
from salvo.engine.sandbox import workers
from salvo.errors import InputError

HOSTILE = [("(a+)+$", "a" * 60 + "!"), ("(a|a)*b", "a" * 60), ("(.*,){25}P", ",x" * 60)]
LARGE = "Nothing is said here. " * 230_000  # 5 MB


@pytest.mark.parametrize(
    "pattern", ["^[A-Z]{6}$", r"refund(ed)?", r"\d{4}-\d{2}-\d{2}", "^ok", r"(yes|no|maybe)\b", "(?i)total: .*€"]
)
def test_a_pattern_that_people_write_is_matched_without_a_process(pattern: str) -> None:
    assert safe_regex.steps(pattern, 1_000) <= safe_regex.MAX_STEPS


@pytest.mark.parametrize(
    "pattern", ["(a+)+", "(a|b)*c", "(?:(?:a?){9}){9}", r"(a*)\1*b", "(?>a+)+", ".*.*.*x", "(x)(?(1)a|b)"]
)
def test_a_pattern_whose_steps_cannot_be_bounded_is_never_matched_here(pattern: str) -> None:
    assert safe_regex.steps(pattern, 10_000) > safe_regex.MAX_STEPS


@pytest.mark.parametrize(
    "pattern, length",
    [
        ("(?:a?){4000000000}", 0),  # as often as it must be, though the text is empty
        ("(?:(?:a?){65535}){65535}", 2),
        ("(?:|x){400000000}?", 2),
        ("(?:(?=)){400000000}", 0),
        ("[ab]" * 200 + "c", 4_000_000),  # two hundred steps at each place
        ("x*" + "[ab]" * 200 + "c", 2_000),
    ],
)
def test_parts_that_match_nothing_and_long_sequences_count(pattern: str, length: int) -> None:
    assert safe_regex.steps(pattern, length) > safe_regex.MAX_STEPS


def test_a_python_whose_patterns_cannot_be_read_matches_every_one_in_a_process_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "re._parser", None)
    safe_regex._tree.cache_clear()
    safe_regex._is_cheap.cache_clear()
    assert safe_regex.steps("^[A-Z]+$", 3) > safe_regex.MAX_STEPS
    assert search("^[A-Z]+$", "ABC")
    assert not search("^[A-Z]+$", "abc")
    assert occurrences(["b"], "abcb", most=9) == [Occurrences([(1, 2), (3, 4)])]
    safe_regex._tree.cache_clear()
    safe_regex._is_cheap.cache_clear()


@pytest.mark.parametrize("pattern, text", HOSTILE)
def test_a_match_that_would_never_end_is_ended_and_says_so(
    pattern: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_regex, "TIMEOUT", 0.5)
    with pytest.raises(InputError, match=r"did not finish on a text of \d+ characters after 0.5 seconds"):
        search(pattern, text)
    [result] = occurrences([pattern], text, most=9)
    assert (result.spans, result.more) == ((), False)
    assert "did not finish on a text of" in result.problem


def test_one_pattern_that_never_ends_takes_nothing_from_those_that_surely_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_regex, "TIMEOUT", 1.5)
    text = "a" * 60 + "! www.eu.example.com"
    bounded = r"(?:[a-z0-9]+\.){3}com"
    assert safe_regex.MAX_STEPS < safe_regex.steps(bounded, len(text)) < safe_regex.steps("(a+)+$", len(text))
    never, here, apart, waiting = occurrences(["(a+)+$", "example", bounded, "(a+)+b"], text, most=9)
    assert here == Occurrences([(69, 76)])
    assert apart == Occurrences([(62, 80)])
    assert never.problem == (
        'The regular expression "(a+)+$" did not finish on a text of 80 characters after 1.5 seconds.'
    )
    assert waiting.problem == (
        'The regular expression "(a+)+b" was not tried, '
        'because "(a+)+$" did not finish on a text of 80 characters after 1.5 seconds.'
    )


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pattern is matched in a process of its own."""
    monkeypatch.setattr(safe_regex, "MAX_STEPS", 0)


@pytest.fixture(params=["here", "apart"])
def here_and_apart(request: pytest.FixtureRequest) -> None:
    if request.param == "apart":
        request.getfixturevalue("apart")


@pytest.mark.usefixtures("apart")
def test_a_process_that_dies_leaves_a_problem_and_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_workers", workers._WorkerPool())
    monkeypatch.setattr(workers, "_START", "raise SystemExit(3)")
    [result] = occurrences(["(a+)+"], "aaa", most=9)
    assert result.problem == (
        'The regular expression "(a+)+" did not finish on a text of 3 characters: its process ended with code 3.'
    )


@pytest.mark.usefixtures("apart")
def test_a_machine_without_room_for_a_process_leaves_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_workers", workers._WorkerPool())
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    [result] = occurrences(["(a+)+"], "aaa", most=9)
    assert "no process could be started (No such file or directory)" in result.problem


def test_five_megabytes_are_searched() -> None:
    text = LARGE + "It is legal."
    plain, word, absent = occurrences(["legal", r"\blegal\b", "guarantee"], text, most=9)
    assert plain == word == Occurrences([(len(LARGE) + 6, len(LARGE) + 11)])
    assert absent == Occurrences([])


@pytest.mark.usefixtures("here_and_apart")
def test_so_many_places_are_kept_and_that_there_are_more_is_said() -> None:
    assert occurrences(["a"], "aaa", most=3) == [Occurrences([(0, 1), (1, 2), (2, 3)])]
    assert occurrences(["a"], "aaaa", most=3) == [Occurrences([(0, 1), (1, 2), (2, 3)], more=True)]


@pytest.mark.usefixtures("here_and_apart")
def test_a_match_of_nothing_is_no_occurrence() -> None:
    assert occurrences(["x*"], "axxb", most=9) == [Occurrences([(1, 3)])]
    assert search("x*", "")


@pytest.mark.usefixtures("here_and_apart")
def test_flags_hold() -> None:
    assert occurrences(["legal"], "LEGAL", most=9, flags=re.IGNORECASE) == [Occurrences([(0, 5)])]
    assert occurrences(["legal"], "LEGAL", most=9) == [Occurrences([])]


@pytest.mark.usefixtures("here_and_apart")
def test_lone_surrogates_and_nul_are_matched_like_any_character() -> None:
    assert occurrences(["\ud800", "\x00."], "a\ud800\x00b", most=9) == [Occurrences([(1, 2)]), Occurrences([(2, 4)])]


@pytest.mark.usefixtures("here_and_apart")
def test_the_same_pattern_twice_is_found_twice() -> None:
    assert occurrences(["b", "a", "b"], "ab", most=9) == [
        Occurrences([(1, 2)]),
        Occurrences([(0, 1)]),
        Occurrences([(1, 2)]),
    ]


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?P<a>x)(?P<a>y)", "a{99999999999}", "(" * 5_000 + ")" * 5_000])
def test_what_is_no_regular_expression_is_named(pattern: str) -> None:
    assert "is not a regular expression" in pattern_error(pattern)
    assert len(pattern_error(pattern)) < 400


def test_what_python_only_finds_odd_is_a_pattern_all_the_same() -> None:
    assert pattern_error("[[a]") == ""
    assert search("[[a]", "a")


@given(st.text("ab\n", max_size=30), st.sampled_from(["a", "a+b", "^b", "(?:a|b)b", "(?m)b$"]))
def test_the_places_are_those_that_python_finds(text: str, pattern: str) -> None:
    assert list(occurrences([pattern], text, most=99)[0].spans) == [m.span() for m in re.finditer(pattern, text)]


HOSTILE_TO_COMPILE = "(?i)" + "[\x00-\U0010ffff]" * 399


def test_a_pattern_that_takes_long_to_compile_is_not_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_regex, "TIMEOUT", 1.0)
    assert "is not accepted: compiling it did not finish after 1 seconds." in pattern_error(HOSTILE_TO_COMPILE)
    with pytest.raises(InputError, match="did not finish"):
        search(HOSTILE_TO_COMPILE, "a")


@pytest.mark.parametrize(
    "pattern",
    [
        HOSTILE_TO_COMPILE,
        "(?:(?i:" + "[\x00-\U0010ffff]" * 3 + "))",
        "(?s)(a|(?=" + "[\u0100-\U0010ffff]x" * 9 + "))",
        "(x)(?(1)" + "[\u0100-\ufff0y]" * 9 + "|b)",
        "(?>" + "[\u0100-\ufff0y]" * 9 + ")",
        "a" * (safe_regex.MAX_LENGTH + 1),
    ],
)
def test_what_is_not_surely_quick_to_compile_is_never_compiled_here(pattern: str) -> None:
    assert not safe_regex._is_cheap(pattern, 0)
    assert safe_regex.steps(pattern, 1) > safe_regex.MAX_STEPS


@pytest.mark.parametrize("pattern", ["a" * 1_500, "[\u0100-\ufff0y]" * 9, "(?i)[\x00-\U0010ffff]"])
def test_a_worker_accepts_what_python_accepts(pattern: str) -> None:
    assert not safe_regex._is_cheap(pattern, 0)
    assert pattern_error(pattern) == pattern_error(pattern) == ""


def test_a_worker_says_of_what_is_no_pattern_what_python_says() -> None:
    pattern = "(" + "a" * 1_500
    with pytest.raises(re.error) as raised:
        re.compile(pattern)
    assert pattern_error(pattern).endswith(f" is not a regular expression: {raised.value}.")


def test_many_patterns_share_a_limited_time() -> None:
    with workers.time_budget(0.0):
        assert pattern_error("abc") == '"abc" was not checked: the patterns before it took too long.'
