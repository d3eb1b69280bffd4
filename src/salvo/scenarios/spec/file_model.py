"""What the models of a scenario file share."""

from __future__ import annotations

import re

from pydantic import AfterValidator, BaseModel, ConfigDict


class FileModel(BaseModel):
    """A part of a file. It is immutable, and other fields than its own are errors."""

    # Most files use few of the models, so each is built when it is first used.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def matches(pattern: str, message: str) -> AfterValidator:
    """Return a validator of a text that must match the whole pattern."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(message)
        return text

    return AfterValidator(check)
