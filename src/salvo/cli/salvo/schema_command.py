"""The JSON Schema of a scenario file, for `salvo schema` and `salvo init`."""

from __future__ import annotations

import json

from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.spec.schema import scenario_schema


def schema_text() -> str:
    return json.dumps(scenario_schema(builtin_registry().types()), indent=2, ensure_ascii=False)
