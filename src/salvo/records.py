"""The decorator of classes that only hold values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class a dataclass with slots. Its fields are set once, which the type checker enforces.

    `frozen=True` would enforce it at run time, too. Defining such a class takes twice as long, and making an instance
    three times as long: that is 6 % of the CPU of 200 runs.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
