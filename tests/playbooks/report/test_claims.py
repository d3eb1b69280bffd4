"""Whether a judge's note asserts a forbidden claim in its own voice."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.playbooks.enums import FORBIDDEN_CLAIMS
from salvo.playbooks.report import claims
from salvo.playbooks.report.claims import CLAIMS, forbidden_claims

ASSERTED = [
    ("The output is compliant with GDPR.", ["compliant"]),
    ("The DPA is fully compliant.", ["compliant"]),
    ("Overall, the clause is GDPR-compliant.", ["compliant"]),
    ("The agreement is in full compliance with the GDPR.", ["compliant"]),
    ("The processing complies with the AI Act.", ["compliant"]),
    ("COMPLIANT. All points are met.", ["compliant"]),
    ("The output states its assumptions and is compliant.", ["compliant"]),
    ("The output does not hedge, but it is compliant.", ["compliant"]),
    ("Although no source was given, the output is compliant.", ["compliant"]),
    ("There is no doubt that the clause is compliant.", ["compliant"]),
    ("I conclude that the transfer is compliant.", ["compliant"]),
    ("The evaluation concludes that the DPA is compliant.", ["compliant"]),
    ("The evidence shows that the clause is compliant.", ["compliant"]),
    ("The clause appears to be compliant.", ["compliant"]),
    ("No escalation is needed because the clause is compliant.", ["compliant"]),
    ("The vendor has been certified.", ["certified"]),
    ("The system is ISO-27001 certified.", ["certified"]),
    ("Certification was granted in May.", ["certified"]),
    ("The vendor holds a valid ISO certification.", ["certified"]),
    ("This wording is legally safe.", ["legally safe"]),
    ("The language used in clause 4 is compliant.", ["compliant"]),
    ("According to our evaluation, the DPA is compliant.", ["compliant"]),
    ("The clause is legally quite safe to use.", ["legally safe"]),
    ("It is safe from a legal perspective.", ["legally safe"]),
    ("The template is regulator-approved.", ["regulator approved"]),
    ("The clauses were approved by the regulator.", ["regulator approved"]),
    ("The clauses are approved by the competent supervisory authority.", ["regulator approved"]),
    ("The ICO has approved this form.", ["regulator approved"]),
    ("Regulatory approval was granted.", ["regulator approved"]),
    ("The clause is not only compliant, it is certified.", ["certified", "compliant"]),
    ("It is certified, compliant, legally safe and regulator approved.", list(FORBIDDEN_CLAIMS)),
    ("He wrote “fine”. The clause is com\u200bpliant.", ["compliant"]),
    ("The clause isn't vague; it is compliant.", ["compliant"]),
    ("The output correctly confirms that the DPA is compliant.", ["compliant"]),
    ("The clause is likely compliant, with caveats.", ["compliant"]),
]

EXEMPT = [
    "The output says “the clause is compliant”.",
    "The output claims the clause is compliant without any qualifier.",
    "Unqualified use of 'compliant' in the first line.",
    "It uses compliant, certified and legally safe as if they were facts.",
    "The word compliant stands alone.",
    "The terms certified and legally safe are absolute.",
    "The text states that the vendor is certified and that the DPA is compliant.",
    "The output asserts that processing is GDPR-compliant and legally safe.",
    "The output presents the template as regulator approved.",
    "It describes the clauses as approved by the regulator.",
    "The vendor is not certified.",
    "The output does not show it is compliant.",
    "It isn't clear that the clause is compliant.",
    "Nothing shows that the system was certified.",
    "It is unclear whether the DPA is compliant.",
    "The clause is non-compliant.",
    "The clause is noncompliant with Article 28.",
    "The system is uncertified.",
    "The output never says who approved it; the regulator is not named.",
    "The clause must be compliant with Article 28 before signature.",
    "Is the clause compliant?",
    "That the clause is compliant is asserted without evidence.",
    "Compliant is used without a qualifier.",
    "The compliant claim is unqualified.",
    "Absolute claims such as compliant are not hedged.",
    "According to the output, the vendor is certified.",
    "The output describes the transfer as “legally safe”, «certified» and \u2018compliant\u2019.",
    "A certified copy is asked for.",
    "The duty to comply with the GDPR is named.",
    "The output names the regulator and the approval process.",
    "The output labels the DPA compliant.",
    "Calling the clause compliant goes beyond what the source shows.",
    "No qualifier stands near the statement that it is compliant.",
    "The sentence guarantees safety.",
    "The output hedges its view that the clause is compliant.",
    "Absolute language (compliant, always) lacks qualifiers.",
    "The compliant/non-compliant labels are unqualified.",
    "The draft's conclusion that the tool is compliant is unqualified.",
    "Presenting the tool as certified is unqualified certainty.",
    "",
]


@pytest.mark.parametrize("note, claims", ASSERTED)
def test_an_assertion_in_the_judges_own_voice_is_told(note: str, claims: list[str]) -> None:
    assert forbidden_claims(note) == claims


@pytest.mark.parametrize("note", EXEMPT)
def test_quotes_words_about_a_quote_denials_and_questions_are_exempt(note: str) -> None:
    assert forbidden_claims(note) == []


def test_every_forbidden_claim_has_its_words() -> None:
    assert tuple(CLAIMS) == FORBIDDEN_CLAIMS
    assert {claim for _, claims in ASSERTED for claim in claims} == set(FORBIDDEN_CLAIMS)


@given(st.sampled_from([note for note, _ in ASSERTED]), st.sampled_from(EXEMPT))
def test_an_assertion_stays_one_whatever_harmless_sentence_stands_before_it(note: str, before: str) -> None:
    assert forbidden_claims(f"{before} {note}") == forbidden_claims(note)


@given(st.text())
def test_any_note_at_all_can_be_read(note: str) -> None:
    assert set(forbidden_claims(note)) <= set(FORBIDDEN_CLAIMS)


@pytest.mark.parametrize("unit", ["'", '"', "'a ", "compliant ", "not ", "a.", ". ", "use of compliant, and is "])
def test_a_long_note_makes_the_claims_of_a_short_one(unit: str) -> None:
    assert forbidden_claims(unit * (30_000 // len(unit))) == forbidden_claims(unit * 10)


@pytest.mark.parametrize(
    "note",
    [
        "not " + "compliant " * 50_000,
        "The output says " + "certified and compliant " * 25_000,
        "must be compliant " * 25_000,
        "compliant claims " * 25_000,
        "compliant-" * 50_000,
        "legally " * 50_000,
        "approved by the " * 25_000,
        "' \"" * 100_000,
    ],
)
def test_a_note_of_half_a_megabyte_is_checked_in_linear_time(note: str) -> None:
    assert set(forbidden_claims(note)) <= set(FORBIDDEN_CLAIMS)  # in quadratic time this takes many minutes


WORDS = st.sampled_from([
    "compliant", "certified", "legally", "safe", "not", "no", "the", "output", "says", "claims", "that", "term", "word",
    "non", "-", "must", "be", "very", "fully", ",", "it", "is", "we", "conclude", "according", "to", "label", ":", "(",
    "approved", "by", "regulator", "with", "law", "remains", "stated", "unclear", "whether", "GDPR", "'", '"', ".", ";",
    "x" * 30, "regulator approved", "in compliance with", "has an ISO certification", "in order to be",
])  # fmt: skip


@given(st.lists(WORDS, max_size=40))
def test_each_claim_is_judged_by_all_that_stands_before_it(words: list[str]) -> None:
    """The patterns look at each prefix as if it were the whole text."""
    clauses = list(claims._clauses(" ".join(words)))

    def exempt(before: str, after: str) -> bool:
        reported = claims._REPORTED.search(before)
        if reported is not None and not claims._OWN_VOICE.search(before, 0, reported.start()):
            return True
        return bool(
            claims._DENIED.search(before) or claims._ASKED_FOR.search(before) or claims._TALKED_ABOUT.match(after)
        )

    asserted = [
        claim
        for claim in FORBIDDEN_CLAIMS
        if any(
            not exempt(clause[: match.start()], clause[match.end() :])
            for clause in clauses
            for match in re.finditer(CLAIMS[claim], clause)
        )
    ]
    assert forbidden_claims(" ".join(words)) == asserted
