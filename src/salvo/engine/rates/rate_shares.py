"""How several workers share the rate that a provider accepts from all of them. Pure; the data can be sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from salvo.records import record

_RECENT_SECONDS = 1.0
_SAME_BURST_SECONDS = 0.3


@record
class RateState:
    """What one worker knows of a model: how many calls per second it sends, and how long ago that was cut."""

    endpoint: str
    model: str
    rate: float
    settled_seconds: float
    """Since when refusals are due to this rate; negative if they are not yet. Not a time: clocks differ."""

    @property
    def key(self) -> tuple[str, str]:
        return self.endpoint, self.model

    @property
    def name(self) -> str:
        return self.model or self.endpoint

    def after(self, seconds: float) -> RateState:
        """Return the same state so many seconds later."""
        return replace(self, settled_seconds=self.settled_seconds + seconds)

    def times(self, count: int) -> RateState:
        return replace(self, rate=self.rate * count)

    def as_plain(self) -> list[Any]:
        return [self.endpoint, self.model, self.rate, self.settled_seconds]

    @classmethod
    def from_plain(cls, value: Sequence[Any]) -> RateState:
        endpoint, model, rate, settled_seconds = value
        return cls(str(endpoint), str(model), float(rate), float(settled_seconds))


def equal_shares(workers: Iterable[Sequence[RateState]]) -> list[RateState]:
    """Return the share of each worker in what all of them may send, for each model that any of them limits.

    A worker that has not been refused yet is not counted: it learns its rate from its share. After a cut, the rates of
    those who were refused count alone, and so does the time of the newest cut: one burst cuts each worker's rate once.
    """
    by_model: dict[tuple[str, str], list[RateState]] = {}
    for rates in workers:
        for state in rates:
            by_model.setdefault(state.key, []).append(state)
    return [_share(states) for states in by_model.values()]


def _share(states: Sequence[RateState]) -> RateState:
    newest = min(state.settled_seconds for state in states)
    if newest < _RECENT_SECONDS:
        states = [state for state in states if state.settled_seconds <= newest + _SAME_BURST_SECONDS]
    return replace(states[0], rate=sum(state.rate for state in states) / len(states), settled_seconds=newest)
