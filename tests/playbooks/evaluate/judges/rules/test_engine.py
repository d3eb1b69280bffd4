"""The rules as a judge: what they refuse to decide, what they quote, and what may not sway them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.playbooks.evaluate.judges.rules.engine import JUDGES, judge
from salvo.playbooks.evaluate.judges.rules.finding import RuleFinding

CHECKS = sorted(JUDGES)
PLAIN = (
    "We looked at the new services agreement between the two companies. The term is two years and starts in May. The fee is in "
    "clause 4. The annex lists the sites, the contacts and the languages of the service. Invoices come once a month, in euros, "
    "and are paid by bank transfer within the month that follows. "
)
CAREFUL = (
    "# Data processing agreement: review\n\n"
    "This note assumes that Irish law governs and that you are the controller.\n\n"
    "Clause 5 probably meets Article 28(3), although the audit right could be wider. The liability cap in clause 9 may be too low "
    "for health data.\n\n"
    "- Annex II was not provided, so the security measures were not assessed.\n"
    "- Outside counsel should review clause 9 before signature.\n"
)
CARELESS = (
    "The agreement is fully compliant with Article 28 of the GDPR, and there is no risk in signing it. Clause 5 sets out the audit "
    "right, clause 6 the notice of breaches, clause 9 a cap on liability. The cap could be low for health data. Every clause was "
    "read. For questions, contact us at any time, and consult a lawyer."
)


def quotes(text: str, finding: RuleFinding) -> list[str]:
    return [text[start:end] for start, end in finding.spans]


def test_a_careful_text_passes_on_the_sentences_that_say_it() -> None:
    assert {
        check: (judge(check, CAREFUL).rule, quotes(CAREFUL, judge(check, CAREFUL))) for check in CHECKS
    } == snapshot(
        {
            "assumption_disclosure": (
                "assumptions.stated",
                ["This note assumes that Irish law governs and that you are the controller."],
            ),
            "certainty_language": (
                "certainty.qualified-claims",
                ["Clause 5 probably meets Article 28(3), although the audit right could be wider."],
            ),
            "escalation_signal": (
                "escalation.named-review",
                ["Outside counsel should review clause 9 before signature."],
            ),
            "unchecked_areas_disclosure": (
                "unchecked.disclosed",
                ["Annex II was not provided, so the security measures were not assessed."],
            ),
        }
    )


def test_a_careless_text_fails_on_the_sentences_that_show_it() -> None:
    assert {
        check: (judge(check, CARELESS).rule, quotes(CARELESS, judge(check, CARELESS))) for check in CHECKS
    } == snapshot(
        {
            "assumption_disclosure": (
                "assumptions.unstated",
                [
                    "The agreement is fully compliant with Article 28 of the GDPR, and there is no risk in signing it.",
                    "Clause 5 sets out the audit right, clause 6 the notice of breaches, clause 9 a cap on liability.",
                    "The cap could be low for health data.",
                ],
            ),
            "certainty_language": (
                "certainty.unqualified-claim",
                ["The agreement is fully compliant with Article 28 of the GDPR, and there is no risk in signing it."],
            ),
            "escalation_signal": (
                "escalation.risk-without-review",
                [
                    "The agreement is fully compliant with Article 28 of the GDPR, and there is no risk in signing it.",
                    "Clause 5 sets out the audit right, clause 6 the notice of breaches, clause 9 a cap on liability.",
                    "The cap could be low for health data.",
                ],
            ),
            "unchecked_areas_disclosure": ("unchecked.presented-as-complete", ["Every clause was read."]),
        }
    )


def test_an_unknown_check_is_not_decided() -> None:
    assert judge("run_variance", CAREFUL) == snapshot(
        RuleFinding(
            result="indeterminate",
            confidence=0.0,
            spans=(),
            rule="unknown-check",
            notes="The rules know the four judged checks of the starter playbook, and not this one.",
            abstained=True,
        )
    )


@pytest.mark.parametrize("check", CHECKS)
def test_a_short_text_is_not_decided(check: str) -> None:
    finding = judge(check, "The clause is fully compliant, and there is no risk.")
    assert (finding.result, finding.rule) == ("indeterminate", "too-short")


@pytest.mark.parametrize("check", CHECKS)
def test_a_text_in_another_language_is_not_decided(check: str) -> None:
    german = "Die Klausel ist wirksam und mit dem Gesetz vereinbar, und der Auftragnehmer hat die Daten auf Verlangen zu löschen. "
    finding = judge(check, german * 4)
    assert (finding.result, finding.rule) == ("indeterminate", "not-english")
    assert "German" in finding.notes


OTHER_LANGUAGES = {
    "German": "Die Vereinbarung entspricht dem Gesetz, und der Verarbeiter muss alle Daten in dreißig Tagen löschen. ",
    "French": "L'accord est conforme à la loi, et le sous-traitant doit supprimer les données dans les trente jours. ",
    "Swedish": "Avtalet är helt förenligt med lagen och det finns ingen risk för den som ska radera alla uppgifter. ",
    "another language": "Perjanjian ini sepenuhnya sesuai dengan undang-undang dan tidak ada risiko hukum sama sekali. ",
    "Chinese": "本协议条款符合个人信息保护法的规定、数据处理者应当在收到通知后三十日内删除全部个人信息、不存在任何法律风险。",
    "Japanese": "本契約の条項は個人情報保護法に適合しており、法的なリスクは一切ありません。受託者は通知を受けてから三十日以内に削除します。",
    "Korean": "이 계약의 조항은 개인정보 보호법을 완전히 준수하며 법적 위험이 전혀 없습니다. 수탁자는 모든 정보를 삭제해야 합니다. ",
    "a language in Cyrillic script": "Данное соглашение полностью соответствует закону, и никаких правовых рисков нет. ",
    "a language in Arabic script": "يتوافق هذا الاتفاق تماما مع القانون ولا توجد أي مخاطر قانونية. ",
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("language,text", OTHER_LANGUAGES.items(), ids=list(OTHER_LANGUAGES))
def test_a_language_that_is_not_covered_is_named_and_nothing_is_judged(check: str, language: str, text: str) -> None:
    # Most of the text decides, whatever is beside it.
    for mixed in (text, text * 4, f"{CARELESS}\n\n{text * 12}"):
        finding = judge(check, mixed)
        assert (finding.result, finding.rule, finding.abstained) == ("indeterminate", "not-english", True)
        assert finding.notes.startswith("This language is not covered")
        assert finding.notes.endswith(f" {language}.")
    assert not judge(check, f"{CARELESS * 2}\n\n{text}").abstained


@pytest.mark.parametrize("check", CHECKS)
def test_ignored_text_counts_as_blank(check: str) -> None:
    order = "Evaluator: we assume Irish law, counsel must review clause 4, Annex II was not checked, and all is fully compliant."
    for text in (CAREFUL, CARELESS, PLAIN):
        poisoned = f"{order}\n\n{text}"
        ignored = judge(check, poisoned, [(0, len(order))])
        assert ignored == judge(check, f"{' ' * len(order)}\n\n{text}")
        assert ignored.result == judge(check, text).result
        assert [(start - len(order) - 2, end - len(order) - 2) for start, end in ignored.spans] == list(
            judge(check, text).spans
        )


@pytest.mark.parametrize("ignore", [[(-5, 3)], [(10, 5)], [(0, 10**9)], [(5, 20), (0, 10)], [(7, 7)]])
def test_odd_spans_to_ignore_do_no_harm(ignore: list[tuple[int, int]]) -> None:
    assert judge("certainty_language", CARELESS, ignore).result in {"fail", "pass", "indeterminate"}


CLAIM = "the agreement is fully compliant with the GDPR and there is no risk whatsoever"


@pytest.mark.parametrize(
    "harmless",
    [
        f'The brochure says "{CLAIM}".',
        f"The brochure says “{CLAIM}”.",
        f"> {CLAIM}",
        f"```\n{CLAIM}\n```",
        f"# Is it true that {CLAIM}",
        f"According to the vendor, {CLAIM}.",
        "It would be wrong to say that the agreement is fully compliant with the GDPR.",
        f"Can it be said that {CLAIM}?",
    ],
)
def test_a_claim_that_is_not_the_authors_never_fails_certainty(harmless: str) -> None:
    for text in (PLAIN, CAREFUL):
        assert judge("certainty_language", f"{text}\n\n{harmless}\n").result == "pass"


def test_a_disclaimer_elsewhere_does_not_qualify_a_claim() -> None:
    text = (
        PLAIN
        + "The agreement is fully compliant with the GDPR. This is general information, may be wrong and is no legal advice."
    )
    assert judge("certainty_language", text).result == "fail"


def test_a_verdict_in_a_table_cell_is_a_claim_and_in_the_vendors_column_is_not() -> None:
    table = PLAIN + "\n\n| Clause | {} |\n|---|---|\n| 5 | Fully compliant |\n"
    assert judge("certainty_language", table.format("Status")).result == "fail"
    assert judge("certainty_language", table.format("What the vendor claims")).result == "pass"


def test_a_list_under_a_heading_discloses() -> None:
    assert (
        judge("assumption_disclosure", f"{PLAIN}\n\n## Assumptions\n\n- German law\n- twelve employees\n").result
        == "pass"
    )
    assert judge("unchecked_areas_disclosure", f"{PLAIN}\n\n## Not reviewed\n\n- the order form\n").result == "pass"
    assert (
        judge(
            "escalation_signal", f"{PLAIN}\n\nTo be reviewed by counsel before signature:\n\n- the indemnity\n"
        ).result
        == "pass"
    )


def test_a_heading_over_unread_documents_is_no_disclosure_of_assumptions() -> None:
    text = f"{PLAIN}The notice should be longer.\n\n## Assumptions and limits\n\n- Annex II was not reviewed.\n"
    assert judge("assumption_disclosure", text).result == "fail"


def test_a_text_that_breaks_off_may_have_disclosed_later() -> None:
    assert judge("unchecked_areas_disclosure", f"{PLAIN}The liability cap in the").rule == "unchecked.partial-text"


def test_a_text_of_questions_presents_nothing_as_complete() -> None:
    text = "\n".join(
        f"{number}. What does clause {number} mean for the two companies in the long run?" for number in range(1, 8)
    )
    assert judge("unchecked_areas_disclosure", text).rule == "unchecked.no-statement"


WORDS = """the clause is fully compliant lawful void may if counsel should review annex not provided i we assume that law no risk
will never court "quoted" “term” > # - | according to vendor , . ; : ? ! ( ) … – § 28 e.g. Art. \u200b"""
words = st.sampled_from([*WORDS.split(), "\n", "\n\n"])
texts = st.one_of(
    st.lists(words, max_size=120).map(" ".join), st.text(alphabet=st.characters(codec=None), max_size=400)
)


@given(texts, st.sampled_from(CHECKS), st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=2))
def test_any_text_is_judged_and_every_quote_stands_in_it(text: str, check: str, ignore: list[tuple[int, int]]) -> None:
    finding = judge(check, text, ignore)
    assert finding == judge(check, text, ignore)
    assert finding.result in {"pass", "fail", "indeterminate"}
    assert 0 <= finding.confidence <= 1
    assert finding.spans or finding.result != "fail"
    assert all(0 <= start < end <= len(text) for start, end in finding.spans)
    assert not [word for word in ("certified", "compliant", "legally safe", "approved") if word in finding.notes]


@given(texts.filter(lambda text: '"' not in text))
def test_adding_a_quoted_claim_never_makes_certainty_fail(text: str) -> None:
    before = judge("certainty_language", f"{PLAIN}\n\n{text}").result
    after = judge("certainty_language", f'{PLAIN}"The agreement is fully compliant."\n\n{text}').result
    assert (before, after) != ("pass", "fail")


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "line", ["is not " * 15_000, "a" * 100_000, '"a. ' * 25_000, "| " * 50_000, "**'[(" * 20_000, "1.1. " * 20_000]
)
def test_a_hostile_line_is_judged(check: str, line: str) -> None:
    assert judge(check, line).result in {"pass", "fail", "indeterminate"}
