"""What a person is asked about a run, and the outcome of the run by the answers."""

from typing import Any

from salvo.scenarios.labels.questions import JudgedRun, judged_run
from salvo.scenarios.labels.records import Verdicts
from salvo.scenarios.result import AgentRunResult, ConversationTurn, EvalResult, Outcome
from salvo.scenarios.spec.loader import from_document
from tests.support.runs import result

JUDGE: dict[str, Any] = {"type": "llm_judge", "model": "openai/gpt-5.4-mini", "rubric": "It is polite."}
RULE: dict[str, Any] = {"type": "jmespath", "path": "final_text", "operator": "exists"}


def verdict(passed: bool, kind: str = "llm_judge", *, votes: tuple[bool, ...] = (), **fields: Any) -> EvalResult:
    judged = EvalResult.judged(passed).model_copy(update={"type": kind, **fields})
    if kind == "llm_judge":
        judged.details["votes"] = [{"passed": vote} for vote in votes or (passed,) * 3]
    return judged


def part(passed: bool, kind: str = "llm_judge") -> dict[str, Any]:
    return {"type": kind, "passed": passed, "details": {"votes": [{"passed": passed}]}}


def judged(assertions: list[dict[str, Any]], verdicts: list[EvalResult], outcome: Outcome, **fields: Any) -> JudgedRun:
    document = {"scenario": "s", "adapter": "openai", "user_message": "Hi.", "assertions": assertions}
    if "turns" in fields:
        document = {**document, "turns": [{"user": turn.user} for turn in fields["turns"]]}
        del document["user_message"]
    run = judged_run(from_document(document), _run(verdicts, outcome, **fields), threshold=1.0)
    assert run is not None
    return run


def _run(verdicts: list[EvalResult], outcome: Outcome, **fields: Any) -> AgentRunResult:
    return result(1, outcome, final_output="Hello.", eval_results=verdicts, **fields)


class TestTheOutcomeByAnswers:
    def test_is_that_of_the_person_and_not_of_the_judge(self) -> None:
        run = judged([RULE, JUDGE], [verdict(True, "jmespath"), verdict(True)], Outcome.PASSED)
        [question] = run.questions
        assert (question.verdict, run.verdicts) == (True, Verdicts.PASSED)
        assert run.outcome_by({question.key: False}) is Outcome.FAILED
        assert run.outcome_by({question.key: True}) is Outcome.PASSED
        assert run.outcome_by({}) is None

    def test_does_not_depend_on_the_judge_if_another_assertion_decides(self) -> None:
        required = {**RULE, "required": True}
        run = judged([required, JUDGE], [verdict(False, "jmespath", required=True), verdict(True)], Outcome.FAILED)
        assert run.questions == ()

    def test_follows_judges_inside_other_assertions(self) -> None:
        assertions = [{"type": "any_of", "assertions": [JUDGE, {**JUDGE, "rubric": "It is short."}]}]
        composed = verdict(True, "any_of", details={"parts": [part(True), part(False)]})
        run = judged(assertions, [composed], Outcome.PASSED)
        first, second = (question.key for question in run.questions)
        assert run.outcome_by({first: False, second: False}) is Outcome.FAILED
        assert run.outcome_by({first: True}) is Outcome.PASSED, "the other one does not matter"
        assert run.outcome_by({first: False}) is None
        negated = verdict(False, "not", details={"parts": [part(True)]})
        run = judged([{"type": "not", "assertion": JUDGE}], [negated], Outcome.FAILED)
        assert run.outcome_by({run.questions[0].key: False}) is Outcome.PASSED

    def test_needs_every_turn_of_a_conversation(self) -> None:
        turns = [ConversationTurn(number=number, user=f"Message {number}", agent="Yes.") for number in (1, 2)]
        at_turns = [{"turn": turn.number, **part(True)} for turn in turns]
        passed = verdict(True, details={"turns": at_turns})
        run = judged([{**JUDGE, "at": "every turn"}], [passed], Outcome.PASSED, turns=turns)
        first, second = run.questions
        assert [question.turn for question in run.questions] == [1, 2]
        assert "Message 2" not in first.transcript["conversation"]
        assert run.outcome_by({first.key: True, second.key: False}) is Outcome.FAILED


class TestAQuestion:
    def test_has_the_same_key_for_the_same_transcript_and_rubric_only(self) -> None:
        def key(rubric: str, output: str) -> str:
            assertions = [{**JUDGE, "rubric": rubric}]
            document = {"scenario": "s", "adapter": "openai", "user_message": "Hi.", "assertions": assertions}
            run = judged_run(from_document(document), result(1, final_output=output, eval_results=[verdict(True)]), 1.0)
            assert run is not None
            return run.questions[0].key

        assert key("It is polite.", "Hello.") == key(" It is polite.\n", "Hello.")
        assert len({key("It is polite.", "Hello."), key("It is short.", "Hello."), key("It is polite.", "Hi.")}) == 3

    def test_is_split_if_the_votes_are_not_unanimous(self) -> None:
        run = judged([JUDGE], [verdict(True, votes=(True, True, False))], Outcome.PASSED)
        assert run.verdicts is Verdicts.SPLIT

    def test_is_not_asked_of_a_store_that_holds_nonsense(self) -> None:
        nonsense = verdict(True, details={"votes": 7, "turns": [{"turn": "x"}], "parts": {}})
        broken = {"type": "llm_judge", "criteria": "no rubric"}
        assert judged([broken], [nonsense], Outcome.PASSED).questions == ()
        assert len(judged([JUDGE], [nonsense], Outcome.PASSED).questions) == 1
        assert judged([{**JUDGE, "at": "every turn"}], [nonsense], Outcome.PASSED).questions == ()

    def test_is_not_asked_of_a_run_that_could_not_be_judged(self) -> None:
        document = {"scenario": "s", "adapter": "openai", "user_message": "Hi.", "assertions": [JUDGE]}
        assert judged_run(from_document(document), _run([], Outcome.ERROR), 1.0) is None
