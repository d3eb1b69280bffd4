"""The worker process: reads an operation's name and its arguments, and answers, until its parent ends.

It runs operations of one group. No code is sent to it, and nothing in a message can name other code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import IO, Any, NamedTuple

from salvo.engine.sandbox.confinement import confine, limit_operation
from salvo.engine.sandbox.frames import read_frame, write_frame

Operation = Callable[[Mapping[str, Any], bytes], Iterator[Any]]
"""Takes arguments and bytes, and yields results. Each is sent at once, so a timeout loses only those after it."""

_MEGABYTE = 1024 * 1024


class OperationGroup(NamedTuple):
    """The module that has the operations, in its `OPERATIONS`, and what they may use."""

    module: str
    memory_bytes: int
    cpu_seconds: int


GROUPS: Mapping[str, OperationGroup] = {
    "regex": OperationGroup("salvo.engine.sandbox.regex_operations", 512 * _MEGABYTE, 30),
    "schema": OperationGroup("salvo.engine.sandbox.schema_operations", 512 * _MEGABYTE, 30),
    "jmespath": OperationGroup("salvo.engine.sandbox.jmespath_operations", 1024 * _MEGABYTE, 30),
    "docx": OperationGroup("salvo.engine.sandbox.docx_operations", 1024 * _MEGABYTE, 20),
    "pdf": OperationGroup("salvo.engine.sandbox.pdf_operations", 1024 * _MEGABYTE, 20),
}


def main() -> None:
    name, parent = sys.argv[-2:]
    group = GROUPS[name]
    # Imported before the limits, because Python writes its cache of compiled modules.
    operations: Mapping[str, Operation] = import_module(group.module).OPERATIONS
    requests, replies = _take_over_streams()
    confine(int(parent), memory_bytes=group.memory_bytes, cpu_seconds=group.cpu_seconds)
    serve(requests, replies, operations)


def _take_over_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return the pipes to the parent. What a library prints or reads goes nowhere."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return requests, replies


def serve(requests: IO[bytes], replies: IO[bytes], operations: Mapping[str, Operation]) -> None:
    """Answer every request until there are no more."""
    while True:
        try:
            request, content = read_frame(requests)
        except EOFError:
            return
        limit_operation(request["seconds"])
        for result in operations[request["operation"]](request["arguments"], content):
            write_frame(replies, {"result": result})
        limit_operation(0)
        write_frame(replies, {"end": True})
