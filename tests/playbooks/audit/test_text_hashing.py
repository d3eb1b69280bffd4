"""A report without its texts: nothing of them is left, and everything else is."""

from dataclasses import replace

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.audit.integrity import report_hash
from salvo.playbooks.audit.text_hashing import is_withheld, vote_without_texts, withheld, without_texts
from salvo.playbooks.enums import Result
from salvo.playbooks.report.report import (
    ArtifactFinding,
    Citation,
    Dissent,
    Location,
    PatternHit,
    Report,
    UncheckedArea,
)
from tests.support.playbooks import a_report, a_vote

SECRET = "Projekt Abendrot"


def a_report_full_of_secrets() -> Report:
    """The secret stands wherever a text under evaluation, or a judge's words about it, may stand."""
    report = a_report()
    place = Location(3, 19, 1)
    quote = Citation(SECRET, place, f"near {SECRET}", (1,))
    run = replace(
        report.check_results[0].raw_runs[0],
        evidence_citations=(quote,),
        notes=SECRET,
        raw_answer=SECRET,
        problem=f"Provider says: {SECRET}",
    )
    check = replace(
        report.check_results[0],
        evidence_citations=(quote,),
        rejected_citations=(quote,),
        notes=f"It says {SECRET}.",
        raw_runs=(run,),
        dissent=(Dissent(1, Result.FAIL, SECRET, (quote,)),),
        pattern_hits=(PatternHit("projekt", SECRET, place),),
    )
    return a_report(
        summary=replace(
            report.summary, key_risks=(SECRET,), recommended_next_steps=(f"Strike {SECRET}.",), mending_prompt=SECRET
        ),
        check_results=(check,),
        artifact_findings=(ArtifactFinding("injection", f"It says {SECRET}", SECRET, place),),
        assumptions_extracted=(replace(report.assumptions_extracted[0], text=SECRET),),
        uncertainty=(f"indeterminate: {SECRET}",),
        unchecked_areas=(UncheckedArea(SECRET, "output", place), UncheckedArea("No source was given.", "runner")),
    )


def test_no_text_is_left() -> None:
    report = a_report_full_of_secrets()
    assert SECRET in json_codec.dumps(report).decode()
    assert SECRET not in json_codec.dumps(without_texts(report)).decode()


def test_results_confidences_offsets_and_our_own_words_stay() -> None:
    report = a_report_full_of_secrets()
    kept = without_texts(report)
    [before], [check] = report.check_results, kept.check_results
    assert (check.result, check.per_check_confidence, check.per_check_consistency) == (Result.PASS, 0.9, 1.0)
    assert check.evidence_citations[0].location == before.evidence_citations[0].location
    assert check.pattern_hits[0].pattern == "projekt"
    assert [(run.run, run.result, run.valid, run.confidence) for run in check.raw_runs] == [(1, Result.PASS, True, 0.9)]
    assert kept.summary.status_reasons == report.summary.status_reasons
    assert kept.unchecked_areas[1] == report.unchecked_areas[1]
    assert kept.limitations == report.limitations
    assert without_texts(a_report()).check_results[-1].notes == "There is no baseline."


def test_whoever_has_the_text_can_prove_what_was_quoted() -> None:
    [check] = without_texts(a_report_full_of_secrets()).check_results
    assert check.evidence_citations[0].span == f"withheld:{sha256(SECRET.encode())}"
    assert is_withheld(check.evidence_citations[0].span)
    assert not is_withheld("It was withheld: sha256")
    assert withheld("") == ""
    assert is_withheld(withheld("half \ud800"))


def test_it_says_so_and_has_a_hash_of_its_own() -> None:
    report = a_report()
    kept = without_texts(report)
    assert (report.texts_withheld, kept.texts_withheld) == (False, True)
    assert kept.integrity.report_hash == report_hash(kept.document()) != report.integrity.report_hash
    assert without_texts(kept) == kept


def test_a_vote_keeps_its_verdict_and_what_was_measured() -> None:
    vote = a_vote(notes=SECRET, raw=SECRET, problem=SECRET)
    kept = vote_without_texts(vote)
    assert SECRET not in repr(kept)
    assert kept.exchanges == ()
    assert (kept.check_id, kept.run, kept.answer.result, kept.answer.confidence, kept.answer.measured) == (
        vote.check_id,
        vote.run,
        vote.answer.result,
        vote.answer.confidence,
        vote.answer.measured,
    )
