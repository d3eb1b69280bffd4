"""What a report says, in the words that its renderings share."""

import re
from dataclasses import replace

import pytest

from salvo.playbooks.enums import FORBIDDEN_CLAIMS, Result, Severity, Status
from salvo.playbooks.report import check_labels, labels, terminal
from salvo.playbooks.report.export import html, markdown
from salvo.playbooks.report.report import Report, Spending, Tokens
from tests.playbooks.report.export.examples import (
    FAIL,
    INDETERMINATE,
    INPUTS,
    PASS,
    check,
    everything,
    fault,
    of_status,
    run,
)


def renderings(report: Report) -> dict[str, str]:
    return {
        "html": html.render(report, INPUTS),
        "markdown": markdown.render(report),
        "terminal": "\n".join(terminal.lines(report)),
    }


@pytest.mark.parametrize("report", [everything(), *map(of_status, Status)], ids=["everything", *Status])
def test_no_rendering_makes_a_forbidden_claim(report: Report) -> None:
    for rendered in renderings(report).values():
        assert not re.search("|".join(FORBIDDEN_CLAIMS), rendered, re.IGNORECASE)


@pytest.mark.parametrize("claim", FORBIDDEN_CLAIMS)
def test_a_note_that_makes_one_is_withheld_everywhere(claim: str) -> None:
    note = f"The text is {claim}."
    told = replace(everything().check_results[0], notes=note)
    for rendered in renderings(replace(everything(), check_results=(told,))).values():
        assert claim not in rendered
        assert "withheld" in rendered


def test_every_rendering_credits_byop_or_names_the_specification() -> None:
    shown = renderings(everything())
    assert labels.CREDIT in shown["html"]
    assert labels.CREDIT in shown["markdown"]
    assert "BYOP 0.1" in shown["terminal"]


def test_a_report_whose_texts_gave_way_to_hashes_says_so_everywhere() -> None:
    for rendered in renderings(replace(everything(), texts_withheld=True)).values():
        assert "Only fingerprints were stored" in rendered


def test_unknown_stays_unknown() -> None:
    report = replace(everything(), spent=Spending(12, None, None, None))
    assert [row.value for row in labels.spending(report)] == ["12", *["unknown"] * 3, "unknown, summed over all calls"]
    assert check_labels.score(None) == "unknown"


def test_tokens_name_only_the_buckets_that_hold_some() -> None:
    assert labels.tokens(Tokens(1200, 30, 0, 0)) == "1,200 in, 30 out"
    assert labels.tokens(Tokens(0, 30, 900, 100)) == "0 in, 900 read from the cache, 100 written to the cache, 30 out"


@pytest.mark.parametrize(
    "results, result, told",
    [
        ([PASS, PASS, PASS], PASS, "3 of 3"),
        ([FAIL, PASS, FAIL], FAIL, "2 of 3"),
        ([FAIL, PASS, INDETERMINATE], INDETERMINATE, "split: 1 pass, 1 fail, 1 indeterminate"),
        ([FAIL, PASS], INDETERMINATE, "split: 1 pass, 1 fail"),
        ([], PASS, "–"),
    ],
)
def test_votes_are_counted_as_they_were_cast(results: list[Result], result: Result, told: str) -> None:
    runs = tuple(run(number, vote) for number, vote in enumerate(results, 1))
    assert check_labels.votes(check("x", Severity.HIGH, result, "?", raw_runs=runs)) == told


def test_a_vote_that_its_evidence_did_not_bear_out_is_counted_for_what_it_was() -> None:
    overruled = check("x", Severity.HIGH, INDETERMINATE, "?", raw_result=FAIL, raw_runs=(run(1, FAIL), run(2, FAIL)))
    assert check_labels.votes(overruled) == "2 of 2 for fail"


def test_faults_are_no_votes() -> None:
    incomplete = check(
        "x", Severity.HIGH, INDETERMINATE, "?", incomplete=True, raw_runs=(run(1, PASS), fault(2), fault(3))
    )
    assert check_labels.votes(incomplete) == "1 valid of 3"
    assert check_labels.vote(replace(fault(2), problem="")) == "no vote: no usable answer"


def test_a_consistency_that_no_votes_bear_is_not_put_in_a_band() -> None:
    of = everything()
    nothing = [replace(check, per_check_consistency=None) for check in of.check_results]
    score = replace(of.variance_summary, consistency_score=0.0)
    of = replace(of, check_results=tuple(nothing), variance_summary=score)
    assert labels.variance(of)[1].value == "not measured"
    assert not labels.shows_consistency(of)


@pytest.mark.parametrize(
    "score, band", [(0.85, "stable"), (0.84, "some findings diverge"), (0.69, "not reliable for decisions")]
)
def test_a_consistency_is_read_by_the_playbooks_thresholds(score: float, band: str) -> None:
    of = replace(everything(), variance_summary=replace(everything().variance_summary, consistency_score=score))
    assert labels.variance(of)[1].value == f"{score:.2f} – {band}"
