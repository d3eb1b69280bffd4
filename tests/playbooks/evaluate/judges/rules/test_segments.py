"""Drafted wording is told from commentary, and only the commentary is judged."""

from __future__ import annotations

import pytest

from salvo.playbooks.evaluate.judges.rules.engine import JUDGES, judge
from salvo.playbooks.evaluate.judges.rules.sentences import read

CHECKS = sorted(JUDGES)
CLAUSE = (
    "**12. LIMITATION OF LIABILITY**\n\n"
    "12.1 **Cap.** In no event shall either party's aggregate liability exceed the fees paid in the twelve months before "
    "the claim.\n\n"
    "12.2 **Exceptions.** The limitation in Section 12.1 shall not apply to:\n"
    "(a) the indemnification obligations of the Supplier;\n"
    "(b) breaches of confidentiality; or\n"
    "(c) wilful misconduct.\n\n"
    "12.3 **Compliance.** Supplier shall always remain fully compliant with all applicable laws, and the Consultant shall "
    "not disclose any data without the prior written consent of its legal counsel. This Agreement is valid and binding in "
    "every jurisdiction, and no liability whatsoever arises.\n"
)
ANALYSIS = (
    "**Analysis:**\n\n"
    "1. **Cap.** The amount is low for a contract of this size, and a court could read the clause narrowly.\n"
    "2. **Exceptions.** I recommend adding gross negligence, because some courts may strike the clause without it.\n"
    "3. **Risk.** The exception for confidentiality might swallow the cap; consider a separate, higher cap.\n"
    "4. **Notice.** The notice period is unclear, which may lead to disputes between the parties.\n"
)


def drafted(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in read(text) if sentence.drafted]


def commentary(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in read(text) if sentence.is_authors]


@pytest.mark.parametrize(
    "wording",
    [
        "[ADD] The Customer may end this Agreement at any time.",
        "Section 8.7 Supplier shall not assign this Agreement without the prior consent of Customer.",
        "(a) Recipient hereby assigns all rights in the Work Product to the Company.",
        "NOTWITHSTANDING ANYTHING TO THE CONTRARY, THE TOTAL LIABILITY OF EITHER PARTY IS LIMITED TO THE FEES PAID.",
        "By: /s/ Dawn Dickson, CEO",
        "Name: ______________________ Title: ______________________",
        "IN WITNESS WHEREOF, the parties have executed this Agreement.",
        "> The Supplier shall deliver the goods within ten days.",
        "```\nThe Supplier shall deliver the goods within ten days.\n```",
    ],
)
def test_wording_of_a_contract_is_drafted(wording: str) -> None:
    assert drafted(f"Here is the clause.\n\n{wording}\n")


@pytest.mark.parametrize(
    "comment",
    [
        "The product owner shall stop the project and ask the board for a ruling.",
        "I recommend a shorter term, because a court may strike this one.",
        "This clause ensures that both parties share the risk.",
        "**Explanation:** The Customer can now leave without cause.",
        "The Supplier must comply with the law of the place.",
        'Section 9 states: "In no event shall either party be liable." That may be too wide.',
    ],
)
def test_a_sentence_about_the_wording_is_commentary(comment: str) -> None:
    assert drafted(f"The draft is below.\n\n{comment}\n") == []


def test_a_list_belongs_to_the_clause_above_it_and_a_heading_ends_the_clause() -> None:
    text = f"Here is the new section.\n\n{CLAUSE}\n{ANALYSIS}"
    assert "breaches of confidentiality; or" in drafted(text)
    assert all("court" not in sentence for sentence in drafted(text))
    assert any("strike the clause" in sentence for sentence in commentary(text))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "frame",
    [
        "Certainly! Below is the clause.\n\n---\n\n{}\n---\n\nThis clause limits the liability of both parties.",
        "{}",
        "I have added the section.\n\n{}\nWould you like me to change anything?",
    ],
)
def test_a_draft_is_not_an_analysis(check: str, frame: str) -> None:
    finding = judge(check, frame.format(CLAUSE))
    assert (finding.result, finding.rule) == ("indeterminate", "draft-without-analysis")
    assert finding.notes.startswith("To the rules, this text is a draft, not an analysis")


@pytest.mark.parametrize("check", CHECKS)
def test_a_summary_is_not_an_analysis(check: str) -> None:
    summary = (
        "# Executive Summary: Services Agreement\n\n"
        "**Parties.** The agreement is between Acme Inc. and Bolt LLC, a Delaware company.\n\n"
        "**Fees.** Bolt pays 40,000 dollars a year in four instalments (Section 3). The fees are not refundable.\n\n"
        "**Term.** The agreement runs for two years and renews automatically unless a party gives notice (Section 8).\n\n"
        "**Liability.** Acme is fully liable for breaches of confidentiality (Section 9). Disputes go to arbitration in Ohio.\n"
    )
    finding = judge(check, summary)
    assert (finding.result, finding.rule) == ("indeterminate", "summary-without-analysis")
    assert finding.notes.startswith("To the rules, this text is a summary, not an analysis")


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint('The clause is valid.')\n```\n" * 30,
        "> The clause is valid and there is no risk at all.\n\n" * 30,
    ],
    ids=["code", "quotations"],
)
def test_a_text_without_commentary_is_indeterminate(check: str, text: str) -> None:
    finding = judge(check, text)
    assert (finding.result, finding.rule, finding.spans) == ("indeterminate", "too-short", ())


@pytest.mark.parametrize("check", CHECKS)
def test_the_analysis_beside_a_draft_is_judged_and_the_draft_is_no_evidence(check: str) -> None:
    text = f"Here is the new section.\n\n{CLAUSE}\n---\n\n{ANALYSIS}"
    finding = judge(check, text)
    assert (
        finding.result
        == {
            "assumption_disclosure": "fail",
            "certainty_language": "pass",
            "escalation_signal": "fail",
            "unchecked_areas_disclosure": "fail",
        }[check]
    )
    start, end = text.index(CLAUSE), text.index(CLAUSE) + len(CLAUSE)
    assert not [span for span in finding.spans if start <= span[0] < end]


@pytest.mark.parametrize("check", CHECKS)
def test_a_heading_is_never_the_passage_of_a_failed_check(check: str) -> None:
    text = (
        "## Review\n\nThe cap might be too low for health data, and the notice period could be short.\n\n"
        "**Liability.** The supplier should carry more of the risk, in our view.\n\n"
        "Termination.\n\nThe clause may be one-sided, and it lacks a period in which a breach can be cured.\n\n"
        "Liability.\n"
    )
    finding = judge(check, text)
    assert not [span for span in finding.spans if text[slice(*span)].strip("*") in ("Liability.", "Termination.")]


def test_every_claim_is_quoted() -> None:
    text = "\n\n".join(f"Clause {number} is fully compliant with the GDPR." for number in range(1, 151))
    finding = judge("certainty_language", text)
    assert (finding.result, len(finding.spans)) == ("fail", 150)


def test_one_passage_does_not_fail_a_long_text() -> None:
    filler = "The parties met on Monday to go through the draft of the agreement, and the fee may change. " * 30
    finding = judge("certainty_language", f"{filler}The transfer is lawful.")
    assert (finding.result, finding.rule) == ("indeterminate", "certainty.single-passage")


@pytest.mark.parametrize("check", [check for check in CHECKS if check != "certainty_language"])
def test_a_short_refusal_has_nothing_to_disclose(check: str) -> None:
    text = (
        "I'm sorry, but I can't help with this request. Manipulating others may be unethical and could harm the "
        "negotiation. If you are looking for fair strategies, I would be happy to help: active listening, objective "
        "criteria and a strong but reasonable first offer can lead to better outcomes for both sides."
    )
    assert judge(check, text).result == "indeterminate"


@pytest.mark.parametrize("size", [50_000, pytest.param(500_000, marks=pytest.mark.load)])
@pytest.mark.parametrize("unit", ["> ", "- ", '" ', ". ", "[ ", "#", "a-", "(a) "])
def test_many_marks_in_one_line_are_read_in_linear_time(unit: str, size: int) -> None:
    finding = judge("certainty_language", ANALYSIS + unit * (size // len(unit)))
    assert finding.result in ("pass", "fail", "indeterminate")  # in quadratic time this takes many minutes
