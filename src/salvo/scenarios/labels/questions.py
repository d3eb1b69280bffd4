"""What the judges of a scenario were asked about a run, for a person to answer; and the run's outcome by the answers.

A question is known by the hash of what the judge read: the rubric and the transcript. So a label of it also holds for
the same transcript in another batch. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from pydantic import ValidationError

from salvo.engine.jsonio.canonical import stable_key
from salvo.records import record
from salvo.scenarios.evaluators.builtin.grading import scale_text
from salvo.scenarios.evaluators.builtin.llm_judge import JudgeFields, transcript_blocks
from salvo.scenarios.evaluators.evaluate import score
from salvo.scenarios.evaluators.turns import run_at_turn
from salvo.scenarios.labels.records import Verdicts
from salvo.scenarios.result import AgentRunResult, EvalResult, Outcome
from salvo.scenarios.spec.judge_server import JUDGE
from salvo.scenarios.spec.schema import EVERY_TURN, TURN, Assertion, Scenario

_MOST_COMBINED = 6
"""Up to so many judges of a run, every combination of their verdicts is tried."""


@record
class LabelQuestion:
    """What a judge was asked about a run, and its verdict, which a reviewer must not see."""

    key: str
    assertion: str
    """The label of the assertion."""
    rubric: str
    scale: str
    """What the grades mean, and from which one on the run passes; empty without a scale."""
    turn: int | None
    """The turn of a conversation that is judged; None for all of it."""
    transcript: Mapping[str, str]
    """What the judge read, by the names of its blocks."""
    verdict: bool | None
    unanimous: bool


@record
class _Node:
    """An assertion: a question, several others, or a result that no label changes."""

    passed: bool | None
    kind: str = ""
    question: LabelQuestion | None = None
    parts: Sequence[_Node] = ()

    def evaluate(self, answers: Mapping[str, bool | None]) -> bool | None:
        """Return the result with these answers, in three-valued logic; None if a missing one matters."""
        if self.question is not None:
            return answers.get(self.question.key)
        if not self.parts:
            return self.passed
        results = [part.evaluate(answers) for part in self.parts]
        if self.kind == "not":
            return None if results[0] is None else not results[0]
        decisive = self.kind == "any_of"
        if decisive in results:
            return decisive
        return None if None in results else not decisive

    def questions(self) -> Iterator[LabelQuestion]:
        if self.question is not None:
            yield self.question
        for part in self.parts:
            yield from part.questions()


@record
class JudgedRun:
    """A completed run whose outcome may depend on a judge."""

    run_id: str
    outcome: Outcome
    questions: Sequence[LabelQuestion]
    """Empty if the outcome is the same whatever the judges say."""
    _nodes: Sequence[_Node]
    _results: Sequence[EvalResult]
    _threshold: float

    @property
    def verdicts(self) -> Verdicts:
        if any(not question.unanimous for question in self.questions):
            return Verdicts.SPLIT
        return Verdicts.PASSED if self.outcome is Outcome.PASSED else Verdicts.FAILED

    def outcome_by(self, answers: Mapping[str, bool | None]) -> Outcome | None:
        """Return the outcome with these answers instead of the judges' verdicts; None if a missing one matters."""
        results = []
        for node, stored in zip(self._nodes, self._results, strict=True):
            passed = node.evaluate(answers)
            changes = (
                {}
                if passed == stored.passed
                else {"passed": passed, "score": None if passed is None else float(passed)}
            )
            results.append(stored.model_copy(update=changes))
        outcome = score(results, self._threshold).outcome
        return None if outcome is Outcome.ERROR else outcome


def judged_run(scenario: Scenario, result: AgentRunResult, threshold: float) -> JudgedRun | None:
    """Return a run with the questions that its outcome depends on; None if it was not completed."""
    if result.outcome not in (Outcome.PASSED, Outcome.FAILED):
        return None
    assertions = [assertion for _, assertion in scenario.scored_assertions()]
    # A run that was stopped has no results, and fails whatever a judge would say.
    if len(assertions) != len(result.eval_results):
        return JudgedRun(result.run_id, result.outcome, (), (), (), threshold)
    nodes = [
        _node(scenario, assertion, stored.passed, stored.details, result)
        for assertion, stored in zip(assertions, result.eval_results, strict=True)
    ]
    questions = list({question.key: question for node in nodes for question in node.questions()}.values())
    run = JudgedRun(result.run_id, result.outcome, questions, nodes, result.eval_results, threshold)
    return run if _depends_on_judges(run) else JudgedRun(result.run_id, result.outcome, (), (), (), threshold)


def judged_runs(scenario: Scenario, results: Sequence[AgentRunResult], threshold: float) -> list[JudgedRun]:
    runs = (judged_run(scenario, result, threshold) for result in results)
    return [run for run in runs if run is not None]


def _depends_on_judges(run: JudgedRun) -> bool:
    if len(run.questions) > _MOST_COMBINED:
        return True
    keys = [question.key for question in run.questions]
    combined = product((True, False), repeat=len(keys))
    return any(run.outcome_by(dict(zip(keys, verdicts, strict=True))) is not run.outcome for verdicts in combined)


def _node(
    scenario: Scenario, assertion: Assertion, passed: bool | None, details: object, result: AgentRunResult
) -> _Node:
    """Return an assertion with its stored result. A stored file may hold anything in its details."""
    stored = details if isinstance(details, Mapping) else {}
    if assertion.at == EVERY_TURN:
        at_turns = [
            _node(
                scenario,
                assertion.model_copy(update={"at": f"{TURN}{item['turn']}"}),
                item.get("passed"),
                item.get("details"),
                result,
            )
            for item in _mappings(stored.get("turns"))
            if isinstance(item.get("turn"), int)
        ]
        return _Node(passed, "all_of", parts=at_turns)
    if assertion.type == JUDGE:
        return _Node(passed, question=_question(scenario, assertion, passed, stored, result))
    parts = [part for _, part in assertion.parts]
    results = _mappings(stored.get("parts"))
    if not parts or len(parts) != len(results):
        return _Node(passed)
    nodes = [
        _node(scenario, part.model_copy(update={"at": assertion.at}), item.get("passed"), item.get("details"), result)
        for part, item in zip(parts, results, strict=True)
    ]
    return _Node(passed, assertion.type, parts=nodes)


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _question(
    scenario: Scenario, assertion: Assertion, passed: bool | None, details: Mapping[str, Any], result: AgentRunResult
) -> LabelQuestion | None:
    try:
        fields = assertion.typed_fields(JudgeFields)
    except ValidationError:
        return None  # a stored scenario may have anything there, and its judge then gave no verdict
    turn = next((turn for turn in result.turns if turn.number == assertion.turn), None)
    transcript = transcript_blocks(scenario, result if turn is None else run_at_turn(result, turn))
    scale = "" if fields.scale is None else f"{scale_text(fields.scale)}\n{fields.min_grade} and higher passes."
    votes = [vote.get("passed") for vote in _mappings(details.get("votes"))]
    number = None if turn is None else turn.number
    content = {"rubric": fields.rubric.strip(), "scale": scale, "turn": number, "transcript": transcript}
    return LabelQuestion(
        key=stable_key(content),
        assertion=assertion.label,
        rubric=fields.rubric.strip(),
        scale=scale,
        turn=number,
        transcript=transcript,
        verdict=passed if isinstance(passed, bool) else None,
        unanimous=bool(votes) and all(vote is votes[0] for vote in votes),
    )
