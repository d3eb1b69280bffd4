"""RetryingWire: retries requests that may succeed the next time, and reports each wait."""

from __future__ import annotations

import email.utils
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC

from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.wire.base import Attempt, Wire, WireReply, WireRequest
from salvo.errors import ReplyTimeoutError, WireError
from salvo.records import record

_RETRY_STATUSES = frozenset({408, 409, 429})


@record
class RetryPolicy:
    """Limits for retries. `max_seconds` is from the first try of a call to the start of its last.

    `retry_timeouts` is off where a user has set how long a call may take.
    """

    max_attempts: int = 6
    max_seconds: float = 300.0
    first_wait: float = 0.5
    longest_wait: float = 30.0
    retry_timeouts: bool = True


@record
class Wait:
    """A wait before a retry. As text it reads "rate limited, retrying in 4 s"."""

    request: WireRequest
    attempt: int
    status: int | None
    problem: str
    seconds: float
    lost: float = 0.0
    """How long the try took that failed."""

    def __str__(self) -> str:
        reason = "rate limited" if self.status == 429 else self.problem
        return f"{reason}, retrying in {self.seconds:.0f} s" if self.seconds >= 1 else f"{reason}, retrying"


_JITTER = random.Random()  # noqa: S311 - jitter, not a secret
"""Shared by all wires: each run has a wire of its own, and seeding a generator takes longer than the rest of it."""


class RetryingWire:
    """A wire around another wire. Its replies and errors contain the attempts before the final one."""

    def __init__(
        self,
        inner: Wire,
        *,
        policy: RetryPolicy | None = None,
        clock: Clock | None = None,
        listener: Callable[[Wait], None] | None = None,
        may_retry: Callable[[], bool] | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self._inner = inner
        self._policy = policy or RetryPolicy()
        self._clock = clock or SystemClock()
        self._listener = listener
        self._may_retry = may_retry
        self._chance = chance or _JITTER

    async def send(self, request: WireRequest) -> WireReply:
        attempts: tuple[Attempt, ...] = ()
        started = self._clock.monotonic()
        while True:
            attempt_started = self._clock.monotonic()
            outcome: WireReply | WireError
            try:
                outcome = await self._inner.send(request)
            except WireError as error:
                outcome = error
            now = self._clock.monotonic()
            wait = self._wait_after(outcome, len(attempts) + 1, now - started)
            if wait is None:
                return _finish(outcome, attempts)
            status = outcome.status
            problem = outcome.message if isinstance(outcome, WireError) else f"status {status}"
            attempts += (Attempt(status, problem, seconds=now - attempt_started, waited=wait),)
            if self._listener is not None:
                self._listener(Wait(request, len(attempts), status, problem, wait, now - attempt_started))
            await self._clock.sleep(wait)

    def _wait_after(self, outcome: WireReply | WireError, attempt: int, elapsed: float) -> float | None:
        """Return the seconds to wait before the next try; None where this outcome is final."""
        policy = self._policy
        if attempt >= policy.max_attempts or not _may_succeed_later(outcome):
            return None
        if isinstance(outcome, ReplyTimeoutError) and not policy.retry_timeouts:
            return None
        if self._may_retry is not None and not self._may_retry():
            return None
        requested = _requested_wait(outcome, self._clock) if isinstance(outcome, WireReply) else None
        if requested is None:
            longest = min(policy.longest_wait, policy.first_wait * 2 ** (attempt - 1))
            wait = longest * self._chance.uniform(0.5, 1.0)
        else:
            # A little later than requested, so that all clients do not come back at the same moment.
            wait = requested * self._chance.uniform(1.0, 1.1)
        return wait if elapsed + wait <= policy.max_seconds else None


def _may_succeed_later(outcome: WireReply | WireError) -> bool:
    if isinstance(outcome, WireError):
        return outcome.may_succeed_later
    if outcome.status < 500 and outcome.status not in _RETRY_STATUSES:
        return False
    # Some 429 replies mean that the account has no credit, which no wait changes.
    return outcome.headers.get("x-should-retry") != "false" and b"insufficient_quota" not in outcome.body


def requested_seconds(reply: WireReply) -> float | None:
    """Return the wait that the provider requests as a number: `retry-after-ms`, or `retry-after`."""
    milliseconds = _number(reply.headers.get("retry-after-ms"))
    return _number(reply.headers.get("retry-after")) if milliseconds is None else milliseconds / 1000


def _requested_wait(reply: WireReply, clock: Clock) -> float | None:
    """Return the wait that the provider requests as a number or as a date."""
    seconds = requested_seconds(reply)
    retry_after = reply.headers.get("retry-after")
    if seconds is not None or retry_after is None:
        return seconds
    try:
        until = email.utils.parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if until.tzinfo is None:  # "-0000" means UTC with an unknown local zone
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - clock.now()).total_seconds())


def _number(text: str | None) -> float | None:
    """Return a finite number that is not negative; None for anything else that a header may contain."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _finish(outcome: WireReply | WireError, attempts: tuple[Attempt, ...]) -> WireReply:
    if isinstance(outcome, WireReply):
        return replace(outcome, attempts=attempts) if attempts else outcome
    outcome.attempts = attempts
    if attempts:
        outcome.message = f"{outcome.message} It was tried {len(attempts) + 1} times."
    raise outcome
