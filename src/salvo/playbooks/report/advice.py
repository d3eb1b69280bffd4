"""What follows from a report: key risks, next steps, and a prompt that asks the producing AI for a revision. Pure.

The sentences are about the text and what a person might do next, never about whether anything is lawful.
"""

from __future__ import annotations

from collections.abc import Sequence

from salvo.playbooks.enums import DRIFT, RUN_VARIANCE, Mode, Result
from salvo.playbooks.report.report import ArtifactFinding, CheckResult, DriftSummary

_QUOTE_LENGTH = 160
"""Characters of a quote that a sentence shows."""

_SAVE_BASELINE = "No check failed. Save this report as a baseline and evaluate again over time."
_NAME_SUBJECT = "No check failed. To compare later texts with this one, evaluate it under a subject of its own."
_RESUME = (
    "Correct what kept calls from giving a usable answer, then resume the evaluation, which requests only the missing "
    "votes, or start it again."
)
_RUN_IN_FULL = (
    "No check failed in this screening. Run a full evaluation to get a report that can be compared over time."
)

# For the checks of the starter playbook; `{quote}` is the first quoted passage, `{baseline}` what it is compared with.
_STEPS = {
    "assumption_disclosure": "Have the author state the assumptions behind {quote}: jurisdiction, facts, role.",
    "certainty_language": "Have a lawyer confirm, qualify or strike {quote} before anyone relies on it.",
    "escalation_signal": "Name who must review {quote}, and under which conditions.",
    "unchecked_areas_disclosure": "Ask what was not examined before anyone treats the text as complete.",
    RUN_VARIANCE: "Do not rely on individual results: evaluate again with more runs or with another evaluator.",
    DRIFT: "Compare this report with {baseline} and find out what changed before anyone relies on the text.",
}
_REVISIONS = {
    "assumption_disclosure": "State, before any conclusion, the assumptions it rests on: the jurisdiction and the "
    "governing law, the facts you took as given, whose position you take, and how you read defined terms.",
    "certainty_language": "Qualify every legal conclusion: under which law, on which facts and with what "
    "uncertainty. Remove absolute statements that you cannot support.",
    "escalation_signal": "For each uncertain or high-risk point, say who should review it (for example employment "
    "counsel or the data protection officer), what exactly, and when.",
    "unchecked_areas_disclosure": "Add a section that lists concretely what you did not check and which documents or "
    "facts were missing.",
}
_BEFORE = (
    "Please revise the text you wrote. Change only what the points below ask for, keep everything else word for word, "
    "and do not invent facts: if you do not know something, say so."
)
_AFTER = "Return the complete revised text, followed by a list of the changes you made."


def key_risks(checks: Sequence[CheckResult], findings: Sequence[ArtifactFinding]) -> tuple[str, ...]:
    failed = [
        f"{check.check_id} ({check.severity} severity) failed: {check.notes}"
        for check in checks
        if check.result is Result.FAIL
    ]
    # Unusual characters are only findings; text that addresses the evaluator is also a risk.
    return (*failed, *(finding.message for finding in findings if finding.location is not None and finding.span))


def next_steps(
    checks: Sequence[CheckResult], drift: DriftSummary, mode: Mode, *, incomplete: bool, named_subject: bool
) -> tuple[str, ...]:
    """Return one concrete sentence for each failed check, then one for each open point."""
    steps = [_step(check, drift) for check in checks if check.result is Result.FAIL]
    if incomplete:
        steps.append(_RESUME)
    unclear = [check.check_id for check in checks if is_unclear(check)]
    if unclear:
        steps.append(undecided_step(unclear))
    if drift.same_text is False and drift.same_judge is False:
        steps.append("Evaluate the new text with the previous evaluator to tell the two changes apart.")
    if not steps:
        in_full = _SAVE_BASELINE if named_subject else _NAME_SUBJECT
        steps.append(_RUN_IN_FULL if mode is Mode.SCREENING else in_full)
    return tuple(steps)


def mending_prompt(checks: Sequence[CheckResult]) -> str | None:
    """Return a prompt for the AI that wrote the text, or None if nothing failed that a revision could fix."""
    failed = [check for check in checks if check.result is Result.FAIL and check.decided_by != "derived"]
    if not failed:
        return None
    points = (_revision_point(number, check) for number, check in enumerate(failed, start=1))
    return "\n\n".join((_BEFORE, *points, _AFTER))


def baseline_name(drift: DriftSummary) -> str:
    """Return what a report is compared with: nobody has to have saved it as a baseline."""
    return "the newest earlier report" if drift.baseline_saved is False else "its baseline"


def _step(check: CheckResult, drift: DriftSummary) -> str:
    quote = _quote(check)
    if check.check_id in _STEPS:
        return _STEPS[check.check_id].format(quote=quote, baseline=baseline_name(drift))
    return f"Have a person review {quote} with this question in mind: {check.question}"


def _quote(check: CheckResult) -> str:
    if not check.evidence_citations:
        return "the text"
    first = check.evidence_citations[0]
    span = " ".join(first.span.split())
    shortened = span if len(span) <= _QUOTE_LENGTH else f"{span[:_QUOTE_LENGTH].rstrip()} …"
    where = f" (line {first.location.line})" if first.location else ""
    return f"“{shortened}”{where}"


def undecided_step(names: Sequence[str]) -> str:
    return f"Review the text yourself on what this evaluation could not decide: {', '.join(names)}."


def is_unclear(check: CheckResult) -> bool:
    return check.result is Result.INDETERMINATE and check.decided_by != "derived" and not check.incomplete


def _revision_point(number: int, check: CheckResult) -> str:
    revision = _REVISIONS.get(check.check_id, f"Revise the text with this question in mind: {check.question}")
    quotes = "\n".join(f"   > {' '.join(citation.span.split())}" for citation in check.evidence_citations)
    return f"{number}. {revision}" + (f"\n   This concerns:\n{quotes}" if quotes else "")
