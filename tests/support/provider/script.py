"""What the model answers: the vocabulary in which a test writes its script."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from tests.support.provider.request import ProviderRequest
from tests.support.provider.tokens import Usage

Stop = Literal["end", "length", "refusal", "context"]


@dataclass(frozen=True, slots=True)
class Use:
    """A call of a tool. `arguments` as a string are sent as the model wrote them, malformed or not.

    Only Chat Completions can carry a malformed string. Messages always sends an object: there a string goes
    out parsed if it is a JSON object, and else as `{"INVALID_JSON": "..."}`, the wrapping Anthropic documents.
    """

    name: str
    arguments: Mapping[str, Any] | str


class Terms(TypedDict, total=False):
    """How an answer is given, apart from what it says."""

    thinking: str | None
    """Before the answer: a signed `thinking` block, or `reasoning_content` as vLLM and DeepSeek send it."""
    stop: Stop
    """Chat Completions has no word for "context" and says "length"; a "refusal" is there a message in the
    field `refusal`, or without text the finish reason `content_filter`."""
    usage: Usage | Mapping[str, Any] | None
    """Instead of the counted usage; a mapping goes out as it is, and an empty one leaves `usage` out."""
    model: str | None
    """Instead of an echo of the model asked for."""
    fingerprint: str | None
    delay: float
    """Seconds on top of the provider's latency."""
    cut: Literal["closed", "error"] | None
    """A stream ends in the middle: the connection is closed, or the API reports an error. A whole answer is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer with status 200: words, tool calls, or both."""

    text: str = ""
    uses: tuple[Use, ...] = ()
    thinking: str | None = None
    stop: Stop = "end"
    usage: Usage | Mapping[str, Any] | None = None
    model: str | None = None
    fingerprint: str | None = "fp_loopback"
    delay: float = 0.0
    cut: Literal["closed", "error"] | None = None


class Say(Reply):
    """The model says something, and its turn is over."""

    __slots__ = ()

    def __init__(self, text: str, **terms: Unpack[Terms]) -> None:
        super().__init__(text=text, **terms)


class UseTools(Reply):
    """The model calls tools, all of them at once, perhaps after a word."""

    __slots__ = ()

    def __init__(self, *uses: Use, text: str = "", **terms: Unpack[Terms]) -> None:
        super().__init__(uses=uses, text=text, **terms)


FaultKind = Literal[
    # What the API itself answers, in its own JSON
    "unauthorized",
    "unknown_model",
    "refused_parameter",
    "rate_limited",
    "quota",
    "server_error",
    "overloaded",
    "context_too_long",
    # What happens between the API and the client
    "hang",
    "hang_up",
    "cut",
    "invalid_json",
    "empty",
    "huge",
    "redirect",
    "html",
    "body",
    "drip",
    "bad_gzip",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Anything but a good answer. Each protocol has its own status and words for it."""

    kind: FaultKind
    status: int = 200
    parameter: str = ""
    retry_after: float | str | None = None
    retry_after_ms: float | None = None
    size: int = 0
    url: str = ""
    content: bytes = b""
    delay: float = 0.0

    @classmethod
    def unauthorized(cls) -> "Fault":
        return cls(kind="unauthorized")

    @classmethod
    def unknown_model(cls) -> "Fault":
        return cls(kind="unknown_model")

    @classmethod
    def refused_parameter(cls, parameter: str) -> "Fault":
        return cls(kind="refused_parameter", parameter=parameter)

    @classmethod
    def rate_limited(cls, retry_after: float | str | None = None, retry_after_ms: float | None = None) -> "Fault":
        """A string goes into the header as it is: some proxies send a date."""
        return cls(kind="rate_limited", retry_after=retry_after, retry_after_ms=retry_after_ms)

    @classmethod
    def quota(cls) -> "Fault":
        return cls(kind="quota")

    @classmethod
    def server_error(cls, status: int = 500) -> "Fault":
        return cls(kind="server_error", status=status)

    @classmethod
    def overloaded(cls) -> "Fault":
        return cls(kind="overloaded")

    @classmethod
    def context_too_long(cls) -> "Fault":
        return cls(kind="context_too_long")

    @classmethod
    def hang(cls) -> "Fault":
        """Takes the request and never answers, until the client or the provider closes."""
        return cls(kind="hang")

    @classmethod
    def hang_up(cls) -> "Fault":
        """Closes the connection without a byte, as a server does that lets go of a kept-alive connection."""
        return cls(kind="hang_up")

    @classmethod
    def cut(cls) -> "Fault":
        """Headers and half of the body they promise, then the connection is closed."""
        return cls(kind="cut")

    @classmethod
    def invalid_json(cls) -> "Fault":
        return cls(kind="invalid_json")

    @classmethod
    def empty(cls) -> "Fault":
        return cls(kind="empty")

    @classmethod
    def huge(cls, size: int) -> "Fault":
        """A body of that many bytes, streamed without its length being said before."""
        return cls(kind="huge", size=size)

    @classmethod
    def redirect(cls, url: str, status: int = 307) -> "Fault":
        return cls(kind="redirect", url=url, status=status)

    @classmethod
    def html(cls, status: int = 502) -> "Fault":
        """A proxy's error page, where JSON was expected."""
        return cls(kind="html", status=status)

    @classmethod
    def body(cls, content: bytes) -> "Fault":
        """Status 200 with this body, whatever it is."""
        return cls(kind="body", content=content)

    @classmethod
    def drip(cls) -> "Fault":
        """A body without an end, one byte every tenth of a second."""
        return cls(kind="drip")

    @classmethod
    def bad_gzip(cls, content: bytes = b"") -> "Fault":
        """A body that is said to be gzip data: this one, or else one that is not compressed at all."""
        return cls(kind="bad_gzip", content=content)


Answer: TypeAlias = Say | UseTools | Fault
Script: TypeAlias = Callable[[ProviderRequest], Answer]
Step: TypeAlias = Answer | Script
Scripted: TypeAlias = Step | Sequence[Step]


def always(step: Step) -> Script:
    return lambda request: _take(step, request)


def by_turn(*steps: Step) -> Script:
    """The first step opens a conversation, the next one answers its second turn; the last one repeats.

    It holds no state, so any number of conversations can run through it at once.
    """
    last = len(steps) - 1
    return lambda request: _take(steps[min(request.turn, last)], request)


def in_order(*steps: Step) -> Script:
    """The steps answer requests in the order they arrive, whoever sends them; the last one repeats."""
    last = len(steps) - 1
    arrivals = count()  # next() on it is atomic, which makes the script safe to share between providers
    return lambda request: _take(steps[min(next(arrivals), last)], request)


def as_script(scripted: Scripted) -> Script:
    """A bare answer means always that, a sequence means in that order."""
    return in_order(*scripted) if isinstance(scripted, Sequence) else always(scripted)


def _take(step: Step, request: ProviderRequest) -> Answer:
    return step(request) if callable(step) else step
