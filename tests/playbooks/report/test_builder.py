"""From any votes to a report: properties that hold for all of them, and the words that follow from some."""

import math
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from salvo.engine.chat.base import Usage
from salvo.playbooks.enums import Aggregation, Mode, Result, Status
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.votes import CallMetrics, JudgeAnswer, RawCitation, Vote
from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.report import terminal
from salvo.playbooks.report.builder import BaselineReport, JudgedBy, ScanResult, build_report, judged_status
from salvo.playbooks.report.compare import compare
from salvo.playbooks.report.report import CheckResult, Citation, Report
from tests.support.byop_project import JUDGED, TEXT

STARTER = library.load("ai_plugin_observability_v1")
MODEL = JudgedBy("anthropic", "claude-sonnet-4-6", "p1", deterministic=False)
NOTHING = ScanResult({}, (), ())
TEXT_ = Inputs.from_texts(f"{TEXT}\n😀 “Zitat” – \u200b\tEnde\ud800")

quotes = st.one_of(
    st.tuples(st.integers(0, len(TEXT_.ai_output) - 1), st.integers(1, 60)).map(
        lambda cut: TEXT_.ai_output[cut[0] : cut[0] + cut[1]]
    ),
    st.text(max_size=20),
)
ballots = st.builds(
    JudgeAnswer,
    st.sampled_from([*Result, None]),
    confidence=st.none() | st.floats(0, 1),
    citations=st.lists(st.builds(RawCitation, quotes, st.text(max_size=8)), max_size=3).map(tuple),
    notes=st.sampled_from(["", "It is so.", "It is certified.", "{braces}"]),
    problem=st.sampled_from(["", "Evaluator returned unparseable response."]),
    measured=st.builds(
        CallMetrics,
        model=st.sampled_from([None, "m-1", "m-2"]),
        temperature=st.sampled_from([None, 0.0]),
        usage=st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
        cost_usd=st.none() | st.floats(0, 1),
        seconds=st.floats(0, 10),
        calls=st.integers(0, 2),
    ),
)
playbooks = st.sampled_from(Aggregation).map(
    lambda mode: replace(STARTER, variance=replace(STARTER.variance, aggregation=mode))
)


@st.composite
def evaluations(draw: st.DrawFn) -> tuple[EvaluationRequest, list[Vote]]:
    """Any votes at all, some of them missing."""
    runs = draw(st.integers(3, 5))
    order = EvaluationRequest("id-1", draw(playbooks), TEXT_, "anthropic/claude-sonnet-4-6", Mode.FULL, runs)
    some = draw(st.lists(ballots, min_size=1, max_size=6))
    given = draw(st.lists(st.none() | st.sampled_from(some), min_size=len(order.cases), max_size=len(order.cases)))
    voted = zip(order.cases, given, strict=True)
    return order, [Vote(check.id, run, ballot) for (check, run), ballot in voted if ballot is not None]


def made(order: EvaluationRequest, votes: list[Vote], baseline: BaselineReport | str = "There is none.") -> Report:
    return build_report(order, votes, NOTHING, MODEL, timestamp="2026-11-15T12:00:00+00:00", baseline=baseline)


def every_quote(check: CheckResult) -> list[Citation]:
    dissent = [citation for one in check.dissent for citation in one.evidence_citations]
    raw = [citation for run in check.raw_runs for citation in run.evidence_citations]
    return [*check.evidence_citations, *dissent, *raw]


@settings(max_examples=25)
@given(evaluations())
def test_evidence_offsets_always_slice_to_the_span(evaluation: tuple[EvaluationRequest, list[Vote]]) -> None:
    report = made(*evaluation)
    text = TEXT_.ai_output
    for check in report.check_results:
        assert all(citation.location is None for citation in check.rejected_citations)
        assert all(citation.location is not None for citation in check.evidence_citations)
        for citation in every_quote(check):
            if citation.location is not None:
                assert text[citation.location.start : citation.location.end] == citation.span
                assert citation.location.line == text.count("\n", 0, citation.location.start) + 1


@settings(max_examples=25)
@given(evaluations(), st.randoms(use_true_random=False))
def test_the_same_votes_in_any_order_give_the_same_report(
    evaluation: tuple[EvaluationRequest, list[Vote]], chance: Random
) -> None:
    order, votes = evaluation
    shuffled = chance.sample(votes, len(votes))
    assert made(order, shuffled).document() == made(order, votes).document()


@settings(max_examples=25)
@given(evaluations())
def test_an_incomplete_check_never_fails_a_text(evaluation: tuple[EvaluationRequest, list[Vote]]) -> None:
    order, votes = evaluation
    report = made(order, votes)
    for check in report.check_results:
        if check.incomplete:
            assert (check.result, check.per_check_consistency) == (Result.INDETERMINATE, None)
    whole = {check.check_id for check in report.check_results if not check.incomplete}
    kept = [vote for vote in votes if vote.check_id in whole]
    if not whole & set(JUDGED):
        assert judged_status(report) is Status.STABLE
    assert judged_status(report) is judged_status(made(order, kept)), "what could not be judged counts against nobody"


@settings(max_examples=25)
@given(evaluations())
def test_a_fail_always_shows_the_passage_that_it_rests_on(evaluation: tuple[EvaluationRequest, list[Vote]]) -> None:
    order, votes = evaluation
    for check in made(order, votes).check_results:
        if check.result is Result.FAIL and check.decided_by == "evaluator":
            assert check.evidence_citations
        if check.raw_result is not None:
            assert check.raw_result is not Result.INDETERMINATE
            assert check.result is Result.INDETERMINATE


@settings(max_examples=25)
@given(evaluations())
def test_an_answer_whose_quotes_are_all_absent_from_the_text_decides_nothing(
    evaluation: tuple[EvaluationRequest, list[Vote]],
) -> None:
    order, votes = evaluation
    report = made(order, votes)
    unsupported = {
        (check.check_id, run.run)
        for check in report.check_results
        for run in check.raw_runs
        if run.valid and run.evidence_citations and not any(quote.location for quote in run.evidence_citations)
    }
    marked = {(check.check_id, run.run) for check in report.check_results for run in check.raw_runs if run.unsupported}
    assert unsupported <= marked
    others = made(order, [vote for vote in votes if vote.key not in marked])
    for check, without in zip(report.check_results, others.check_results, strict=True):
        if check.check_id in JUDGED:
            assert check.result is without.result, "it counts like no vote"
            assert check.incomplete <= without.incomplete, "and makes no check incomplete"


@settings(max_examples=25)
@given(evaluations())
def test_no_vote_is_lost_and_none_is_made_up(evaluation: tuple[EvaluationRequest, list[Vote]]) -> None:
    order, votes = evaluation
    report = made(order, votes)
    cast = {(vote.check_id, vote.run): vote.answer.result for vote in votes if vote.answer.result is not None}
    shown = {
        (check.check_id, run.run): run.result for check in report.check_results for run in check.raw_runs if run.valid
    }
    assert shown == cast
    for check in report.check_results:
        if check.check_id in JUDGED:
            assert [run.run for run in check.raw_runs] == list(range(1, order.runs + 1))
            against = {one.run for one in check.dissent}
            counted = [run for run in check.raw_runs if run.counts]
            overruled = [run for run in counted if run.result is check.raw_result]
            voted = check.raw_result if 2 * len(overruled) > order.runs else check.result
            assert against == {run.run for run in counted if run.result is not voted}


@settings(max_examples=25)
@given(evaluations())
def test_a_report_compared_with_itself_shows_nothing(evaluation: tuple[EvaluationRequest, list[Vote]]) -> None:
    report = made(*evaluation)
    found = compare(report, report)
    assert (found.changed_checks, found.only_before, found.only_after) == ((), (), ())
    assert not any(change.gained or change.lost for change in found.evidence)
    assert found.consistency_delta in (None, 0.0)
    assert found.same_playbook
    assert found.same_text
    assert found.same_judge
    compared = {check.check_id for check in report.check_results} - {check.check_id for check in found.not_compared}
    assert set(found.unchanged) == compared
    lines = terminal.comparison(found)
    assert any("same result: " in line for line in lines) is bool(compared)


@settings(max_examples=25)
@given(evaluations())
def test_a_report_that_is_its_own_baseline_has_not_drifted(evaluation: tuple[EvaluationRequest, list[Vote]]) -> None:
    order, votes = evaluation
    report = made(order, votes)
    again = made(order, votes, BaselineReport(report, saved=True))
    assert again.drift_summary.changed_checks == ()
    drifted = next(check for check in again.check_results if check.check_id == "drift_over_time_support")
    assert drifted.result is (Result.INDETERMINATE if report.incomplete else Result.PASS)


@settings(max_examples=25)
@given(evaluations())
def test_forbidden_claims_are_in_no_word_of_ours(evaluation: tuple[EvaluationRequest, list[Vote]]) -> None:
    report = made(*evaluation)
    said = [*report.summary.key_risks, *report.summary.recommended_next_steps, *report.uncertainty, *report.limitations]
    said += [check.notes for check in report.check_results]
    said += [run.notes for check in report.check_results for run in check.raw_runs]
    assert not any("is certified" in words for words in said)


def test_what_any_part_is_unknown_of_is_unknown_as_a_whole() -> None:
    order = EvaluationRequest("id-1", STARTER, TEXT_, "openai/x", Mode.FULL, 3)
    paid = CallMetrics(model="x", usage=Usage(10, 1), cost_usd=0.1, seconds=1.0, calls=1)
    known = [Vote(name, run, JudgeAnswer(Result.PASS, measured=paid)) for name in JUDGED for run in (1, 2, 3)]
    spent = made(order, known).spent
    assert (spent.calls, spent.cost_usd, spent.seconds) == (12, math.fsum([0.1] * 12), 12.0)
    assert spent.tokens is not None
    unknown = replace(known[0], answer=replace(known[0].answer, measured=replace(paid, cost_usd=None, usage=None)))
    spent = made(order, [unknown, *known[1:]]).spent
    assert (spent.calls, spent.cost_usd, spent.tokens, spent.seconds) == (12, None, None, 12.0)


def test_a_temperature_that_was_not_always_sent_is_not_claimed() -> None:
    order = EvaluationRequest("id-1", STARTER, TEXT_, "openai/x", Mode.FULL, 3)
    sent, unsent = (
        Vote("certainty_language", run, JudgeAnswer(Result.PASS, measured=CallMetrics(temperature=value, calls=1)))
        for run, value in ((1, 0.0), (2, None))
    )
    assert made(order, [sent]).model_fingerprints.evaluator.temperature == 0.0
    both = made(order, [sent, unsent])
    assert both.model_fingerprints.evaluator.temperature is None
    assert any("without a temperature" in limit for limit in both.limitations)


def test_the_playbook_of_the_library_is_the_one_that_is_tested() -> None:
    assert isinstance(STARTER, Playbook)
    assert tuple(check.id for check in STARTER.judged_checks) == JUDGED
