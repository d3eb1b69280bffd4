"""What follows from a report: risks, next steps, and a prompt that asks the producing AI to mend what failed. Pure.

Words about the text and about what a person might do next; never about whether anything is lawful.
"""

from __future__ import annotations

from collections.abc import Sequence

from salvo.playbooks.enums import DRIFT, RUN_VARIANCE, Mode, Result
from salvo.playbooks.report.report import ArtifactFinding, CheckResult, DriftSummary

_QUOTED = 160
"""Characters of a quote that a sentence shows."""

_KEEP = "Nothing failed under this playbook. Save the report as a baseline, and evaluate again over time."
_LOOK_AGAIN = "Nothing failed in this one look. Evaluate in full mode for a report that can be compared over time."

# For the checks of the starter playbook; `{quote}` is the first passage the verdict rests on.
_STEPS = {
    "assumption_disclosure": "Have the author state the assumptions behind {quote}: jurisdiction, facts, role.",
    "certainty_language": "Have a lawyer confirm, qualify or strike {quote} before anyone relies on it.",
    "escalation_signal": "Name who must review {quote}, and under which conditions.",
    "unchecked_areas_disclosure": "Ask what was not examined before anyone takes {quote} for the whole picture.",
    RUN_VARIANCE: "Do not decide on single verdicts: evaluate again with more runs, or with another evaluator.",
    DRIFT: "Compare this text with its baseline, and find out what changed before it is relied on.",
}
_MENDS = {
    "assumption_disclosure": "State, before any conclusion, the assumptions it rests on: the jurisdiction and the "
    "governing law, the facts you took as given, whose position you take, and how you read defined terms.",
    "certainty_language": "Give every legal conclusion its qualifier: under which law, on which facts, with what "
    "uncertainty. Remove absolute statements that you cannot support.",
    "escalation_signal": "For each uncertain or high-risk point, say who should review it (for example employment "
    "counsel or the data protection officer), what exactly, and when.",
    "unchecked_areas_disclosure": "Add a section that lists concretely what you did not check and which documents or "
    "facts were missing.",
}
_BEFORE = (
    "Please revise the text you wrote. Change only what the points below ask for, keep everything else word for word, "
    "and do not invent facts: where something is not known to you, say so."
)
_AFTER = "Return the whole revised text, and after it a list of the changes you made."


def key_risks(checks: Sequence[CheckResult], findings: Sequence[ArtifactFinding]) -> tuple[str, ...]:
    failed = [
        f"{check.check_id} ({check.severity} severity) failed: {check.notes}"
        for check in checks
        if check.result is Result.FAIL
    ]
    # Odd characters are worth a finding; text that addresses the evaluator is a risk.
    return (*failed, *(finding.message for finding in findings if finding.location is not None and finding.span))


def next_steps(checks: Sequence[CheckResult], drift: DriftSummary, mode: Mode, *, incomplete: bool) -> tuple[str, ...]:
    """One concrete sentence for each check that failed, then for what is open."""
    steps = [_step(check) for check in checks if check.result is Result.FAIL]
    if incomplete:
        steps.append("Resume the evaluation (byop run --resume): some runs gave no vote, and only those are asked for.")
    unclear = [check.check_id for check in checks if _is_unclear(check)]
    if unclear:
        steps.append(f"Read the text yourself for what the evaluator could not decide: {', '.join(unclear)}.")
    if drift.kind == "undetermined":
        steps.append("Evaluate the new text with the former evaluator, so that the two changes can be told apart.")
    if not steps:
        steps.append(_LOOK_AGAIN if mode is Mode.SCREENING else _KEEP)
    return tuple(steps)


def mending_prompt(checks: Sequence[CheckResult]) -> str | None:
    """Ready to be pasted to the AI that wrote the text; None where nothing it could mend failed."""
    failed = [check for check in checks if check.result is Result.FAIL and check.decided_by != "derived"]
    if not failed:
        return None
    mends = (_mend(number, check) for number, check in enumerate(failed, start=1))
    return "\n\n".join((_BEFORE, *mends, _AFTER))


def _step(check: CheckResult) -> str:
    quote = _quote(check)
    if check.check_id in _STEPS:
        return _STEPS[check.check_id].format(quote=quote)
    return f"Have a person look at {quote}, with this question: {check.question}"


def _quote(check: CheckResult) -> str:
    if not check.evidence_citations:
        return "the text"
    first = check.evidence_citations[0]
    span = " ".join(first.span.split())
    cut = span if len(span) <= _QUOTED else f"{span[:_QUOTED].rstrip()} …"
    where = f" (line {first.location.line})" if first.location else ""
    return f"“{cut}”{where}"


def _is_unclear(check: CheckResult) -> bool:
    return check.result is Result.INDETERMINATE and check.decided_by != "derived" and not check.incomplete


def _mend(number: int, check: CheckResult) -> str:
    asked = _MENDS.get(check.check_id, f"Revise it so that this can be answered well: {check.question}")
    quotes = "\n".join(f"   > {' '.join(citation.span.split())}" for citation in check.evidence_citations)
    return f"{number}. {asked}" + (f"\n   It concerns:\n{quotes}" if quotes else "")
