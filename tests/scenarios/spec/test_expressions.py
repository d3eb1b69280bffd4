"""The expressions of -k and -m: what they mean, and what is not one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.errors import UsageError
from salvo.scenarios.spec.expressions import parse

WORDS = ("refund[late-x]", "gpt-5.4-mini", "late")


def matches(text: str, *names: str) -> bool:
    return parse(text, "-k")(names.__contains__)


@pytest.mark.parametrize(
    "text, names, expected",
    [
        ("a", "a", True),
        ("not a", "a", False),
        ("not not a", "a", True),
        ("a and b", "a", False),
        ("a or b", "b", True),
        ("a or b and c", "a", True),  # `and` binds closer
        ("(a or b) and c", "a", False),
        ("not a or b", "b", True),
        ("not (a or b)", "c", True),
        ("refund[late-gpt-5.4-mini-short]", "", False),
    ],
)
def test_operators_bind_as_in_pytest(text: str, names: str, expected: bool) -> None:
    assert matches(text, *names) is expected


def test_words_without_an_operator_are_one_name_and_quotes_keep_operators() -> None:
    assert matches("two words", "two words")
    assert matches("""'search and book' or "not" """, "search and book")
    assert matches('"not"', "not")


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "a word is missing at the end"),
        ("a and", "a word is missing at the end"),
        ("and a", "a word is missing before 'and'"),
        ("a or or b", "a word is missing before 'or'"),
        ("()", "a word is missing before ')'"),
        ("(a", "a parenthesis is not closed"),
        ("a)", "')' is not expected there"),
        ("a (b)", "'(' is not expected there"),
        ('"a', "a quote is not closed"),
        ("(" * 10_000, "it is nested deeper than 50 levels"),
    ],
)
def test_what_is_no_expression_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=r"^-k .* cannot be read") as error:
        parse(text, "-k")
    assert error.value.message.endswith(f"cannot be read: {reason}.")


_expressions = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(("and", "or")), inner).map(" ".join),
        inner.map("not {}".format),
        inner.map("({})".format),
    ),
    max_leaves=12,
)


@given(text=_expressions, held=st.sets(st.sampled_from(WORDS)))
def test_every_expression_means_what_it_means_in_python(text: str, held: set[str]) -> None:
    python = text
    for word in WORDS:
        python = python.replace(word, repr(word in held))
    assert parse(text, "-k")(held.__contains__) is eval(python)  # noqa: S307 - our own words, as the referee
