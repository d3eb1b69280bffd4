"""What is asked for: plain data, complete before the first call, so that it can be stored, resumed and replayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from salvo.errors import UsageError
from salvo.playbooks.enums import Mode
from salvo.playbooks.evaluate.inputs import NAMES, Inputs
from salvo.playbooks.playbook.schema import Check, Playbook
from salvo.playbooks.report.report import ModelFingerprint

DEFAULT_SUBJECT = "default"
UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    report_id: str
    playbook: Playbook
    inputs: Inputs
    evaluator: str
    mode: Mode
    runs: int
    """How often each judged check is asked."""
    subject: str = DEFAULT_SUBJECT
    """The series that this text belongs to: drift is told within one."""
    producer: str | None = None
    """The AI that wrote the text, as whoever asks declares it."""

    @property
    def cases(self) -> list[tuple[Check, int]]:
        """Every question to ask: each judged check, each run of it."""
        return [(check, run) for check in self.playbook.judged for run in range(1, self.runs + 1)]


def new_request(
    report_id: str,
    playbook: Playbook,
    inputs: Inputs,
    evaluator: str,
    *,
    mode: Mode = Mode.FULL,
    runs: int | None = None,
    subject: str = DEFAULT_SUBJECT,
    producer: str | None = None,
) -> EvaluationRequest:
    """What somebody asks for anew; refused where the playbook cannot be run so."""
    if missing := [name for name in playbook.required_inputs if not getattr(inputs, name)]:
        needed = " and ".join(NAMES[name].lower() for name in missing)
        raise UsageError(
            f"The playbook {playbook.id} cannot be run without {needed}.", hint="Give it, or choose another playbook."
        )
    return EvaluationRequest(
        report_id, playbook, inputs, evaluator, mode, runs_for(mode, playbook, runs), subject, producer
    )


def runs_for(mode: Mode, playbook: Playbook, asked: int | None) -> int:
    """How often to ask: once in a screening, else as often as the playbook says at the least."""
    if mode is Mode.SCREENING:
        if asked not in (None, 1):
            raise UsageError(
                f"A screening asks each check once, not {asked} times.", hint="The mode full asks as often as you like."
            )
        return 1
    least = playbook.variance.min_runs
    if asked is not None and asked < least:
        raise UsageError(
            f"A full evaluation asks each check at least {least} times, not {asked}.",
            hint="For one quick run, which cannot be compared over time, choose the mode screening.",
        )
    return least if asked is None else asked


def producer_fingerprint(declared: str | None) -> ModelFingerprint:
    """What was said about the producer; what was not said is undisclosed."""
    provider, slash, model = (declared or "").partition("/")
    return ModelFingerprint(
        declared_model_name=(model if slash else declared) or UNKNOWN,
        declared_model_version=UNKNOWN,
        provider=provider if slash else UNKNOWN,
        routing_or_mode=UNKNOWN,
        temperature=UNKNOWN,
        system_prompt_id=UNKNOWN,
    )
