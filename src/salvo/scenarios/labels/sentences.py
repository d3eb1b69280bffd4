"""What labels show, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from salvo.engine.stats.judge_agreement import AgreementDrop, IntervalEstimate, ReviewerAgreement
from salvo.engine.stats.rates import Interval
from salvo.engine.text.formatting import NamedValue, at_least, at_most, exact_percent, percent, pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.labels.records import JudgeLabels, LabelEvidence, Verdicts

_KINDS = {
    Verdicts.PASSED: "judged passed",
    Verdicts.FAILED: "judged failed",
    Verdicts.SPLIT: "with split votes",
}
UNLABELLED = "`labels` decides about the verdict, and labels are not used here"


def shown(evidence: LabelEvidence, min_pass_rate: float) -> str:
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
    return f"corrected {by}, {sure} it is {_bounds(evidence.interval, min_pass_rate)}; {advice(evidence)}"


def advice(evidence: LabelEvidence) -> str:
    """Return how many labels of which kind would settle the verdict; empty if it is settled."""
    if evidence.verdict != "inconclusive":
        return ""
    if evidence.needed is None:
        if evidence.about_agent:
            return "no number of labels would settle it, because there are too few runs"
        return "no further label would settle it, because some are unclear"
    kinds = [f"{number} of runs {_KINDS[kind]}" for kind, number in evidence.needed.labels.items()]
    total = sum(evidence.needed.labels.values())
    # Without other kinds, "9 more labels of runs judged failed".
    listed = kinds[0].removeprefix(f"{total} ") if len(kinds) == 1 else f"({', '.join(kinds)})"
    unlabelled = {item.verdicts for item in evidence.strata if item.labelled == item.unclear}
    by_judge = bool(unlabelled & evidence.needed.labels.keys())
    condition = "if people agree with the judge" if by_judge else "if they come out as those so far"
    return f"{pluralize(total, 'more label')} {listed} would settle it, {condition}"


def corrected_rate(evidence: LabelEvidence, min_pass_rate: float) -> str:
    """Return the corrected pass rate, never without its interval."""
    rate = "unknown" if evidence.rate is None else percent(evidence.rate, min_pass_rate, *evidence.interval)
    interval = f"{exact_percent(evidence.confidence)} interval {_bounds(evidence.interval, min_pass_rate)}"
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


def judge_rows(judge: JudgeLabels) -> Iterator[NamedValue]:
    """Yield the measures of a judge, each with its interval."""
    quality = judge.quality
    if quality.agreement is None:
        yield NamedValue("agreement with people", "not known until each kind of verdict has a clear label")
        return
    yield NamedValue("agreement with people", estimate(quality.agreement))
    yield NamedValue("Cohen's kappa", estimate(quality.kappa, as_share=False))
    yield NamedValue("of what it passed, people pass", estimate(quality.pass_precision))
    yield NamedValue("of what people pass, it passed", estimate(quality.pass_recall))
    yield NamedValue("of what it failed, people fail", estimate(quality.fail_precision))
    yield NamedValue("of what people fail, it failed", estimate(quality.fail_recall))


def estimate(value: IntervalEstimate | None, *, as_share: bool = True) -> str:
    if value is None:
        return "not known"
    if as_share:
        return f"{percent(value.value)}, 95% interval {_bounds(value.interval)}"
    low, high = value.interval
    return f"{value.value:.2f}, 95% interval {low:.2f} to {high:.2f}"


def drop_sentence(drop: AgreementDrop, verdict: str) -> str:
    """Return a notice that people agree less often with a judge than before."""
    return (
        f"People agreed with {drop.agreed} of {drop.block} runs judged {verdict}, and before that with "
        f"{drop.agreed_before} of {drop.before}: the judge may have changed (p = {drop.p:.2g}, tested at "
        f"{drop.level:.2g})."
    )


def pair_sentence(names: tuple[str, str], agreement: ReviewerAgreement) -> str:
    first, second = map(printable, names)
    kappa = estimate(agreement.kappa, as_share=False)
    return f"{first} and {second} agree on {agreement.agreed} of {agreement.items}; Cohen's kappa {kappa}"


def _bounds(interval: Interval, *apart: float) -> str:
    return f"{at_least(interval.low, *apart)} to {at_most(interval.high, *apart)}"
