"""The schema of a scenario file. A field that is not named here is an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Self, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticKnownError

from salvo.engine.jsonio.pydantic_errors import FieldPath, validate
from salvo.engine.text.formatting import path_label
from salvo.engine.wire.matching import ignore_rule_error
from salvo.records import record
from salvo.scenarios.result import MCP
from salvo.scenarios.spec.file_model import FileModel, matches
from salvo.scenarios.spec.tool_schema import McpServer, ServerName, Tool

Fields = TypeVar("Fields", bound=BaseModel)
FieldsModel: TypeAlias = type[Fields]

SCENARIO_NAME = r"^[A-Za-z0-9][A-Za-z0-9_. -]{0,99}$"
NAME_ERROR = "must begin with a letter or digit, and have at most 100 letters, digits, spaces and _ . -"
ScenarioName = Annotated[
    str,
    # In a file there are no brackets: the loader adds them to the name of a cell.
    matches(rf"{SCENARIO_NAME.removesuffix('$')}(?:\[[^\[\]]+\])?", NAME_ERROR),
    WithJsonSchema({"type": "string", "pattern": SCENARIO_NAME}),
]

EXTENSION = "x-"
"""Top-level fields that begin so are ignored: a place for YAML anchors, as in a Compose file."""

CERTAINTY_ERROR = "no number of runs can show a min_pass_rate of 1.0; use a lower one, such as 0.95"


NO_MESSAGE = "(No agent is asked: MCP servers are tested.)"


END = "end"
EVERY_TURN = "every turn"
TURN = "turn "
_AT = rf"^(?:{END}|{EVERY_TURN}|{TURN}[1-9][0-9]{{0,3}})$"
At = Annotated[
    str,
    matches(_AT, 'must be "end", "every turn", or "turn 2" with the number of a turn'),
    WithJsonSchema({"type": "string", "pattern": _AT}),
]


ServerUrl = Annotated[
    str | None,
    Field(
        min_length=1,
        description="The model's own server, for a local or compatible one. ${NAME} is filled from the environment.",
    ),
]
ServerKey = Annotated[
    str | None,
    Field(min_length=1, description="The key for it, as ${NAME}. Without it, no key is sent to the base_url."),
]


class Assertion(FileModel):
    """The fields that every assertion has. The other fields belong to its type."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="Which evaluator judges it.")
    name: str | None = Field(
        None,
        description="The label in tables; else the path's last segment, else the type.",
    )
    required: bool = Field(False, description="A failure makes the whole run score 0.")
    weight: float = Field(1.0, ge=0, allow_inf_nan=False, description="Its share of the score, beside the others'.")
    at: At | None = Field(
        None,
        exclude_if=lambda at: at is None,  # as assertions were stored before there were conversations
        description="In a conversation: when it is judged. end (the default), every turn, or turn N.",
    )

    @property
    def turn(self) -> int | None:
        """Return the turn at which it is judged, if it names one."""
        return int(self.at.removeprefix(TURN)) if self.at is not None and self.at.startswith(TURN) else None

    @property
    def fields(self) -> dict[str, Any]:
        """Return the fields that belong to its type."""
        return dict(self.model_extra or {})

    def typed_fields(self, model: FieldsModel[Fields]) -> Fields:
        """Return the fields that belong to its type, as this model of them. It is made once for all runs."""
        fields = self._typed_fields.get(model)
        if not isinstance(fields, model):
            fields = self._typed_fields[model] = model.model_validate(self.fields)
        return fields

    @cached_property
    def _typed_fields(self) -> dict[FieldsModel[Any], BaseModel]:
        return {}

    @property
    def label(self) -> str:
        path = self.fields.get("path")
        return self.name or (path_label(str(path)) if path else self.type)

    @property
    def parts(self) -> list[tuple[FieldPath, Assertion]]:
        """Return the valid assertions that this one is composed of, each with its path in it."""
        field = COMPOSITIONS.get(self.type)
        values = None if field is None else self.fields.get(field)
        if field is None or values is None:
            return []
        located: list[tuple[FieldPath, Any]] = [((field,), values)]
        if isinstance(values, list):
            located = [((field, index), value) for index, value in enumerate(values)]
        parts = ((path, validate(Assertion, value)[0]) for path, value in located)
        return [(path, part) for path, part in parts if part is not None]

    def walk(self, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Assertion]]:
        """Yield this assertion and all that it is composed of, at any depth, in the order of the file."""
        yield path, self
        for inner, part in self.parts:
            yield from part.walk((*path, *inner))


COMPOSITIONS: Mapping[str, str] = {"all_of": "assertions", "any_of": "assertions", "not": "assertion"}
"""The types that are composed of other assertions, and the field that has these."""


class ScriptedTurn(FileModel):
    """A message of the user, and what must hold when the agent has answered it."""

    user: str = Field(min_length=1, description="What the user says.")
    assertions: list[Assertion] = Field([], description="What must hold at this turn. `at` is not set here.")


class StopRule(FileModel):
    """When a conversation ends, if the user does not end it before."""

    max_turns: int = Field(10, ge=1, le=1000, description="How many messages the user sends at most.")


class UserSettings(FileModel):
    """A user who decides what to say next: simulated by a model, or a Python class."""

    model: str | None = Field(None, min_length=1, description="The model that plays the user, as provider/model.")
    persona: str = Field("", description="Who the user is, and how they write.")
    goal: str = Field("", description="What the user wants. Needed with a model.")
    knows: dict[str, Any] = Field({}, description="Facts that the user may state, by name. Others are refused.")
    stop: StopRule = Field(StopRule(), description="When the conversation ends.")
    temperature: float | None = Field(None, ge=0, le=2, description="Default: the provider's.")
    max_tokens: int | None = Field(None, ge=1, description="The most tokens of a message. Default: the provider's.")
    base_url: ServerUrl = None
    api_key: ServerKey = None
    python: str | None = Field(
        None, min_length=1, description="Instead of a model: a class with next_message(transcript), as module:Class."
    )
    options: dict[str, Any] = Field({}, description="Arguments for the class.")
    timeout: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Seconds that the class has for one message. Default: 60."
    )

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.model is None) == (self.python is None):
            raise ValueError("needs a model or a python class, and not both")
        needed, names = (
            ("python class", ("options", "timeout")) if self.python is None else ("model", _NEEDS_USER_MODEL)
        )
        for name in names:
            if getattr(self, name):
                raise ValueError(f"has {name}, which only a user with a {needed} has")
        if self.model is not None and not self.goal.strip():
            raise ValueError("needs a goal: what the simulated user wants")
        return self


_NEEDS_USER_MODEL = ("persona", "goal", "knows", "temperature", "max_tokens", "base_url", "api_key")


Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


@record
class Cell:
    """Which cell of a file with cases or a matrix a scenario is."""

    suite: str
    """The scenario's name in the file."""
    parameters: Mapping[str, str]
    """The id of the case, and of each value of the matrix, by name."""
    private: Mapping[str, tuple[str, ...]]
    """The texts and numbers in private columns, by name. They must not be stored."""


def _valid_ignore_rule(rule: str) -> str:
    if error := ignore_rule_error(rule):
        raise ValueError(error)
    return rule


class RecordSettings(FileModel):
    """How a scenario is recorded and replayed."""

    ignore: list[Annotated[str, AfterValidator(_valid_ignore_rule)]] = Field(
        [],
        description="What may differ in a replayed request, besides what never reaches a model: paths in its JSON such "
        "as context.request_id or messages[*].id, header:NAME, query:NAME.",
    )


class LabelSettings(FileModel):
    """The labels of people by which the pass rate of the runs is corrected."""

    confidence: float = Field(
        0.95, gt=0, lt=1, description="Of the interval of the corrected pass rate that decides about the verdict."
    )


class Scenario(FileModel):
    """What the agent may use, and what must hold."""

    scenario: ScenarioName = Field(description="The scenario's name.")
    adapter: str = Field(
        min_length=1,
        description="openai, anthropic, command, mcp, module:Class, package.module.Class or function:module.callable.",
    )
    model: str = Field("", description="The model's name, as its provider knows it.")
    turns: list[ScriptedTurn] = Field(
        [],
        max_length=1000,
        exclude_if=lambda turns: not turns,  # as scenarios were stored before there were conversations
        description="Instead of user_message: a conversation, message by message.",
    )
    user: UserSettings | None = Field(
        None,
        exclude_if=lambda user: user is None,
        description="Instead of user_message: a user who decides what to say next, simulated or in Python.",
    )
    user_message: str = Field(description="What the agent is asked to do.", json_schema_extra={"minLength": 1})
    assertions: list[Assertion] = Field(
        description="What must hold at the end of a run, or where `at` says.", json_schema_extra={"minItems": 1}
    )
    description: str = Field("", description="What the scenario is about, for people.")
    tags: list[str] = Field([], description="Words to select it by, with salvo run -m.")
    system_prompt: str = Field("", description="Instructions for the agent, before the user's message.")
    tools: list[Tool] = Field([], description="Names of tools in tools.py or tools/<name>.yaml, or definitions.")
    mcp_servers: dict[ServerName, McpServer] = Field({}, description="MCP servers whose tools the agent gets, by name.")
    runs: int = Field(1, ge=1, le=100_000, description="How often it is run.")
    timeout: float = Field(60.0, gt=0, allow_inf_nan=False, description="Seconds, without waits that Salvo causes.")
    threshold: Share = Field(1.0, description="The weighted score from which a run passes.")
    min_pass_rate: Share = Field(1.0, description="The share of runs that must pass.")
    confidence: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Passes or fails only if the runs show it with this confidence, such as 0.95. Needs a "
        "min_pass_rate below 1.",
    )
    labels: LabelSettings | None = Field(
        None,
        exclude_if=lambda labels: labels is None,  # as scenarios were stored before there were labels
        description="Passes or fails only by the pass rate as people see it: the judge's, corrected by the labels of "
        "`salvo label`. `labels: {}` takes the defaults.",
    )
    max_turns: int = Field(20, ge=1, le=1000, description="How often the agent may answer before it is stopped.")
    temperature: float | None = Field(None, ge=0, le=2, description="Default: the provider's.")
    seed: int | None = Field(None, description="Run i gets seed + i.")
    concurrency: int | None = Field(None, ge=1, le=1000, description="How many of its runs may run at once.")
    output_schema: dict[str, Any] | None = Field(None, description="JSON Schema of the final output.")
    record: RecordSettings = Field(RecordSettings(), description="How its runs are recorded and replayed.")
    adapter_options: dict[str, Any] = Field(
        {}, description="For the adapter, such as base_url. ${NAME} is filled from the environment."
    )

    _cell: Cell | None = PrivateAttr(None)

    def all_assertions(self) -> list[tuple[FieldPath, Assertion]]:
        """Return every assertion with its path in the file, also those inside others, in the order of evaluation."""
        return [located for path, assertion in self.scored_assertions() for located in assertion.walk(path)]

    def scored_assertions(self) -> list[tuple[FieldPath, Assertion]]:
        """Return the assertions that are not inside others, with their paths: those of the turns first, with `at`."""
        in_turns: list[tuple[FieldPath, Assertion]] = [
            (("turns", number, "assertions", index), assertion.model_copy(update={"at": f"{TURN}{number + 1}"}))
            for number, turn in enumerate(self.turns)
            for index, assertion in enumerate(turn.assertions)
        ]
        return [*in_turns, *((("assertions", index), item) for index, item in enumerate(self.assertions))]

    @property
    def is_conversation(self) -> bool:
        return bool(self.turns) or self.user is not None

    @property
    def most_turns(self) -> int:
        """Return how many messages the user sends at most."""
        return len(self.turns) or (1 if self.user is None else self.user.stop.max_turns)

    @property
    def cell(self) -> Cell | None:
        """Return which cell it is; None if its file is one scenario."""
        return self._cell

    def with_cell(self, cell: Cell | None) -> Self:
        """Return the same scenario as a cell. A cell is neither read from a file nor stored with the scenario."""
        scenario = self.model_copy()
        scenario._cell = cell  # noqa: SLF001 - a copy of this very object
        return scenario

    @model_validator(mode="before")
    @classmethod
    def _needs_no_message(cls, data: Any) -> Any:
        """Add the required fields that a conversation, or the test of a server, has no use for."""
        if not isinstance(data, dict):
            return data
        if data.get("turns") or data.get("user"):
            return {"user_message": "", "assertions": [], **data}
        return {"user_message": NO_MESSAGE, **data} if data.get("adapter") == MCP else data

    @field_validator("user")
    @classmethod
    def _no_turns(cls, user: UserSettings | None, info: ValidationInfo) -> UserSettings | None:
        if user is not None and info.data.get("turns"):
            raise ValueError("cannot be used with turns; a scenario has one of user_message, turns and user")
        return user

    @field_validator("user_message")
    @classmethod
    def _one_message(cls, message: str, info: ValidationInfo) -> str:
        others = [name for name in ("turns", "user") if info.data.get(name)]
        if message and others:
            raise ValueError(f"cannot be used with {others[0]}; a scenario has one of user_message, turns and user")
        if not message and not others and {"turns", "user"} <= info.data.keys():
            raise PydanticKnownError("string_too_short", {"min_length": 1})
        return message

    @field_validator("assertions")
    @classmethod
    def _some_assertion(cls, assertions: list[Assertion], info: ValidationInfo) -> list[Assertion]:
        in_turns = any(turn.assertions for turn in info.data.get("turns") or ())
        if not assertions and not in_turns and "turns" in info.data:
            raise PydanticKnownError("too_short", {"field_type": "List", "min_length": 1, "actual_length": 0})
        return assertions

    @model_validator(mode="after")
    def _has_provable_pass_rate(self) -> Self:
        if self.confidence is not None and self.min_pass_rate == 1:
            raise ValueError(f"has a confidence, but {CERTAINTY_ERROR}")
        return self

    @model_validator(mode="after")
    def _has_something_to_label(self) -> Self:
        if self.labels is not None and not any(assertion.type == "llm_judge" for _, assertion in self.all_assertions()):
            raise ValueError("has labels, but no llm_judge whose verdicts could be labelled")
        return self


class SuiteFields(FileModel):
    """The fields that make one file many scenarios: one for each case and each combination of the matrix."""

    cases: str | list[dict[str, Any]] | None = Field(
        None, description="A list of cases, or the name of a .csv or .jsonl file. {{ column }} stands for its value."
    )
    matrix: dict[str, list[Any] | dict[str, Any]] = Field(
        {},
        description="Values for fields, or for variables used as {{ name }}: a list, or a mapping with their names.",
    )
    exclude: list[dict[str, Any]] = Field(
        [], max_length=200, description="Combinations that are left out, by value or by id."
    )
    private: list[str] = Field([], description="Columns of the cases whose values are never stored.")


SUITE_FIELDS = tuple(SuiteFields.model_fields)
