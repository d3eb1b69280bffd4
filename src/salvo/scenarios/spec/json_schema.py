"""The JSON Schema of a scenario file, for editors: `salvo schema` prints it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from salvo.scenarios.evaluators.base import EvaluatorType
from salvo.scenarios.result import MCP
from salvo.scenarios.spec.schema import EXTENSION, Scenario, SuiteFields

_VARIABLE = r"^\{\{[^{}]+\}\}$"


def scenario_schema(evaluators: Mapping[str, EvaluatorType]) -> dict[str, Any]:
    """Return the JSON Schema of a scenario file, with the fields of each assertion type."""
    field_models = [evaluator.fields for evaluator in evaluators.values() if evaluator.fields is not None]
    models: list[type[BaseModel]] = list(dict.fromkeys([Scenario, SuiteFields, *field_models]))
    # In one call, so that two evaluators may have a part of the same name.
    references, definitions = models_json_schema([(model, "validation") for model in models])
    names = {model: references[model, "validation"]["$ref"].rpartition("/")[2] for model in models}
    parts: dict[str, Any] = definitions["$defs"]
    scenario, common = parts[names[Scenario]], parts["Assertion"]
    assertions = [
        _assertion_schema(name, common, parts[names[evaluator.fields]] if evaluator.fields else None)
        for name, evaluator in evaluators.items()
    ]
    scenario["properties"]["assertions"]["items"] = {"oneOf": [_with_any_assertion(item) for item in assertions]}
    for name in ("user_message", "assertions"):
        scenario["required"].remove(name)
    single = {"required": ["user_message", "assertions"]}
    message = [{"properties": {"adapter": {"const": MCP}}, "required": ["assertions"]}, single]
    message += [{"required": [name], "not": {"required": ["user_message"]}} for name in ("turns", "user")]
    own = {name: _or_variable(field) for name, field in scenario["properties"].items()}
    required = [name for name in scenario["required"] if name != "scenario"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **scenario,
        "patternProperties": {f"^{EXTENSION}": {"description": "Ignored: a place for YAML anchors."}},
        "title": "Salvo scenario",
        "properties": {**own, **parts[names[SuiteFields]]["properties"]},
        "required": ["scenario"],
        # With cases or a matrix, these may set a field that is else required.
        "if": {"not": {"anyOf": [{"required": ["cases"]}, {"required": ["matrix"]}]}},
        "then": {"required": required, "anyOf": message},
        "$defs": {
            name: _with_any_assertion(part)
            for name, part in parts.items()
            if name not in {"Assertion", *names.values()}
        },
    }


ANY_ASSERTION = "#/properties/assertions/items"


def _with_any_assertion(schema: Any) -> Any:
    """Return a schema in which an assertion inside another one may have any type."""
    if isinstance(schema, dict):
        if schema.get("$ref") == "#/$defs/Assertion":
            return {**schema, "$ref": ANY_ASSERTION}
        return {name: _with_any_assertion(value) for name, value in schema.items()}
    return [_with_any_assertion(item) for item in schema] if isinstance(schema, list) else schema


def _or_variable(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a number, or of true or false, that {{ name }} may stand for."""
    kinds = [kind.get("type") for kind in field.get("anyOf", [field])]
    if not {"number", "integer", "boolean"} & set(kinds):
        return dict(field)
    about = {name: field[name] for name in ("title", "description", "default") if name in field}
    plain = {name: value for name, value in field.items() if name not in about}
    return {**about, "anyOf": [*plain.get("anyOf", [plain]), {"type": "string", "pattern": _VARIABLE}]}


def _assertion_schema(name: str, common: Mapping[str, Any], own: Mapping[str, Any] | None) -> dict[str, Any]:
    properties = {**common["properties"], **(own or {}).get("properties", {})}
    properties = {field: _or_variable(content) for field, content in properties.items()}
    properties["type"] = {"const": name, "description": common["properties"]["type"]["description"]}
    return {
        "title": name,
        "description": (own or {}).get("description", f"Judged by {name}."),
        "type": "object",
        "properties": properties,
        "required": ["type", *(own or {}).get("required", [])],
        "additionalProperties": own is None,
    }
