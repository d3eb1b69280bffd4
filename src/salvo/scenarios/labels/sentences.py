"""What labels show, in words. Pure."""

from __future__ import annotations

from salvo.engine.stats.agreement_wording import bounds_text, further_labels
from salvo.engine.text.formatting import at_least, at_most, exact_percent, percent, pluralize
from salvo.scenarios.labels.records import LabelEvidence, Verdicts

_KINDS = {
    Verdicts.PASSED: "judged passed",
    Verdicts.FAILED: "judged failed",
    Verdicts.SPLIT: "with split votes",
}
UNLABELLED = "`labels` decides about the verdict, and labels are not used here"


def evidence_phrase(evidence: LabelEvidence, min_pass_rate: float) -> str:
    """Return what the labels show about the required pass rate, and what would settle it."""
    low, high = evidence.interval
    by = f"by labels of {evidence.labelled} of {pluralize(evidence.runs, 'run')}"
    sure = f"with {exact_percent(evidence.confidence)} confidence"
    if evidence.verdict == "pass":
        return f"corrected {by}, {sure} the pass rate is at least {at_least(low, min_pass_rate)}"
    if evidence.verdict == "fail":
        return f"corrected {by}, {sure} the pass rate is at most {at_most(high, min_pass_rate)}"
    if not evidence.labelled:
        return f"no run is labelled, so nothing is known about the judge; {advice(evidence)}"
    return f"corrected {by}, {sure} it is {bounds_text(evidence.interval, min_pass_rate)}; {advice(evidence)}"


def advice(evidence: LabelEvidence) -> str:
    """Return how many labels of which kind would settle the verdict; empty if it is settled."""
    if evidence.verdict != "inconclusive":
        return ""
    if evidence.needed is None:
        if evidence.about_agent:
            return "no number of labels would settle it, because there are too few runs"
        return "no further label would settle it, because some are unclear"
    numbers = {f"runs {_KINDS[kind]}": number for kind, number in evidence.needed.labels.items()}
    unlabelled = {item.verdicts for item in evidence.strata if item.labelled == item.unclear}
    by_judge = bool(unlabelled & evidence.needed.labels.keys())
    condition = "if people agree with the judge" if by_judge else "if they come out as those so far"
    return f"{further_labels(numbers, 'label')} would settle it, {condition}"


def corrected_rate(evidence: LabelEvidence, min_pass_rate: float) -> str:
    """Return the corrected pass rate, never without its interval."""
    rate = "unknown" if evidence.rate is None else percent(evidence.rate, min_pass_rate, *evidence.interval)
    interval = f"{exact_percent(evidence.confidence)} interval {bounds_text(evidence.interval, min_pass_rate)}"
    unlabelled = [_KINDS[item.verdicts] for item in evidence.strata if item.labelled == item.unclear]
    missing = f"; no clear label of a run {' or '.join(unlabelled)}" if unlabelled else ""
    runs = pluralize(evidence.runs, "run")
    whose = f"of the agent, of which there are {runs}" if evidence.about_agent else f"of these {runs}"
    return f"{rate}, {interval}, {whose}; {evidence.labelled} labelled{missing}"


def stratum_rows(evidence: LabelEvidence) -> list[tuple[str, ...]]:
    """Return a row for each kind of verdict: its name, runs, labels, and how many people pass, fail and cannot tell."""
    return [
        (f"runs {_KINDS[item.verdicts]}", *map(str, (item.runs, item.labelled, item.passed, item.failed, item.unclear)))
        for item in evidence.strata
    ]
