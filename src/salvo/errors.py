"""Every exception that Salvo raises. Each message says what happened and what to do about it.

SalvoError
├── UsageError                 a wrong option or argument, or a name that does not exist
│   ├── NothingFoundError          there is nothing to work on, such as no scenario in a folder
│   ├── UnknownIdError             no stored run or batch has an id that begins like this
│   ├── AmbiguousIdError           several stored ids begin like this
│   ├── TokenUsedError             an evaluation was started with this client token before
│   ├── ReviewChangedError         a report was reviewed further since somebody who wants to sign it looked at it
│   └── PlaybookChangedError       a playbook was saved by somebody else since it was opened for editing
├── InputError                 a file or a value is not valid
│   ├── NotUtf8Error               a text file that is not UTF-8, but may be Windows-1252
│   ├── ScenarioFileError          a scenario file or a tool file, with the place of each problem
│   └── PlaybookError              a playbook, with the JSON path of each problem
├── ProviderError              the provider gave no usable answer; the agent under test is not at fault
│   ├── WireError              no usable reply came back over the network
│   │   ├── UnreachableError       connection refused or lost, unknown host, TLS
│   │   ├── ReplyTimeoutError      connected, but no answer in time
│   │   ├── BrokenReplyError       the answer broke off, or cannot be decompressed
│   │   ├── ReplyTooLargeError     the answer is larger than the limit
│   │   ├── StreamCutError         a streamed answer broke off
│   │   ├── AnswerPendingError      the question waits for a provider's batch
│   │   └── NoBatchAnswerError      a provider's batch has no answer to the question
│   ├── AccessError            no call with this key and model can succeed
│   │   ├── MissingKeyError        no API key; nothing was sent
│   │   ├── WrongKeyError          401, 403
│   │   ├── UnknownModelError      404; retired or misspelt
│   │   └── QuotaError             the account has no credit or quota left
│   ├── RateLimitError         429 after all retries
│   ├── OverloadedError        5xx or 529 after all retries
│   ├── ContextTooLongError    the conversation does not fit the model
│   ├── RequestRefusedError    any other 4xx
│   ├── UndecidedBatchError    it cannot be told yet whether a batch was started before a crash
│   └── BadReplyError          the answer does not follow the protocol
├── McpError                   an MCP server ended, did not answer in time, or broke the protocol
│   └── McpAnswerError             the server answered a request with an error
├── SimulatorError             the user of a conversation gave no message that can be used
├── WorkerLostError            a worker process ended, and the runs that it was making with it
├── StoreError                 the store cannot be written, or a file in it cannot be read
│   ├── AlreadyStoredError         the store has this run or recording already
│   ├── DamagedEvaluationError     a stored evaluation has values that Salvo did not write
│   └── LeaseLostError             another process runs the evaluation now, so this one must not write
└── TapeError                  a recording cannot be used
    ├── TapeCorruptError           not a tape, or a damaged tape
    ├── TapeMissError              nothing was recorded for this request
    └── NotReplayableError         the recording lacks the content, or the project the code, that a replay needs
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class SalvoError(Exception):
    """An error with what happened (`message`) and what to do about it (`hint`)."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class UsageError(SalvoError):
    """A wrong option or argument, or a name that does not exist."""


class TokenUsedError(UsageError):
    """An evaluation was started with this client token before."""

    def __init__(self, evaluation_id: str) -> None:
        super().__init__(f"The evaluation {evaluation_id} was started with this token before.")
        self.evaluation_id = evaluation_id


class ReviewChangedError(UsageError):
    """A report was reviewed further since somebody who wants to sign it looked at it."""


class PlaybookChangedError(UsageError):
    """A playbook was saved by somebody else since it was opened for editing."""


class UnknownIdError(UsageError):
    """No stored run or batch has an id that begins like this."""


class AmbiguousIdError(UsageError):
    """Several stored ids begin like this."""


class NothingFoundError(UsageError):
    """There is nothing to work on, such as no scenario in a folder."""


class InputError(SalvoError):
    """A file or a value is not valid."""


class NotUtf8Error(InputError):
    """A text file that is not UTF-8, but may be Windows-1252. It is not read as that unless the user says so."""


class Problem(NamedTuple):
    """A problem in a file. Lines and columns count from 1; `field` is empty where the whole file is meant."""

    file: str
    line: int
    column: int
    field: str
    message: str

    def __str__(self) -> str:
        what = f"{self.field}: {self.message}" if self.field else self.message
        return f"{self.file}:{self.line}:{self.column}: {what}"


class ScenarioFileError(InputError):
    """A scenario file or a tool file that is not valid. The message has one line per problem."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = list(problems)


class PlaybookError(InputError):
    """A playbook that is not valid. The message has one line per problem, with its JSON path."""

    def __init__(self, name: str, errors: Sequence[str]) -> None:
        super().__init__(
            "\n".join([f"{name} cannot be used as a playbook.", *errors]),
            hint="`byop validate FILE` shows these and the warnings.",
        )
        self.errors = list(errors)


class ProviderError(SalvoError):
    """The provider gave no usable answer."""

    is_permanent = False
    """Whether every other call with the same address, key and model would fail in the same way."""

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.request_id = request_id


class WireError(ProviderError):
    """No usable reply came back over the network. `attempts` holds the tries before the final one."""

    attempts: tuple[Any, ...] = ()
    may_succeed_later = True
    """Whether it is worth trying again."""
    span: Any = None
    """When it was requested and when it failed (CallSpan), in a recorded run and its replay."""


class UnreachableError(WireError):
    """The connection was refused or lost, the host is unknown, or its certificate is not trusted."""

    def __init__(
        self, message: str, *, hint: str = "", is_permanent: bool = False, may_succeed_later: bool = True
    ) -> None:
        super().__init__(message, hint=hint)
        self.is_permanent = is_permanent
        self.may_succeed_later = may_succeed_later


class ReplyTimeoutError(WireError):
    """The connection was made, but no answer came in time."""


class BrokenReplyError(WireError):
    """The answer broke off, or it cannot be decompressed."""


class ReplyTooLargeError(WireError):
    """The answer is larger than the limit."""

    may_succeed_later = False


class StreamCutError(WireError):
    """A streamed answer broke off. `partial` is what was passed on, as the JSON of a reply; None if nothing was."""

    may_succeed_later = False

    def __init__(self, message: str, *, hint: str = "", partial: bytes | None = None) -> None:
        super().__init__(message, hint=hint)
        self.partial = partial


class AnswerPendingError(WireError):
    """The question waits for a provider's batch, so there is no answer yet."""

    may_succeed_later = False


class NoBatchAnswerError(WireError):
    """A provider's batch has no answer to the question: it failed, expired or was cancelled, or is another one."""

    may_succeed_later = False


class AccessError(ProviderError):
    """No call with this key and model can succeed."""

    is_permanent = True


class MissingKeyError(AccessError):
    """There is no API key, so nothing was sent."""


class WrongKeyError(AccessError):
    """The provider does not accept the key, or the key has no access to this."""


class UnknownModelError(AccessError):
    """The provider does not know the model: its name is misspelt, or it was retired."""


class QuotaError(AccessError):
    """The account has no credit or quota left."""


class RateLimitError(ProviderError):
    """The rate limit still applies after all retries."""


class OverloadedError(ProviderError):
    """The provider still fails after all retries."""


class ContextTooLongError(ProviderError):
    """The conversation does not fit the model."""


class RequestRefusedError(ProviderError):
    """The provider refuses the request."""


class UndecidedBatchError(ProviderError):
    """It cannot be told yet whether a batch was started before a crash, so it is not started again."""


class BadReplyError(ProviderError):
    """The answer does not follow the protocol."""


class McpError(SalvoError):
    """An MCP server ended, did not answer in time, or broke the protocol; the agent under test is not at fault."""


class McpAnswerError(McpError):
    """The server answered a request with an error, whose text is `answer`."""

    def __init__(self, answer: str, *, code: int, server: str, method: str, data: Any = None) -> None:
        super().__init__(f"The MCP server {server} answered {method} with the error {code}: {answer}")
        self.answer = answer
        self.code = code
        self.data = data


class SimulatorError(SalvoError):
    """The user of a conversation gave no message that can be used. The agent under test is not at fault."""


class WorkerLostError(SalvoError):
    """A worker process ended, and the runs that it was making with it."""


class StoreError(SalvoError):
    """The store cannot be written, or a file in it cannot be read."""


class AlreadyStoredError(StoreError):
    """The store has this run or recording already. What is there was not changed."""


class LeaseLostError(StoreError):
    """Another process runs the evaluation now, so this one must not write."""


class DamagedEvaluationError(StoreError):
    """A stored evaluation has values that Salvo did not write."""

    def __init__(self, evaluation_id: str, problem: str, *, hint: str = "") -> None:
        super().__init__(f"The stored evaluation {evaluation_id} is damaged: {problem}.", hint=hint)
        self.evaluation_id = evaluation_id


class TapeError(SalvoError):
    """A recording cannot be used."""


class TapeCorruptError(TapeError):
    """The file is not a tape, or it is damaged."""


class TapeMissError(TapeError):
    """Nothing was recorded for this request."""


class NotReplayableError(TapeError):
    """The recording lacks the content, or the project the code, that a replay needs."""
