"""How fast one model of one provider may be called with one key. Pure: it is told the time.

Nothing is limited until the provider refuses a call with status 429. From then on calls are sent at a rate, which a
refusal cuts to 0.8, and which grows by 5 % at a time while calls wait for their turn. What was sent before a cut, or
before it can have had an effect, belongs to the same burst and does not cut the rate again. While calls are refused,
the provider accepts just as many as it allows: the rate is never set far below or above that number. Failures of the
server (5xx) only pause the growth, and so does a limit that the provider's own headers say is nearly reached.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from salvo.engine.rates.rate_headers import Headroom

_CUT = 0.8
_DEEP_CUT = 0.5
"""After the first refusal, when nothing is known yet, and where a cut was followed by another burst at once."""
_FIRST_LIMIT = 0.7
"""Of the rate at the first refusal. It has just grown, and most providers let a burst pass: their limit is below it."""
_CALLS_TO_SETTLE = 20
"""Accepted calls after a cut that show that it was deep enough."""
_GROWTH = 1.05
_FAST_GROWTH = 1.25
"""While the rate is less than half of the last one that was too high."""
_NEAR_LIMIT = 0.97
"""Up to this share of the last rate that was too high, the rate grows in quick steps."""
_STEP = (5, 0.25)
"""Accepted calls and seconds between two steps of growth."""
_PROBE = (80, 2.0)
"""The same above the last limit, where a step too far costs refused calls."""
_OUTGROWN = 1.3
"""From so many times the last rate that was too high, that says nothing any more: the provider allows more now."""
_MEASURED_SECONDS = 5.0
"""The calls accepted in this time say how much the provider accepts."""
_CALLS_TO_MEASURE = 10
_SETTLING_SECONDS = 0.5
"""Calls that are sent so soon after a cut may be refused because of what was sent before it."""
_CATCH_UP_SECONDS = 0.1
_LATE_SECONDS = 1.0
"""Turns of so long ago are made up for, if a call waited for them and this process was kept from sending it."""
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_LOWEST_RATE = 0.1
"""Calls per second: a prompt that a provider caches for five minutes is used again before it is dropped."""
_LOW_HEADROOM = 0.1

_NEVER = float("-inf")
_UNKNOWN = float("inf")


@dataclass(slots=True)
class RateController:
    """The rate of calls to one model, learnt from the answers. All times are seconds of a monotonic clock."""

    rate: float | None = None
    """Calls per second; None until the provider has refused a call."""
    accepted: int = 0
    refused: int = 0
    workers: int = 1
    """How many share the limit. Each sees a part of the answers, and learns from as many as all of them together."""
    settled_at: float = _NEVER
    """Only the refusal of a call that was sent later cuts the rate again."""
    _first_cut_at: float = _NEVER
    _limit: float = 0.0
    """The last rate that was too high, or what was accepted then; _UNKNOWN once the rate has outgrown it."""
    _latency: float = 0.0
    """Of late, by an exponential mean."""
    _next_at: float = _NEVER
    _paused_until: float = _NEVER
    _stepped_at: float = _NEVER
    _calls_since_step: int = 0
    _calls_since_cut: int = 0
    _sent_at: deque[float] = field(default_factory=lambda: deque(maxlen=1000))
    """When the last calls were sent, until the first one is refused."""
    _accepted_at: deque[float] = field(default_factory=lambda: deque(maxlen=10_000))

    def seconds_until_next(self, now: float) -> float:
        """Return how long the next call has to wait; 0 if it may be sent now."""
        return max(0.0, self._next_at - now, self._paused_until - now)

    def count_call(self, now: float, waits_since: float | None = None) -> None:
        """Count a call that is sent now, and has waited for its turn since then.

        A busy machine wakes a process late. Those turns are made up for: the provider had no calls meanwhile. An idle
        time allows no more than a small burst.
        """
        if self.rate is None:
            self._sent_at.append(now)
            return
        due = max(self._next_at, self._paused_until)
        has_waited = waits_since is not None and waits_since <= due
        longest = _LATE_SECONDS if has_waited else max(1 / self.rate, _CATCH_UP_SECONDS)
        self._next_at = max(due, now - longest) + 1 / self.rate

    def was_accepted(self, now: float, sent_at: float, *, is_waited_for: bool, headroom: Headroom | None) -> None:
        """Count an answer. The rate grows only if calls wait for their turn: otherwise it is not what limits them."""
        self.accepted += 1
        self._accepted_at.append(now)
        self._latency += ((now - sent_at) - self._latency) * (0.1 if self._latency else 1.0)
        if headroom is not None and headroom.share <= 0 and headroom.reset_seconds is not None:
            # Most limits are refilled continuously: a twentieth of the time brings back a twentieth of the calls.
            self._pause(now, headroom.reset_seconds / 20)
        is_nearly_reached = headroom is not None and headroom.share < _LOW_HEADROOM
        if self.rate is not None and is_waited_for and not is_nearly_reached:
            self._calls_since_step += 1
            self._calls_since_cut += 1
            self._grow(now, self.rate)

    def was_refused(self, now: float, sent_at: float, retry_after: float | None = None) -> None:
        """Count a 429, and cut the rate unless that was done for the same burst."""
        self.refused += 1
        if retry_after is not None:
            self._pause(now, retry_after)
        if sent_at >= self.settled_at:
            self._slow_down(now)

    def has_failed(self) -> None:
        """Let the rate grow later: a 5xx says nothing about it, but more calls would not help the server."""
        self._calls_since_step = min(self._calls_since_step, 0) - _STEP[0]

    def take_share(self, rate: float, settled_at: float, workers: int) -> None:
        """Use this rate, a share of what several workers may use together. One of the others may have been refused."""
        if self.rate is None:
            self._first_cut_at = self.settled_at
            self._limit = rate
        self.rate = max(_LOWEST_RATE, rate)
        self.settled_at = max(self.settled_at, settled_at)
        self.workers = workers

    def _grow(self, now: float, rate: float) -> None:
        calls, seconds = _STEP if rate * _GROWTH <= self._limit * _NEAR_LIMIT else _PROBE
        if self._calls_since_step * self.workers >= calls and now - self._stepped_at >= seconds:
            self._calls_since_step = 0
            self._stepped_at = now
            is_far_below = rate <= self._limit / 2 and self._limit != _UNKNOWN
            self.rate = rate * (_FAST_GROWTH if is_far_below else _GROWTH)
            if self.rate > self._limit * _OUTGROWN:
                self._limit = _UNKNOWN

    def _slow_down(self, now: float) -> None:
        if self.rate is None:
            sent_rate = self._sent_rate()
            rate = sent_rate * _DEEP_CUT
            self._limit = sent_rate * _FIRST_LIMIT
            self._first_cut_at = now
            self._accepted_at.clear()
            self._pause(now, _FIRST_PAUSE)
        else:
            rate = self.rate * (_CUT if self._calls_since_cut * self.workers >= _CALLS_TO_SETTLE else _DEEP_CUT)
            self._limit = self.rate
            if (accepted := self._accepted_rate(now)) is not None:
                self._limit = min(self.rate, accepted)
                rate = max(min(rate, accepted), accepted * _CUT)
        self.rate = max(_LOWEST_RATE, rate)
        self.settled_at = now + max(_SETTLING_SECONDS, self._latency)
        self._next_at = max(self._next_at, now)
        self._stepped_at = now
        self._calls_since_step = self._calls_since_cut = 0

    def _sent_rate(self) -> float:
        """Return how many calls per second were sent of late. The refusal may have taken longer than that to arrive."""
        if not self._sent_at:
            return 1.0
        recent = [time for time in self._sent_at if time >= self._sent_at[-1] - 1]
        return len(recent) / max(recent[-1] - recent[0], 0.5)

    def _accepted_rate(self, now: float) -> float | None:
        """Return how many calls per second were accepted of late; None where too few were to tell."""
        since = max(now - max(_MEASURED_SECONDS, 2 * self._latency), self._first_cut_at)
        while self._accepted_at and self._accepted_at[0] < since:
            self._accepted_at.popleft()
        if now - since < max(1.0, self._latency) or len(self._accepted_at) < _CALLS_TO_MEASURE:
            return None
        return len(self._accepted_at) / (now - since)

    def _pause(self, now: float, seconds: float) -> None:
        self._paused_until = max(self._paused_until, now + min(seconds, _LONGEST_PAUSE))
