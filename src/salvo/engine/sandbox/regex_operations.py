"""Compile and match regular expressions. Runs in a worker process."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

warnings.simplefilter("ignore")  # the user can do nothing about Python's warnings for a pattern from elsewhere


def pattern_error(arguments: Mapping[str, Any], _: bytes) -> Iterator[str]:
    """Yield what is wrong with the pattern; empty where it compiles."""
    try:
        re.compile(arguments["pattern"], arguments["flags"])
    except (re.error, OverflowError, RecursionError) as error:
        yield str(error)
    else:
        yield ""


def occurrences(arguments: Mapping[str, Any], _: bytes) -> Iterator[list[tuple[int, int]]]:
    """Yield for each pattern up to `most` + 1 places where it matches."""
    most, empty = arguments["most"], arguments["empty"]
    for pattern in arguments["patterns"]:
        spans = []
        for match in re.finditer(pattern, arguments["text"], arguments["flags"]):
            if empty or match.end() > match.start():
                spans.append(match.span())
                if len(spans) > most:
                    break
        yield spans


OPERATIONS = {"pattern_error": pattern_error, "occurrences": occurrences}
