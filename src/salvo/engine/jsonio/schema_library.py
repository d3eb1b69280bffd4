"""JSON Schema by the library `jsonschema`. It takes 0.1 s to import, and as long for a value as the schema demands."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.protocols import Validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from salvo.engine.jsonio import json_codec
from salvo.errors import InputError
from salvo.records import record


@record
class ValidSchema:
    validator: Validator

    def problems(self, value: Any) -> list[str]:
        """Return every violation, one sentence each."""
        try:
            errors = list(self.validator.iter_errors(value))
        except Unresolvable as error:
            raise InputError(
                f"This JSON Schema refers to {getattr(error, 'anchor', error.ref)!r}, which is not in it.",
                hint="Put the definition under $defs. Nothing is fetched from other places.",
            ) from error
        except (RecursionError, OverflowError) as error:
            raise InputError(
                f"This JSON Schema cannot be applied to this value: {error}.",
                hint="Look for a $ref that refers to itself, very deep nesting, and very large numbers.",
            ) from error
        errors.sort(key=lambda error: [(type(step).__name__, step) for step in error.path])
        return [f"{_place(error.path)}{error.message}" for error in errors]


@lru_cache(maxsize=256)
def valid_schema(schema_text: str) -> ValidSchema:
    """Return the schema as the library reads it. Raises InputError where it is not valid."""
    try:
        schema = json_codec.loads(schema_text)
    except ValueError as error:
        raise InputError("This is not a JSON Schema: it contains a value that JSON cannot represent.") from error
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise InputError(f"This is not a JSON Schema: {_place(error.path)}{error.message}.") from error
    # The empty registry keeps a schema from an untrusted file from making us fetch what it refers to.
    return ValidSchema(Draft202012Validator(schema, registry=Registry()))


def _place(path: Any) -> str:
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    return f"{steps}: " if steps else ""
