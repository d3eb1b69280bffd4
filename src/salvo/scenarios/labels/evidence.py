"""What the labels of a batch show: its corrected pass rate, and how well its judges agree with people. Pure.

Only labels that are a random sample count for the rate: the runs of each kind of verdict are labelled in a random
order, and the sample of a kind ends before its first run that is not labelled.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from salvo.engine.stats.calibration import (
    NeededLabels,
    RunSampling,
    Stratum,
    allocate,
    calibrated_rate,
    needed_labels,
    rate_verdict,
    with_run_sampling,
)
from salvo.engine.stats.judge_agreement import (
    JudgedCell,
    ReviewerPair,
    agreement_drops,
    judge_quality,
    reviewer_pairs,
)
from salvo.scenarios.labels.label_store import Label, LabelAnswer, LabelDraw
from salvo.scenarios.labels.questions import JudgedRun, LabelQuestion
from salvo.scenarios.labels.records import JudgeLabels, LabelEvidence, StratumLabels, Verdicts
from salvo.scenarios.labels.requirement import DEFAULT_CONFIDENCE, required_labels
from salvo.scenarios.result import Batch, Outcome

_AS_JUDGED: Mapping[Verdicts | None, float] = {Verdicts.PASSED: 1.0, Verdicts.FAILED: 0.0, Verdicts.SPLIT: 0.5}
"""The share that people pass, as long as there is no label of a kind: as if the judge were right."""


def label_evidence(
    batch: Batch, runs: Sequence[JudgedRun], labels: Sequence[Label], draw: LabelDraw | None
) -> LabelEvidence | None:
    """Return None if no run was completed."""
    answers = consensus_answers(labels)
    judged = [run for run in runs if run.questions]
    decided = [run for run in runs if not run.questions]
    strata = [
        _stratum(
            kind,
            labelling_order([run for run in judged if run.verdicts is kind], draw),
            answers,
            drawn=draw is not None,
        )
        for kind in Verdicts
    ]
    passed = sum(run.outcome is Outcome.PASSED for run in decided)
    known = Stratum(len(decided), len(decided), passed)
    confidence = required_labels(batch) or DEFAULT_CONFIDENCE
    sampling: RunSampling = "fixed" if batch.max_runs is None else "sequential"
    about_agent = batch.confidence is not None
    calibrated = calibrated_rate([known, *(item.stratum for item in strata)], confidence)
    if calibrated is None:
        return None
    if about_agent:
        calibrated = with_run_sampling(calibrated, len(runs), confidence, sampling)
    verdict = rate_verdict(calibrated.interval, batch.min_pass_rate)
    needed = None
    if verdict == "inconclusive":
        needed = _needed(batch, known, strata, confidence, len(runs) if about_agent else None, sampling)
    return LabelEvidence(
        required=required_labels(batch) is not None,
        verdict=verdict,
        confidence=confidence,
        rate=calibrated.rate,
        interval=calibrated.interval,
        about_agent=about_agent,
        runs=len(runs),
        labelled=sum(item.labelled for item in strata),
        decided_without_judge=len(decided),
        strata=[item for item in strata if item.runs],
        needed=needed,
        judges=_judges(judged, strata, labels, answers, draw),
        reviewers=_reviewer_pairs(labels),
    )


def consensus_answers(labels: Iterable[Label]) -> dict[str, bool | None]:
    """Return by question what most of its reviewers say; None if they cannot tell, or disagree."""
    by_key: defaultdict[str, dict[str, LabelAnswer]] = defaultdict(dict)
    for label in labels:
        by_key[label.key][label.reviewer.casefold()] = label.answer
    return {key: _majority(list(by_reviewer.values())) for key, by_reviewer in by_key.items()}


def _majority(answers: Sequence[LabelAnswer]) -> bool | None:
    answer, count = Counter(answers).most_common(1)[0]
    return answer.passed if 2 * count > len(answers) else None


def labelling_order(runs: Iterable[JudgedRun], draw: LabelDraw | None) -> list[JudgedRun]:
    """Return runs in the random order of a draw."""
    return sorted(runs, key=lambda run: run.run_id if draw is None else draw.position(run.run_id))


def is_labelled(run: JudgedRun, answers: Mapping[str, bool | None]) -> bool:
    """Return whether every question of a run was answered, or those that were decide about it."""
    return all(question.key in answers for question in run.questions) or run.outcome_by(answers) is not None


def planned_labels(
    strata: Mapping[Verdicts, Sequence[JudgedRun]],
    answers: Mapping[str, bool | None],
    own: Mapping[str, bool | None],
    number: int,
) -> list[JudgedRun]:
    """Return which runs a reviewer labels next, so that there are `number` labelled runs of theirs in all.

    `strata` has the runs of each kind of verdict in the order of the draw; `answers` are those of all reviewers, and
    `own` those of this one.
    """
    done = {kind: _sample(runs, own) for kind, runs in strata.items()}
    counts = {}
    for kind, runs in strata.items():
        sample = _sample(runs, answers)
        passed = sum(run.outcome_by(answers) is Outcome.PASSED for run in sample)
        # The answers of all reviewers say where a label tells most.
        share = passed / len(sample) if sample else 0.0
        counts[kind] = Stratum(len(runs), len(done[kind]), share * len(done[kind]))
    more = allocate(counts, max(0, number - sum(map(len, done.values()))))
    return [run for kind, runs in strata.items() for run in runs[len(done[kind]) : len(done[kind]) + more[kind]]]


def _sample(runs: Sequence[JudgedRun], answers: Mapping[str, bool | None]) -> list[JudgedRun]:
    return list(takewhile(lambda run: is_labelled(run, answers), runs))


def _stratum(
    kind: Verdicts, runs: Sequence[JudgedRun], answers: Mapping[str, bool | None], *, drawn: bool
) -> StratumLabels:
    sample = _sample(runs, answers)
    if not drawn and len(sample) < len(runs):
        sample = []  # labels of other batches: nobody drew them for this one
    outcomes = Counter(run.outcome_by(answers) for run in sample)
    return StratumLabels(
        kind, len(runs), len(sample), outcomes[Outcome.PASSED], outcomes[Outcome.FAILED], outcomes[None]
    )


def _needed(
    batch: Batch,
    known: Stratum,
    strata: Sequence[StratumLabels],
    confidence: float,
    runs: int | None,
    sampling: RunSampling,
) -> NeededLabels[Verdicts] | None:
    counts: dict[Verdicts | None, Stratum] = {item.verdicts: item.stratum for item in strata}
    counts[None] = known
    needed = needed_labels(counts, _AS_JUDGED, batch.min_pass_rate, confidence, runs, sampling)
    if needed is None:
        return None
    return NeededLabels(
        {kind: number for kind, number in needed.labels.items() if kind is not None and number}, needed.verdict
    )


def _judges(
    runs: Sequence[JudgedRun],
    strata: Sequence[StratumLabels],
    labels: Sequence[Label],
    answers: Mapping[str, bool | None],
    draw: LabelDraw | None,
) -> list[JudgeLabels]:
    sizes = {item.verdicts: item.labelled for item in strata}
    sampled: set[str] = set()
    for kind, number in sizes.items():
        ordered = labelling_order([run for run in runs if run.verdicts is kind], draw)
        sampled |= {run.run_id for run in ordered[:number]}
    by_assertion: defaultdict[str, list[tuple[JudgedRun, LabelQuestion]]] = defaultdict(list)
    for run in runs:
        for question in run.questions:
            by_assertion[question.assertion].append((run, question))
    return [_judge(name, judged, sampled, labels, answers) for name, judged in by_assertion.items()]


def _judge(
    name: str,
    judged: Sequence[tuple[JudgedRun, LabelQuestion]],
    sampled: set[str],
    labels: Sequence[Label],
    answers: Mapping[str, bool | None],
) -> JudgeLabels:
    cells: defaultdict[tuple[Verdicts, bool], list[tuple[bool | None, bool]]] = defaultdict(list)
    for run, question in judged:
        if question.verdict is not None:
            answer = answers.get(question.key)
            cells[run.verdicts, question.verdict].append((answer, run.run_id in sampled))
    quality = judge_quality([_cell(verdict, items) for (_, verdict), items in sorted(cells.items())])

    def contradicted_runs(verdict: bool) -> list[str]:
        runs = [
            run.run_id
            for run, item in judged
            if item.verdict is verdict and answers.get(item.key) is not verdict and answers.get(item.key) is not None
        ]
        return list(dict.fromkeys(runs))

    verdicts = {question.key: question.verdict for _, question in judged}
    in_time = [
        (verdict, label.answer.passed is verdict)
        for label in labels
        if (verdict := verdicts.get(label.key)) is not None and label.answer.passed is not None
    ]
    drops = {"passed" if passed else "failed": drop for passed, drop in agreement_drops(in_time).items()}
    return JudgeLabels(name, quality, contradicted_runs(True), contradicted_runs(False), drops)


def _cell(verdict: bool, items: Sequence[tuple[bool | None, bool]]) -> JudgedCell:
    """Return the counts of a cell. Those that have no clear label count as not labelled."""
    clear = [answer for answer, sampled in items if sampled and answer is not None]
    return JudgedCell(verdict, len(items), len(clear), sum(clear))


def _reviewer_pairs(labels: Iterable[Label]) -> list[ReviewerPair]:
    by_reviewer: defaultdict[str, dict[str, bool | None]] = defaultdict(dict)
    names: dict[str, str] = {}
    for label in labels:
        folded = label.reviewer.casefold()
        names.setdefault(folded, label.reviewer)
        by_reviewer[folded][label.key] = label.answer.passed
    return list(reviewer_pairs({names[folded]: by_reviewer[folded] for folded in sorted(by_reviewer)}))
