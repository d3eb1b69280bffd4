"""What does not fit a model is told in sentences that name the mend and never repeat the value."""

from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Gt, Le, Lt
from inline_snapshot import snapshot
from pydantic import BaseModel, ConfigDict, Field, field_validator

from salvo.scenarios.spec.validation import FieldError, validate


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
        ({"names": ["a", "b", "c"]}, snapshot([("names", "list should have at most 2 items after validation, not 3")])),
        (
            {"either": 3},
            snapshot([("either", "must be text, not a number; put it in quotes, or must be a mapping, not a number")]),
        ),
        (
            {"either": {"tol": "x"}},
            snapshot([("either.tol", 'no such field; did you mean "tool"?')]),
        ),
        ({"even": 3}, snapshot([("even", "must be even")])),
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
                        "no such field; there are text, count, share, inner, flag, choice, number, names, either, even",
                    )
                ]
            ),
        ),
        ("secret", snapshot([("", "must be a mapping, not text")])),
    ],
)
def test_a_misfit_says_what_would_fit(data: Any, told: list[tuple[str, str]]) -> None:
    model, misfits = validate(Whole, data)
    assert model is None
    assert [(".".join(map(str, misfit.path)), misfit.message) for misfit in misfits] == told
    assert "secret" not in str(misfits)


def test_what_fits_is_the_model() -> None:
    assert validate(Whole, {"share": 1, "either": {"tool": "x"}}) == (Whole(share=1.0, either=Part(tool="x")), [])


def test_a_misspelt_field_says_what_was_meant_unless_that_is_there_as_well() -> None:
    _, [misspelt] = validate(Whole, {"cuont": 3})
    assert misspelt == FieldError(("cuont",), 'no such field; did you mean "count"?', unknown=True, meant="count")
    _, [superfluous] = validate(Whole, {"cuont": 3, "count": 3})
    assert superfluous.meant == ""


def test_no_more_is_told_than_anyone_reads() -> None:
    _, misfits = validate(Whole, {f"field {number}": 1 for number in range(1000)})
    assert len(misfits) == 200
