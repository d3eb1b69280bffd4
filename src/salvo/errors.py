"""Every exception of ours. A person can mend each of them, so each says what happened and what to do.

SalvoError
├── UsageError                 asked for wrongly: an option, an argument, a name that does not exist
│   ├── NothingFoundError          there is no scenario where one was looked for
│   ├── UnknownIdError             no stored run or batch has this id, nor one that begins with it
│   └── AmbiguousIdError           several stored ids begin with it
├── InputError                 a file or a value is not what it must be
│   ├── ScenarioFileError          a scenario's or a tool's file, with all its problems and where each stands
│   └── PlaybookError              a playbook, with all its errors and the JSON path of each
├── ProviderError              the provider gave no usable answer; never the fault of what is under test
│   ├── WireError              nothing usable came back over the network
│   │   ├── UnreachableError       refused, cut, no such host, TLS
│   │   ├── ReplyTimeoutError      connected, but no answer in time
│   │   └── ReplyTooLargeError     an answer larger than we are willing to hold
│   ├── MissingKeyError        no API key; nothing was sent
│   ├── WrongKeyError          401, 403
│   ├── UnknownModelError      404; retired or misspelt
│   ├── QuotaError             the account has no money or quota left
│   ├── RateLimitError         429, still, after all retries
│   ├── OverloadedError        5xx or 529, still, after all retries
│   ├── ContextTooLongError    the conversation does not fit the model
│   ├── RequestRefusedError    any other 4xx
│   └── BadReplyError          an answer that is not what the protocol says
├── StoreError                 the store cannot be written, or a file in it cannot be read
└── TapeError                  a recording cannot be used
    ├── TapeCorruptError           not a tape, or a damaged one
    ├── TapeMissError              nothing was recorded for this request
    └── NotReplayableError         recorded, but without the content that replay needs
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class SalvoError(Exception):
    """What happened (`message`) and what to do about it (`hint`)."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class UsageError(SalvoError):
    """Asked for wrongly."""


class UnknownIdError(UsageError):
    """No stored run or batch has this id, nor one that begins with it."""


class AmbiguousIdError(UsageError):
    """Several stored ids begin with it."""


class NothingFoundError(UsageError):
    """There is nothing to do: no scenario where one was looked for."""


class InputError(SalvoError):
    """A file or a value is not what it must be."""


class Problem(NamedTuple):
    """What is wrong in a file, and where: lines and columns count from 1, `field` is empty for the whole of it."""

    file: str
    line: int
    column: int
    field: str
    message: str

    def __str__(self) -> str:
        what = f"{self.field}: {self.message}" if self.field else self.message
        return f"{self.file}:{self.line}:{self.column}: {what}"


class ScenarioFileError(InputError):
    """A scenario's or a tool's file, with all its problems: one line each."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = list(problems)


class PlaybookError(InputError):
    """A playbook that cannot be used, with all its errors: one line each, behind its JSON path."""

    def __init__(self, name: str, errors: Sequence[str]) -> None:
        super().__init__(
            "\n".join([f"{name} cannot be used as a playbook.", *errors]),
            hint="`byop validate FILE` shows these and the warnings.",
        )
        self.errors = list(errors)


class ProviderError(SalvoError):
    """The provider gave no usable answer."""

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.request_id = request_id


class WireError(ProviderError):
    """Nothing usable came back over the network. `attempts` holds the tries before the final one."""

    attempts: tuple[Any, ...] = ()


class UnreachableError(WireError):
    """Refused, cut, no such host, or no trust in its certificate."""


class ReplyTimeoutError(WireError):
    """Connected, but no answer in time."""


class ReplyTooLargeError(WireError):
    """An answer larger than we are willing to hold in memory."""


class MissingKeyError(ProviderError):
    """No API key; nothing was sent."""


class WrongKeyError(ProviderError):
    """The provider does not accept the key, or not for this."""


class UnknownModelError(ProviderError):
    """The provider does not know the model: retired or misspelt."""


class QuotaError(ProviderError):
    """The account has no money or quota left."""


class RateLimitError(ProviderError):
    """Still limited after all retries."""


class OverloadedError(ProviderError):
    """Still failing on the provider's side after all retries."""


class ContextTooLongError(ProviderError):
    """The conversation does not fit the model."""


class RequestRefusedError(ProviderError):
    """The provider refuses the request as it stands."""


class BadReplyError(ProviderError):
    """An answer that is not what the protocol says."""


class StoreError(SalvoError):
    """The store cannot be written, or a file in it cannot be read."""


class TapeError(SalvoError):
    """A recording cannot be used."""


class TapeCorruptError(TapeError):
    """Not a tape, or a damaged one."""


class TapeMissError(TapeError):
    """Nothing was recorded for this request."""


class NotReplayableError(TapeError):
    """Recorded, but without the content that replay needs."""
