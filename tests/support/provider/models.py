"""Model names, told apart by pattern: what a model takes is data, and a new date on its name changes nothing."""

from collections.abc import Iterable
from fnmatch import fnmatchcase


def is_one_of(model: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(model, pattern) for pattern in patterns)
