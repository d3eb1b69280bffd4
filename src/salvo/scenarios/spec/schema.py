"""The shape of a scenario file. What is not named here is a typo, and an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema, model_validator

from salvo.engine.jsonio.pydantic_errors import EXPECTED_KIND
from salvo.engine.jsonio.type_adapters import complete

if TYPE_CHECKING:
    from salvo.scenarios.evaluators.base import EvaluatorType


def _matches(pattern: str, message: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(message)
        return text

    return AfterValidator(check)


_SCENARIO_NAME = r"^[A-Za-z0-9][A-Za-z0-9_. -]{0,99}$"
ScenarioName = Annotated[
    str,
    _matches(
        _SCENARIO_NAME, "must begin with a letter or digit, and hold at most 100 letters, digits, spaces and _ . - only"
    ),
    WithJsonSchema({"type": "string", "pattern": _SCENARIO_NAME}),
]

_TOOL_NAME = r"^[A-Za-z0-9_-]{1,64}$"
ToolName = Annotated[
    str,
    _matches(_TOOL_NAME, "must hold at most 64 letters, digits, _ and - only, as the providers require"),
    WithJsonSchema({"type": "string", "pattern": _TOOL_NAME}),
]

CERTAINTY_ERROR = "no number of runs can show a min_pass_rate of 1.0: one below 1 can be shown, such as 0.95"


class FileModel(BaseModel):
    """A part of a file: no field more than it has, and never changed once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        complete(cls)


class ToolResponse(FileModel):
    """What a YAML tool answers: a result, or a fault. `when` is matched against the call's arguments."""

    when: dict[str, Any] | None = Field(None, description="Arguments that a call must have, nested ones too.")
    result: Any = Field(None, description="What the tool returns.")
    error: str | None = Field(None, description="What the tool fails with, instead of a result.")
    delay: float = Field(0.0, ge=0, le=3600, description="Seconds before it answers.")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if self.error is not None and self.result is not None:
            raise ValueError("has a result and an error; a call comes to one of them")
        return self


class YamlTool(FileModel):
    """A tool without code. Answers come in the order they stand; the last one repeats."""

    name: ToolName = Field(description="What the model calls it.")
    description: str = Field("", description="What the model is told about it.")
    parameters: dict[str, Any] = Field(
        {"type": "object", "properties": {}}, description="JSON Schema of the arguments."
    )
    response: Any = Field(None, description="The one result of every call.")
    responses: list[ToolResponse] | None = Field(None, min_length=1, description="Instead of `response`: several.")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if self.responses is not None and self.response is not None:
            raise ValueError("has a response and responses; a tool has one or the other")
        return self


class Assertion(FileModel):
    """What every assertion has, whatever its type. The rest belongs to its evaluator."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str = Field(description="Which evaluator judges it.")
    name: str | None = Field(None, description="The label in tables; else the path's last segment, else the type.")
    required: bool = Field(False, description="A failure makes the whole run score 0.")
    weight: float = Field(1.0, ge=0, allow_inf_nan=False, description="Its share of the score, beside the others'.")

    @property
    def fields(self) -> dict[str, Any]:
        """What belongs to the evaluator."""
        return dict(self.model_extra or {})

    @property
    def label(self) -> str:
        path = self.fields.get("path")
        return self.name or (str(path).rsplit(".", 1)[-1] if path else self.type)


Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


def _kind_of_tool(tool: Any) -> str | None:
    if isinstance(tool, str):
        return "tool-name"
    return "tool-definition" if isinstance(tool, Mapping | YamlTool) else None


Tool = Annotated[
    Annotated[str, Field(min_length=1), Tag("tool-name")] | Annotated[YamlTool, Tag("tool-definition")],
    # A misspelt field of a definition is to be told as that, and not as "this is no name" as well.
    Discriminator(
        _kind_of_tool,
        custom_error_type=EXPECTED_KIND,
        custom_error_message="must be a name or a definition",
        custom_error_context={"expected": "a name or a definition"},
    ),
]


class Scenario(FileModel):
    """What the agent may use, and what must hold."""

    scenario: ScenarioName = Field(description="The scenario's name.")
    adapter: str = Field(
        min_length=1,
        description="openai, anthropic, command, module:Class, package.module.Class or function:module.callable.",
    )
    model: str = Field("", description="The model's name, as its provider knows it.")
    user_message: str = Field(min_length=1, description="What the agent is asked to do.")
    assertions: list[Assertion] = Field(min_length=1, description="What must hold at the end of a run.")
    description: str = Field("", description="What the scenario is about, for people.")
    tags: list[str] = Field([], description="Words to find it by.")
    system_prompt: str = Field("", description="What the agent is told before the user speaks.")
    tools: list[Tool] = Field([], description="Names of tools in tools.py or tools/<name>.yaml, or definitions.")
    runs: int = Field(1, ge=1, le=100_000, description="How often it is run.")
    timeout: float = Field(60.0, gt=0, allow_inf_nan=False, description="Seconds; our own waits are not counted.")
    threshold: Share = Field(1.0, description="The weighted score from which a run passes.")
    min_pass_rate: Share = Field(1.0, description="The share of runs that must pass.")
    confidence: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Passes or fails only where the runs show it with this confidence, such as 0.95; needs a "
        "min_pass_rate below 1.",
    )
    max_turns: int = Field(20, ge=1, le=1000, description="How often the agent may answer before it is stopped.")
    temperature: float | None = Field(None, ge=0, le=2, description="Left to the provider if not said.")
    seed: int | None = Field(None, description="Run i gets seed + i.")
    concurrency: int | None = Field(None, ge=1, le=1000, description="How many of its runs go on at once.")
    output_schema: dict[str, Any] | None = Field(None, description="JSON Schema of the final output.")
    adapter_options: dict[str, Any] = Field(
        {}, description="For the adapter, such as base_url. ${NAME} is filled from the environment."
    )

    @model_validator(mode="after")
    def _can_be_shown(self) -> Self:
        if self.confidence is not None and self.min_pass_rate == 1:
            raise ValueError(f"has a confidence, but {CERTAINTY_ERROR}")
        return self


def scenario_schema(evaluators: Mapping[str, EvaluatorType]) -> dict[str, Any]:
    """The JSON Schema of a scenario file. An assertion has the fields that all have, and those of its type."""
    from pydantic.json_schema import models_json_schema

    own = [evaluator.fields for evaluator in evaluators.values() if evaluator.fields is not None]
    models: list[type[BaseModel]] = list(dict.fromkeys([Scenario, *own]))
    # All at once, so that two evaluators may each have a part of the same name.
    references, together = models_json_schema([(model, "validation") for model in models])
    names = {model: references[model, "validation"]["$ref"].rpartition("/")[2] for model in models}
    parts: dict[str, Any] = together["$defs"]
    whole, common = parts[names[Scenario]], parts["Assertion"]
    kinds = [
        _kind_of_assertion(name, common, parts[names[evaluator.fields]] if evaluator.fields else None)
        for name, evaluator in evaluators.items()
    ]
    whole["properties"]["assertions"]["items"] = {"oneOf": kinds}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **whole,
        "title": "Salvo scenario",
        "$defs": {name: part for name, part in parts.items() if name not in {"Assertion", *names.values()}},
    }


def _kind_of_assertion(name: str, common: Mapping[str, Any], own: Mapping[str, Any] | None) -> dict[str, Any]:
    properties = {**common["properties"], **(own or {}).get("properties", {})}
    properties["type"] = {"const": name, "description": common["properties"]["type"]["description"]}
    return {
        "title": name,
        "description": (own or {}).get("description", f"Judged by {name}."),
        "type": "object",
        "properties": properties,
        "required": ["type", *(own or {}).get("required", [])],
        "additionalProperties": own is None,
    }
