"""The labels of a stored batch: its judged runs, what a reviewer is asked next, and what the labels show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from salvo.errors import UsageError
from salvo.records import record
from salvo.scenarios.labels.evidence import (
    consensus_answers,
    is_labelled,
    label_evidence,
    labelling_order,
    planned_labels,
)
from salvo.scenarios.labels.label_store import Label, LabelAnswer, LabelDraw, LabelStore
from salvo.scenarios.labels.questions import JudgedRun, LabelQuestion, judged_runs
from salvo.scenarios.labels.records import LabelEvidence, Verdicts
from salvo.scenarios.result import Batch
from salvo.scenarios.spec.loader import from_document
from salvo.scenarios.store.store import RunStore


@record
class NextQuestion:
    run_id: str
    question: LabelQuestion


@dataclass(slots=True)
class BatchLabels:
    batch: Batch
    runs: list[JudgedRun]
    labels: list[Label]
    draw: LabelDraw | None
    _store: LabelStore = field(repr=False)

    @classmethod
    def load(cls, store: RunStore, batch: Batch) -> BatchLabels:
        """Read the runs and the labels of a batch. This reads every run file."""
        scenario = from_document(batch.scenario)
        results = store.load_runs(batch.batch_id)
        if batch.confidence is not None:  # then only independent runs are evidence
            results = [result for result in results if not result.from_cache]
        runs = judged_runs(scenario, results, batch.threshold)
        labels = LabelStore(store)
        keys = {question.key for run in runs for question in run.questions}
        return cls(batch, runs, labels.load(keys), labels.draw(batch.batch_id), labels)

    @property
    def evidence(self) -> LabelEvidence | None:
        return label_evidence(self.batch, self.runs, self.labels, self.draw)

    @property
    def questions(self) -> dict[str, NextQuestion]:
        """Every question by its key, with a run of which it was asked."""
        return {
            question.key: NextQuestion(run.run_id, question)
            for run in reversed(self.runs)
            for question in run.questions
        }

    def ensure_draw(self, seed: str, now: str) -> None:
        """Make the random order of the runs, unless there is one already."""
        if not any(run.questions for run in self.runs):
            raise UsageError(
                f"No run of the batch {self.batch.batch_id} depends on an llm_judge, so there is nothing to label."
            )
        self.draw = self._store.make_draw(self.batch.batch_id, seed, now)

    def planned(self, reviewer: str, number: int) -> list[NextQuestion]:
        """Return what a reviewer is asked next, in the order of the draw, up to `number` labelled runs of theirs."""
        own = self._own_answers(reviewer)
        strata = {kind: self._ordered(kind) for kind in Verdicts}
        runs = planned_labels(strata, consensus_answers(self.labels), own, number)
        questions: dict[str, NextQuestion] = {}
        for run in labelling_order(runs, self.draw):
            for question in run.questions:
                if question.key not in own:
                    questions.setdefault(question.key, NextQuestion(run.run_id, question))
        return list(questions.values())

    def labelled_by(self, reviewer: str) -> int:
        """Return how many runs a reviewer has labelled."""
        own = self._own_answers(reviewer)
        return sum(bool(run.questions) and is_labelled(run, own) for run in self.runs)

    def new_label(self, item: NextQuestion, answer: LabelAnswer, note: str, reviewer: str, at: str) -> Label:
        return Label(
            key=item.question.key,
            answer=answer,
            reviewer=reviewer,
            at=at,
            note=note,
            scenario_id=self.batch.scenario_id,
            assertion=item.question.assertion,
            run_id=item.run_id,
        )

    def save(self, labels: Sequence[Label]) -> None:
        """Store labels. A reviewer's earlier answer to the same question is replaced."""
        for label in labels:
            self._store.save(label)
        replaced = {(label.key, label.reviewer.casefold()) for label in labels}
        others = [label for label in self.labels if (label.key, label.reviewer.casefold()) not in replaced]
        self.labels = sorted([*others, *labels], key=lambda label: label.at)

    def _ordered(self, kind: Verdicts) -> list[JudgedRun]:
        return labelling_order([run for run in self.runs if run.questions and run.verdicts is kind], self.draw)

    def _own_answers(self, reviewer: str) -> dict[str, bool | None]:
        own = [label for label in self.labels if label.reviewer.casefold() == reviewer.casefold()]
        return {label.key: label.answer.passed for label in own}
