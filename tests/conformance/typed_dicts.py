"""Does a JSON value fit a TypedDict of an official SDK? Strictly: no field more than the type has.

pydantic would let unknown fields pass and read iterables only when somebody walks them.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict

SCALARS: dict[Any, Any] = {str: str, int: int, bool: bool, float: (int, float), NoneType: NoneType}


def misfits(value: Any, expected: Any, path: str = "body") -> list[str]:
    """Every place where the value is not what the type says; empty where it fits."""
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in (Required, NotRequired) or hasattr(expected, "__metadata__"):
        return misfits(value, arguments[0], path)
    if origin in (Union, UnionType):
        found = [misfits(value, choice, path) for choice in arguments]
        return [] if any(not problems for problems in found) else min(found, key=len)
    if is_typeddict(expected):
        return _misfits_of_object(value, expected, path)
    if origin is Literal:
        return [] if value in arguments else [f"{path}: {value!r} is none of {arguments}"]
    if origin in (dict, Mapping):
        fits = isinstance(value, dict)
        return [] if fits else [f"{path}: {value!r} is no object"]
    if origin is not None and issubclass(origin, Iterable):
        return _misfits_of_list(value, arguments[0], path)
    if expected in (Any, object):
        return []
    if expected in SCALARS:
        wrong_bool = isinstance(value, bool) and expected in (int, float)
        return (
            [] if isinstance(value, SCALARS[expected]) and not wrong_bool else [f"{path}: {value!r} is no {expected}"]
        )
    if getattr(expected, "__name__", "") == "SequenceNotStr":
        return _misfits_of_list(value, arguments[0] if arguments else Any, path)
    # What is left are the SDK's own classes, which some unions also take; JSON is never one.
    return [f"{path}: {value!r} is no {expected}"]


def _misfits_of_object(value: Any, expected: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: {value!r} is no object"]
    hints = get_type_hints(expected, include_extras=True)
    unknown = [f"{path}.{name}: no such field" for name in value if name not in hints]
    # Not __required_keys__: with annotations kept as strings, Python cannot fill it in.
    required = [name for name, hint in hints.items() if _marked(hint, Required)]
    missing = [f"{path}.{name}: missing" for name in required if name not in value]
    inside = [
        problem
        for name, item in value.items()
        if name in hints
        for problem in misfits(item, hints[name], f"{path}.{name}")
    ]
    return unknown + missing + inside


def _misfits_of_list(value: Any, expected: Any, path: str) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return [f"{path}: {value!r} is no list"]
    return [problem for i, item in enumerate(value) for problem in misfits(item, expected, f"{path}[{i}]")]


def _marked(hint: Any, marker: Any) -> bool:
    return bool(get_origin(hint) == marker)
