"""RetryingWire: tries again what may go better the next time, and says so while it waits."""

from __future__ import annotations

import email.utils
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC

from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.wire.base import Attempt, Wire, WireReply, WireRequest
from salvo.errors import ReplyTooLargeError, WireError

_TRY_AGAIN = frozenset({408, 409, 429})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Seconds, and how often. `max_seconds` bounds one call from its first try to the start of its last."""

    max_attempts: int = 6
    max_seconds: float = 300.0
    first_wait: float = 0.5
    longest_wait: float = 30.0


@dataclass(frozen=True, slots=True)
class Wait:
    """What a listener is told before each wait, so that a display can say "rate limited, retrying in 4 s"."""

    request: WireRequest
    attempt: int
    status: int | None
    problem: str
    seconds: float

    def __str__(self) -> str:
        reason = "rate limited" if self.status == 429 else self.problem
        return f"{reason}, retrying in {self.seconds:.0f} s" if self.seconds >= 1 else f"{reason}, retrying"


class RetryingWire:
    """Around another wire. The reply, or the error, that it ends with carries every attempt before it."""

    def __init__(
        self,
        inner: Wire,
        *,
        policy: RetryPolicy | None = None,
        clock: Clock | None = None,
        listener: Callable[[Wait], None] | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self._inner = inner
        self._policy = policy or RetryPolicy()
        self._clock = clock or SystemClock()
        self._listener = listener
        self._chance = chance or random.Random()  # noqa: S311 - spreads retries out; nothing secret hangs on it

    async def send(self, request: WireRequest) -> WireReply:
        attempts: tuple[Attempt, ...] = ()
        started = self._clock.monotonic()
        while True:
            tried = self._clock.monotonic()
            outcome = await self._try(request)
            now = self._clock.monotonic()
            wait = self._wait_after(outcome, len(attempts) + 1, now - started)
            if wait is None:
                return _ended(outcome, attempts)
            status, problem = _told(outcome)
            attempts += (Attempt(status, problem, seconds=now - tried, waited=wait),)
            if self._listener is not None:
                self._listener(Wait(request, len(attempts), status, problem, wait))
            await self._clock.sleep(wait)

    async def _try(self, request: WireRequest) -> WireReply | WireError:
        try:
            return await self._inner.send(request)
        except WireError as error:
            return error

    def _wait_after(self, outcome: WireReply | WireError, attempt: int, elapsed: float) -> float | None:
        """How long to wait before the next try; None where this outcome is final."""
        policy = self._policy
        if attempt >= policy.max_attempts or not _may_go_better(outcome):
            return None
        asked = _asked_wait(outcome, self._clock) if isinstance(outcome, WireReply) else None
        if asked is None:
            longest = min(policy.longest_wait, policy.first_wait * 2 ** (attempt - 1))
            wait = longest * self._chance.uniform(0.5, 1.0)
        else:
            # A little later than asked: all who were told the same must not come back in the same moment.
            wait = asked * self._chance.uniform(1.0, 1.1)
        return wait if elapsed + wait <= policy.max_seconds else None


def _may_go_better(outcome: WireReply | WireError) -> bool:
    if isinstance(outcome, WireError):
        return not isinstance(outcome, ReplyTooLargeError)
    if outcome.status < 500 and outcome.status not in _TRY_AGAIN:
        return False
    # Some 429 say that the account is empty, which no wait mends.
    return outcome.headers.get("x-should-retry") != "false" and b"insufficient_quota" not in outcome.body


def _asked_wait(reply: WireReply, clock: Clock) -> float | None:
    """What the provider asked for: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    milliseconds = _number(reply.headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = reply.headers.get("retry-after")
    seconds = _number(asked)
    if seconds is not None or asked is None:
        return seconds
    try:
        until = email.utils.parsedate_to_datetime(asked)
    except ValueError:
        return None
    if until.tzinfo is None:  # "-0000" means UTC of an unknown place
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - clock.now()).total_seconds())


def _number(text: str | None) -> float | None:
    """A finite number that is not negative; a provider's header is not to be trusted with more."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _told(outcome: WireReply | WireError) -> tuple[int | None, str]:
    if isinstance(outcome, WireError):
        return None, outcome.message
    return outcome.status, f"status {outcome.status}"


def _ended(outcome: WireReply | WireError, attempts: tuple[Attempt, ...]) -> WireReply:
    if isinstance(outcome, WireReply):
        return replace(outcome, attempts=attempts) if attempts else outcome
    outcome.attempts = attempts
    if attempts:
        outcome.message = f"{outcome.message} It was tried {len(attempts) + 1} times."
    raise outcome
