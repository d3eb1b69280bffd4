"""The interface of a judge: `judge` answers one run of one check."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from salvo.engine.wire.base import Wire
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.inputs import Inputs, Span
from salvo.playbooks.evaluate.patterns import Hit
from salvo.playbooks.evaluate.votes import JudgeAnswer
from salvo.playbooks.playbook.definition import Check
from salvo.playbooks.report.report import Calibration
from salvo.records import record


@record
class Case:
    """One run of one check: everything that a judge gets."""

    check: Check
    inputs: Inputs
    run: int
    hits: Sequence[Hit] = ()
    """Where the check's pattern hints occur in the AI output."""
    addressed: Sequence[Span] = ()
    """Blocks of the AI output that address the evaluator or are hidden. They are reported, and are no evidence."""

    @property
    def lane(self) -> str:
        """Return the name under which the calls are recorded. It never depends on timing."""
        return f"check/{self.check.id}/run-{self.run}"


class Judge(ABC):
    name: str
    """The evaluator's name, such as "rules" or "anthropic/claude-sonnet-4-6"."""
    provider: str | None
    """The provider of the model; None for a judge that calls no model."""
    prompt_id: str
    """Changes whenever the instructions or the rules of the judge change."""
    deterministic: bool
    """Whether it always gives the same answer to the same question."""

    def track_record(self) -> str:
        """Return a sentence on how often it agreed with independent labels; empty if that was not measured."""
        return ""

    def calibration(self, check_id: str, result: Result) -> Calibration | None:  # noqa: ARG002 - for judges that have one
        """Return how often this result of this check agreed with independent labels; None if that was not measured."""
        return None

    def goes_first(self, inputs: Inputs) -> bool:  # noqa: ARG002 - for judges with a cache
        """Return whether one call should go first, so that the others can read the provider's cache."""
        return False

    async def close(self) -> None:  # noqa: B027 - for judges that have something to stop
        """Stop what is still being computed, for an evaluation that was stopped."""

    @abstractmethod
    async def judge(self, case: Case, wire: Wire | None) -> JudgeAnswer:
        """Answer one check once. An error of the provider is an answer without a result, not an exception.

        `wire` reaches the provider; it is None for a judge that has none.
        """
