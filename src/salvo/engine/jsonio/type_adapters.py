"""Typed values from plain data, by Pydantic type adapters, and from the fields of other values."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_core import ValidationError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic import TypeAdapter

T = TypeVar("T")
D = TypeVar("D", bound="DataclassInstance")
_adapters: dict[type, TypeAdapter[Any]] = {}


def type_adapter(kind: type[T]) -> TypeAdapter[T]:
    """Return the adapter of this type. It is built once, because building it is slow."""
    if kind not in _adapters:
        from pydantic import TypeAdapter  # 0.1 s to import; commands that only list what is stored do without it

        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def copy_fields(model: type[D], source: object, **values: Any) -> D:
    """Return a dataclass with these values, and the other fields copied from the source."""
    copied = {name: getattr(source, name) for name in _field_names(model) if name not in values}
    return model(**copied, **values)


@cache
def _field_names(model: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(model))


def first_error(error: ValidationError) -> tuple[str, str]:
    """Return the path of the first invalid value, such as "a.0.b", and what is wrong with it."""
    first = error.errors(include_url=False)[0]
    return ".".join(map(str, first["loc"])), first["msg"]


def exception_text(error: BaseException) -> str:
    """Return the message of an exception; of a ValidationError only the first line that matters."""
    if isinstance(error, ValidationError):
        path, message = first_error(error)
        return f"{error.title}.{path}: {message}" if path else f"{error.title}: {message}"
    return str(error)
