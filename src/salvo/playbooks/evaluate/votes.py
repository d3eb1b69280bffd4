"""A vote: a judge's answer to one run of one check, with the metrics of the calls behind it."""

from __future__ import annotations

from dataclasses import field

from salvo.engine.chat.base import Usage
from salvo.engine.wire.tape import Exchange
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.inputs import Span
from salvo.records import record


@record
class RawCitation:
    """A quote as the judge gave it, before it is located in the text."""

    span: str
    context: str = ""
    offsets: Span | None = None
    """Where it is, if the judge says so; otherwise it is searched in the text."""


@record
class CallMetrics:
    """What is known of the calls behind an answer; None means unknown or not applicable."""

    model: str | None = None
    """As the provider returned it; it may be more precise than the requested one."""
    system_fingerprint: str | None = None
    temperature: float | None = None
    """What was sent; None if the model takes none."""
    usage: Usage | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    calls: int = 0
    batched: bool = False
    """Whether the answer came through the provider's batch API, at half the price."""


@record
class JudgeAnswer:
    """What a judge answered. `result` is None if there is no valid answer; `problem` then says why."""

    result: Result | None
    confidence: float | None = None
    citations: tuple[RawCitation, ...] = ()
    notes: str = ""
    rule: str = ""
    """The rule that fired, if the judge works by rules."""
    raw: str = ""
    """The answer as it was received."""
    problem: str = ""
    abstained: bool = False
    """It does not know the check, and judged nothing."""
    hopeless: bool = False
    """No other call can succeed: the key is wrong, the quota is used up, the model does not exist."""
    measured: CallMetrics = field(default_factory=CallMetrics)


@record
class Vote:
    """The answer to one run of one check. A replay answers from `exchanges`."""

    check_id: str
    run: int
    answer: JudgeAnswer
    exchanges: tuple[Exchange, ...] = ()

    @property
    def key(self) -> tuple[str, int]:
        return self.check_id, self.run
