"""A file that does not fit, made to fit, so that what is sound in it can be checked as well."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from salvo.engine.jsonio.pydantic_errors import FieldError
from salvo.scenarios.spec.yaml_document import Steps

_STAND_INS: Mapping[str, Any] = {
    "scenario": "unnamed",
    "adapter": "openai",
    "user_message": "?",
    "assertions": [{"type": "jmespath"}],
}
_ITEM_STAND_INS: Mapping[str, tuple[Any, str]] = {
    "assertions": ({"type": "jmespath"}, "type"),
    "tools": ({"name": "unnamed"}, "name"),
}
"""For an item of a list that cannot be made out, and the field that it cannot do without."""


def mended(data: dict[str, Any], misfits: Iterable[FieldError]) -> tuple[dict[str, Any], set[Steps]]:
    """The data with something possible in place of what does not fit, so that the rest can be checked as well.

    Also where that was done: nothing should be said about what nobody wrote.
    """
    result = copy.deepcopy(data)
    touched: set[Steps] = set()
    for misfit in misfits:
        around = _mapping_at(result, misfit.path[:-1])
        if misfit.suggestion and around is not None:
            around[misfit.suggestion] = around.pop(misfit.path[-1], None)
        elif misfit.unknown and around is not None:
            around.pop(misfit.path[-1], None)
        else:
            touched.add(_replaced(result, misfit.path))
    return result, touched


def _replaced(data: dict[str, Any], path: Steps) -> Steps:
    """Puts a stand-in, or the default, where the path leads, and says what was replaced."""
    top = str(path[0]) if path else ""
    if top in _ITEM_STAND_INS and len(path) > 1 and isinstance(path[1], int):
        stand_in, needed = _ITEM_STAND_INS[top]
        item = _mapping_at(data, path[:2])
        if item is not None and len(path) > 2 and path[2] != needed and needed in item:
            item.pop(str(path[2]), None)
            return path[:3]
        data[top][path[1]] = copy.deepcopy(stand_in)
        return path[:2]
    data.pop(top, None)
    if top in _STAND_INS:
        data[top] = copy.deepcopy(_STAND_INS[top])
    return path[:1]


def _mapping_at(data: Any, steps: Steps) -> dict[Any, Any] | None:
    for step in steps:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data if isinstance(data, dict) else None
