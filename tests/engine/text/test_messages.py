"""How what somebody wrote is named in a sentence."""

from salvo.engine.text.messages import did_you_mean, excerpt, nearest


def test_a_value_is_shown_as_json_and_cut_where_it_is_long() -> None:
    assert excerpt({"a": [1, "é"]}) == '{"a":[1,"é"]}'
    assert excerpt("x" * 300) == f'"{"x" * 199}… (302 characters)'
    assert excerpt("abcdef", 3) == '"ab… (8 characters)'


def test_the_word_that_was_likely_meant_is_named() -> None:
    assert did_you_mean("hihg", ["high", "medium"]) == '; did you mean "high"?'
    assert did_you_mean("other", ["high", "medium"]) == "."


def test_nobody_means_a_word_by_a_page_of_text() -> None:
    assert nearest("medium" * 100_000, ["medium" * 99_999]) == ""
