"""How long a call to a provider may take, and how often it is tried.

A limit is set by a flag of the command, by `adapter_options`, or by the environment; the first of these counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from salvo.engine.wire.base import Timeouts
from salvo.engine.wire.retry import RetryPolicy
from salvo.errors import UsageError
from salvo.records import record
from salvo.scenarios.spec.file_model import FileModel

LONGEST_CALL = 120.0
"""Seconds that a call may take if nothing else is set."""
_MOST_SECONDS = 86_400.0
_MOST_TRIES = 100


class CallLimitOptions(FileModel):
    """The part of `adapter_options` that limits calls."""

    call_timeout: float | None = Field(
        None, gt=0, le=_MOST_SECONDS, description="Seconds that one call may take; default: `timeout`, at most 120."
    )
    connect_timeout: float | None = Field(
        None, gt=0, le=_MOST_SECONDS, description="Seconds to connect to the provider; default 10."
    )
    read_timeout: float | None = Field(
        None, gt=0, le=_MOST_SECONDS, description="Seconds without any data from the provider; default: call_timeout."
    )
    tries: int | None = Field(
        None, ge=1, le=_MOST_TRIES, description="How often a call is made before it is an error; default 6."
    )


@record
class CallLimits:
    """The limits that are set; None where the default applies."""

    call_timeout: float | None = None
    connect_timeout: float | None = None
    read_timeout: float | None = None
    tries: int | None = None

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> CallLimits:
        """Return the limits in `adapter_options`, which were validated before."""
        values = {name: options[name] for name in _NAMES if name in options}
        return cls(**CallLimitOptions.model_validate(values).model_dump()) if values else DEFAULT_LIMITS

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> CallLimits:
        """Return the limits in SALVO_CALL_TIMEOUT and so on. Raise UsageError if one is not valid."""
        values: dict[str, Any] = {}
        for name in _NAMES:
            if text := environ.get(f"SALVO_{name.upper()}"):
                try:
                    values[name] = TypeAdapter(CallLimitOptions).validate_python({name: text}).model_dump()[name]
                except ValidationError:
                    kind = "a number of tries" if name == "tries" else "a number of seconds"
                    raise UsageError(f"SALVO_{name.upper()} is {text!r}, which is not {kind}.") from None
        return cls(**values)

    def over(self, other: CallLimits) -> CallLimits:
        """Return these limits, with those of the other where none is set here."""
        values = {name: getattr(self, name) for name in _NAMES}
        return CallLimits(**{n: getattr(other, n) if value is None else value for n, value in values.items()})

    def timeouts(self, default: float = LONGEST_CALL) -> Timeouts:
        """Return the limits of one try. `default` limits a call without a limit of its own, up to 120 seconds."""
        total = min(default, LONGEST_CALL) if self.call_timeout is None else self.call_timeout
        connect = Timeouts().connect if self.connect_timeout is None else self.connect_timeout
        read = total if self.read_timeout is None else self.read_timeout
        return Timeouts(connect=min(connect, total), read=min(read, total), total=total)

    def retry_policy(self) -> RetryPolicy:
        return RetryPolicy() if self.tries is None else RetryPolicy(max_attempts=self.tries)


_NAMES = tuple(field.name for field in fields(CallLimits))
DEFAULT_LIMITS = CallLimits()
