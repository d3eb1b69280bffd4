"""The HTML file: what is in it, that it is safe to open, and that it can be read by everyone."""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.engine.text.html.templates import _environment
from salvo.engine.text.unicode_escape import INVISIBLE, code_point
from salvo.playbooks.enums import DISCLAIMERS, Result, ShownStatus, Status
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.report.export import annotated_text, html
from salvo.playbooks.report.report import DocumentIdentity, Location, Report
from tests.playbooks.report.export.examples import INPUTS, SIGNED_BY, checks, everything, of_status
from tests.support.attacks import ATTACKS, attack_texts, with_text_everywhere
from tests.support.parsed_html import ParsedHtml

_KINDS: tuple[annotated_text.Kind, ...] = ("evidence", "finding")


def page(report: Report, inputs: Inputs | None = None) -> str:
    return html.render(report, inputs, signed_by=SIGNED_BY)


def annotated(text: str, positions: Iterable[annotated_text.PassagePosition]) -> str:
    template = _environment(html.PACKAGE).get_template("annotated_text.html")
    return template.render(text_lines=annotated_text.lines(text, positions))


_HARMLESS = ParsedHtml(page(with_text_everywhere(everything(), "x")))
_STABLE = ParsedHtml(page(of_status(Status.STABLE), INPUTS))


def test_it_has_every_part_of_the_report_in_order() -> None:
    outline = ParsedHtml(page(everything(), INPUTS))
    assert outline.by_element["h1"] + outline.by_element["h2"] == snapshot(
        [
            "BYOP observability report",
            "Recommended next steps",
            "Checks at a glance",
            "Findings in the text",
            "Checks",
            "Drift",
            "Assumptions stated in the text",
            "Areas not checked",
            "Limitations",
            "Suggested revision prompt",
            "The frozen text",
            "The source document",
            "The prompt",
            "Technical record",
        ]
    )


def test_a_title_can_end_neither_the_style_nor_the_string_it_is_printed_in() -> None:
    hostile = 'Lease "x"</style><script>alert(1)</script>\\'
    report = replace(everything(), document_identity=DocumentIdentity(hostile))
    outline = ParsedHtml(page(report))
    assert outline.by_element["h1"] == [hostile]
    assert "script" not in outline.by_element
    [style] = outline.by_element["style"]
    assert style.count("@top-left") == 1
    assert '"Lease \\22 x\\22 \\3c \\2f style' in style


def test_the_disclaimers_come_before_everything_else() -> None:
    for status in Status:
        text = ParsedHtml(page(of_status(status))).text
        body = text[text.index("(pages)") :]
        positions = [body.index(line) for line in DISCLAIMERS]
        assert positions == sorted(positions)
        assert positions[-1] < body.index("BYOP observability report")
        assert of_status(status).execution_mode.label in body


def test_on_paper_the_disclaimers_stand_on_every_page() -> None:
    [style] = ParsedHtml(page(everything())).by_element["style"]
    foot = style[style.index("@bottom-left") :]
    assert all(line in foot for line in DISCLAIMERS)


def test_a_card_says_all_there_is_to_a_check() -> None:
    card = page(everything(), INPUTS).split("<article")[2].split("</article>")[0]
    assert re.sub(r"\n*(<[^>]*>\n*)+", "\n", f"<{card}") == snapshot("""\

2. \n\
Certainty language
✗
 FAIL
Does the AI output use unjustified certainty without qualifiers, scope limits, or escalation guidance?
Severity
high
Votes
2 of 3
Confidence
not calibrated
Consistency
0.50
An absolute claim stands without a qualifier.
Evidence
“The agreement is fully lawful with Article 28 GDPR and always safe to sign.”
line 6 · runs 1, 3
“always safe to sign.
The security annex meets every requirement.”
line 6 · run 3
Dissent
Run 2: \n\
✓
 PASS
 \n\
The assumption at the top limits the claim.
“We assume that the controller is established in Germany”
line 3 · run 2
Rejected quotes
The evaluator gave these as quotes, but they are not passages of the text, are too short, are copied from its instructions, or are in text that addresses the evaluator. They carry no weight.
“guaranteed to be lawful”
Pattern hits
always
: \n\
“always”
 (
line 6
)
safe
: \n\
“safe”
 (
line 6
)
""")


def test_a_result_is_told_by_a_word_and_a_sign_not_by_colour_alone() -> None:
    outline = ParsedHtml(page(everything()))
    badges = [text for text in outline.by_element["span"] if text.split()[-1:] and text.split()[-1].isupper()]
    assert {"… INCOMPLETE", "✓ PASS", "✗ FAIL", "? INDETERMINATE"} <= set(badges)


def test_quotes_lead_to_their_place_in_the_frozen_text() -> None:
    outline = ParsedHtml(page(everything(), INPUTS))
    ids = outline.values("id")
    assert len(ids) == len(set(ids))
    links = outline.values("href")
    assert {link[1:] for link in links} <= set(ids)
    start = checks()[1].evidence_citations[0].location
    assert start is not None
    assert f"#text-{start.start}" in links


def test_without_the_inputs_nothing_leads_nowhere() -> None:
    outline = ParsedHtml(page(everything()))
    assert {link[1:] for link in outline.values("href")} <= set(outline.values("id"))
    assert "The frozen text" not in outline.by_element["h2"]


def test_another_text_than_the_reports_is_not_marked_and_is_said_to_be_another() -> None:
    outline = ParsedHtml(page(everything(), Inputs.from_texts("Another text.")))
    assert "not the text that the report was made from" in outline.text
    assert "mark" not in outline.by_element
    assert {link[1:] for link in outline.values("href")} <= set(outline.values("id"))


@given(text=st.text(min_size=1, max_size=60), data=st.data())
def test_marks_may_overlap_and_leave_the_text_as_it_is(text: str, data: st.DataObject) -> None:
    spots = data.draw(st.lists(st.tuples(*[st.integers(0, len(text))] * 2), max_size=8))
    places = [
        annotated_text.PassagePosition(Location(start, end, 1), kind, check)
        for (start, end), (kind, check) in zip(spots, product(_KINDS, (1, 2, 3, 4)), strict=False)
    ]
    outline = ParsedHtml(annotated(text, places))
    shown = [re.sub(r"\s+\Z", "", line) for line in outline.by_element["li"]]
    refs = len(outline.by_element.get("a", []))
    within = [place for place in places if place.location.start < place.location.end]
    assert refs == len({(place.location.end, place.check) for place in within if place.kind == "evidence"})
    assert len(shown) == text.count("\n") + 1
    if not refs:
        assert "\n".join(outline.by_element["li"]) == re.sub(INVISIBLE, lambda found: code_point(found.group()), text)
    assert set(outline.values("id")) == {annotated_text.anchor(place.location) for place in within}


def test_no_white_space_is_added_to_the_frozen_text() -> None:
    marked = [annotated_text.PassagePosition(Location(0, 3, 1), "evidence", 1)]
    assert annotated("one\n two", marked).strip() == snapshot(
        '<ol class="box frozen"><li><mark id="text-0" class="evidence">one</mark><a class="ref" href="#check-1">1</a></li><li> two</li></ol>'
    )


def test_a_place_outside_the_text_is_left_out() -> None:
    assert "mark" not in annotated("short", [annotated_text.PassagePosition(Location(3, 99, 1), "evidence", 1)])


def test_one_line_of_a_megabyte_with_many_marks_is_rendered() -> None:
    text = "legal " * 200_000
    hits = (annotated_text.PassagePosition(Location(at, at + 5, 1), "mention", 1) for at in range(0, len(text), 60))
    assert annotated(text, hits).count("<mark") == 20_000


@settings(max_examples=40)
@example(" ".join(ATTACKS))
@given(text=attack_texts)
def test_a_hostile_text_is_only_ever_text(text: str) -> None:
    hostile = ParsedHtml(page(with_text_everywhere(everything(), f"x{text}")))
    assert hostile.structure() == _HARMLESS.structure()
    assert re.sub(INVISIBLE, lambda found: code_point(found.group()), f"x{text}") in hostile.text


@settings(max_examples=40)
@given(text=attack_texts)
def test_a_hostile_frozen_text_is_only_ever_text(text: str) -> None:
    inputs = Inputs.from_texts(f"x{text}x", source_document=f"x{text}x", prompt=f"x{text}x")
    report = replace(
        of_status(Status.STABLE), integrity=replace(everything().integrity, inputs_fingerprint=inputs.fingerprint)
    )
    rendered = page(report, inputs)
    outline = ParsedHtml(rendered)
    allowed = {tag for tag, _ in _STABLE.elements} | {"span"}
    assert {tag for tag, _ in outline.elements} <= allowed
    assert {key for _, attrs in outline.elements for key, _ in attrs} <= {
        *(
            "charset",
            "http-equiv",
            "content",
            "name",
            "class",
            "id",
            "href",
            "lang",
            "dir",
            "role",
            "tabindex",
            "scope",
        ),
        *("aria-label", "aria-labelledby", "aria-hidden", "viewbox", "x", "y", "x1", "x2", "y1", "y2"),
        *("width", "height", "text-anchor"),
    }
    rendered.encode()


def test_the_file_asks_nothing_of_anyone() -> None:
    for report in (everything(), with_text_everywhere(everything(), "<img src=http://evil.example/x.png>")):
        rendered = page(report, INPUTS)
        markup = re.sub(r"&lt;.*?&gt;", "", rendered)
        assert not re.search(r"url\(|src=|@import|<(script|link|iframe|object|embed|base|form|img)\b", markup)
        assert all(link.startswith("#") for link in ParsedHtml(rendered).values("href"))
        assert ParsedHtml(rendered).values("style") == []


@pytest.mark.parametrize("character", ["\x00", "\u202e", "\ud800", "\u200b", "\U000e0041"])
def test_a_character_that_cannot_be_seen_is_spelled_out(character: str) -> None:
    rendered = page(with_text_everywhere(everything(), f"a{character}b"))
    assert f'a<span class="odd">U+{ord(character):04X}</span>b' in rendered
    assert character not in rendered
    rendered.encode()


def test_what_was_withheld_stays_withheld() -> None:
    [first, *rest] = checks()
    note = "The text is certified and legally safe."
    told = replace(
        first,
        notes=note,
        evidence_citations=tuple(replace(quote, context=note) for quote in first.evidence_citations),
        dissent=tuple(replace(one, notes=note) for one in checks()[1].dissent),
        raw_runs=tuple(replace(run, notes=note, raw_answer=note) for run in first.raw_runs),
    )
    rendered = page(replace(everything(), check_results=(told, *rest)), INPUTS)
    assert "certified" not in rendered
    assert "withheld" in rendered


def test_a_report_without_a_signature_says_so() -> None:
    assert "Not signed." in html.render(everything())


def test_results_of_every_kind_have_their_colour_class() -> None:
    classes = " ".join(ParsedHtml(page(everything())).values("class")).split()
    assert {*Result, ShownStatus.INCOMPLETE} <= set(classes)
