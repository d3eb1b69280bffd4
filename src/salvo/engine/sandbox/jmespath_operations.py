"""Search large values by JMESPath expressions. Runs in a worker process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathTypeError

from salvo.engine.jsonio import json_codec


def search(arguments: Mapping[str, Any], content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the value that the expression finds in the JSON content, or the error of a function with a wrong type."""
    value = json_codec.loads(content, max_depth=json_codec.MAX_DEPTH_STORED)
    try:
        yield {"value": jmespath.search(arguments["path"], value)}
    except JMESPathTypeError as error:
        yield {"type_error": str(error)}


OPERATIONS = {"search": search}
