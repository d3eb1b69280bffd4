"""The log of a server: notices for a person on the terminal, or one JSON object per line for a collector.

A line has ids, states and numbers. Texts under evaluation, keys, login codes, query strings and the messages of
unexpected exceptions are never in it: of those it has the type and the places in the code.
"""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from salvo.cli.output import echo
from salvo.engine.jsonio import json_codec

FORMATS = ("text", "json")
_log = logging.getLogger("salvo.server")
_handlers: list[logging.Handler] = []


def configure(log_format: str) -> None:
    """Write JSON to stderr from now on. As text, only notices, warnings and errors are written, as Python does it."""
    for handler in _handlers:
        logging.getLogger().removeHandler(handler)
    _handlers.clear()
    if log_format != "json":
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    _handlers.append(handler)
    logging.getLogger().addHandler(handler)
    logging.getLogger("salvo").setLevel(logging.INFO)


def is_json() -> bool:
    return bool(_handlers)


def notice(text: str) -> None:
    """Tell whoever started the server something that is no secret."""
    if is_json():
        _log.info("%s", text)
    else:
        echo(text, err=True)


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            kind, _, trace = record.exc_info
            entry["exception"] = kind.__name__
            entry["stack"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
        return json_codec.dumps(entry).decode()
