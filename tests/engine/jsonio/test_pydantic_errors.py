"""The errors of a model become messages that say what the field takes and never repeat the value."""

from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Gt, Le, Lt
from inline_snapshot import snapshot
from pydantic import BaseModel, ConfigDict, Field, field_validator

from salvo.engine.jsonio.pydantic_errors import JSON_WORDS, MAX_ERRORS, NOT_BLANK, FieldError, validate


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool: str


class Whole(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = ""
    count: int = 1
    share: Annotated[float, Ge(0), Le(1)] = 0
    inner: Annotated[float, Gt(0), Lt(1000)] = 1
    flag: bool = False
    choice: Literal["exact", "subset"] = "exact"
    number: Literal[1, 2] = 1
    names: list[str] = Field(default_factory=list, max_length=2)
    either: str | Part | None = None
    even: int = 0
    title: str = Field("x", pattern=NOT_BLANK, max_length=5)
    code: str = Field("A", pattern="^[A-Z]+$")

    @field_validator("even")
    @classmethod
    def _is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("Must be even")
        return value


@pytest.mark.parametrize(
    "data, told",
    [
        ({"text": 1}, snapshot([("text", "must be text, not a number; put it in quotes")])),
        ({"text": None}, snapshot([("text", "must be text, not nothing")])),
        ({"text": True}, snapshot([("text", "must be text, not true; put it in quotes")])),
        ({"text": ["secret"]}, snapshot([("text", "must be text, not a list")])),
        ({"count": "1"}, snapshot([("count", "must be a whole number, not text")])),
        ({"count": 1.5}, snapshot([("count", "must be a whole number, not a number with a decimal point")])),
        ({"share": -1}, snapshot([("share", "must be at least 0")])),
        ({"share": 2}, snapshot([("share", "must be at most 1")])),
        ({"inner": 0}, snapshot([("inner", "must be more than 0")])),
        ({"inner": 1000}, snapshot([("inner", "must be less than 1,000")])),
        ({"flag": "yes"}, snapshot([("flag", "must be true or false, not text")])),
        ({"choice": "subst"}, snapshot([("choice", 'must be one of exact, subset; did you mean "subset"?')])),
        ({"choice": 3}, snapshot([("choice", "must be one of exact, subset")])),
        ({"number": 3}, snapshot([("number", "must be one of 1 or 2")])),
        ({"names": "secret"}, snapshot([("names", "must be a list, not text")])),
        ({"names": ["a", 1]}, snapshot([("names.1", "must be text, not a number; put it in quotes")])),
        ({"names": ["a", "b", "c"]}, snapshot([("names", "must have at most 2 entries, not 3")])),
        (
            {"either": 3},
            snapshot([("either", "must be text, not a number; put it in quotes, or must be a mapping, not a number")]),
        ),
        (
            {"either": {"tol": "x"}},
            snapshot([("either.tol", 'no such field; did you mean "tool"?')]),
        ),
        ({"even": 3}, snapshot([("even", "must be even")])),
        ({"title": " "}, snapshot([("title", "must not be empty")])),
        ({"title": "secret"}, snapshot([("title", "must have at most 5 characters")])),
        ({"code": "secret"}, snapshot([("code", "must match ^[A-Z]+$")])),
        ({"cuont": 3}, snapshot([("cuont", 'no such field; did you mean "count"?')])),
        (
            {"cuont": 3, "count": "x"},
            snapshot(
                [("count", "must be a whole number, not text"), ("cuont", 'no such field; did you mean "count"?')]
            ),
        ),
        (
            {"elsewhere": 3},
            snapshot(
                [
                    (
                        "elsewhere",
                        "no such field; there are text, count, share, inner, flag, choice, number, names, either, even, title, code",
                    )
                ]
            ),
        ),
        ("secret", snapshot([("", "must be a mapping, not text")])),
    ],
)
def test_an_error_says_what_the_field_takes(data: Any, told: list[tuple[str, str]]) -> None:
    model, errors = validate(Whole, data)
    assert model is None
    assert [(".".join(map(str, error.path)), error.message) for error in errors] == told
    assert "secret" not in str(errors)


def test_what_fits_is_the_model() -> None:
    assert validate(Whole, {"share": 1, "either": {"tool": "x"}}) == (Whole(share=1.0, either=Part(tool="x")), [])


def test_a_misspelt_field_says_what_was_meant_unless_that_is_there_as_well() -> None:
    _, [misspelt] = validate(Whole, {"cuont": 3})
    assert misspelt == FieldError(("cuont",), 'no such field; did you mean "count"?', unknown=True, suggestion="count")
    _, [superfluous] = validate(Whole, {"cuont": 3, "count": 3})
    assert superfluous.suggestion == ""


def test_json_has_its_own_words() -> None:
    _, errors = validate(Whole, {"text": None, "names": {}}, words=JSON_WORDS)
    assert [error.message for error in errors] == ["must be text, not null", "must be a list, not an object"]


def test_no_more_errors_are_returned_than_a_person_reads() -> None:
    _, errors = validate(Whole, {f"field {number}": 1 for number in range(1000)})
    assert len(errors) == MAX_ERRORS


def test_a_missing_object_is_named_with_the_fields_it_needs() -> None:
    class Around(BaseModel):
        part: Part
        parts: list[Part]

    assert validate(Around, {})[1] == [
        FieldError(("part",), "is missing; it needs tool"),
        FieldError(("parts",), "is missing"),
    ]


def test_a_choice_in_capitals_is_recognised() -> None:
    [error] = validate(Whole, {"choice": " SUBSTE"})[1]
    assert error.message == 'must be one of exact, subset; did you mean "subset"?'
