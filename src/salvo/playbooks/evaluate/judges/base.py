"""What a judge is: one method, which answers one check once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from salvo.engine.wire.base import Wire
from salvo.playbooks.evaluate.inputs import Inputs, Span
from salvo.playbooks.evaluate.patterns import Hit
from salvo.playbooks.evaluate.votes import JudgeAnswer
from salvo.playbooks.playbook.schema import Check


@dataclass(frozen=True, slots=True)
class Case:
    """One run of one check: everything a judge is shown."""

    check: Check
    inputs: Inputs
    run: int
    hits: Sequence[Hit] = ()
    """Where the check's pattern hints occur in the AI output."""
    addressed: Sequence[Span] = ()
    """Passages of the AI output that address the evaluator: reported, and of no weight."""

    @property
    def lane(self) -> str:
        """Who asks, on the tape: never dependent on timing."""
        return f"check/{self.check.id}/run-{self.run}"


class Judge(Protocol):
    @property
    def name(self) -> str:
        """As a person names it: "rules", "anthropic/claude-sonnet-4-6"."""
        ...

    @property
    def provider(self) -> str | None:
        """Who serves the model; None where nobody does."""
        ...

    @property
    def prompt_id(self) -> str:
        """Changes whenever what the judge goes by changes: its instructions, or its rules."""
        ...

    @property
    def deterministic(self) -> bool:
        """Whether it agrees with itself by construction."""
        ...

    def goes_first(self, inputs: Inputs) -> bool:
        """Whether one call should go before the others, because they can then read its cache."""
        ...

    async def judge(self, case: Case, wire: Wire | None) -> JudgeAnswer:
        """Answer one check once. An error of the provider is an answer without a result, not an exception.

        `wire` reaches the provider; it is None for a judge that has none.
        """
        ...
