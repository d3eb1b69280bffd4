"""The report as one HTML file: no script, no request to anyone, readable on a screen and on paper.

Whatever comes from the text under test, the evaluator or the playbook is hostile: `markup` escapes it, and the policy
in the head allows nothing but the one stylesheet, by its hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from salvo.engine.text.formatting import NamedValue
from salvo.engine.text.html import blocks
from salvo.engine.text.html.markup import Child, Markup, element, foreign, joined
from salvo.engine.text.html.page import page, paper, stylesheet
from salvo.playbooks.enums import DISCLAIMERS
from salvo.playbooks.evaluate.inputs import NAMES, Inputs
from salvo.playbooks.report import labels
from salvo.playbooks.report.export import annotated_text, badges
from salvo.playbooks.report.report import CheckResult, Citation, Location, ReportFile

_LEGEND = "Evidence is highlighted, with the number of its check. Other passages that the report names are underlined."
_OTHER_TEXT = "This is not the text that the report was made from: the fingerprints differ. Nothing is marked in it."


def render(file: ReportFile, inputs: Inputs | None = None) -> str:
    """With the inputs, the frozen text closes the report, and each quote leads to its place in it."""
    report = file.byop_report
    title = f"{report.summary.overall_status} – {labels.TITLE} {report.report_id}"
    return page(title, _style(), _Page(file, inputs).body())


@cache
def _style() -> str:
    """On paper the disclaimers stand at the foot of every page."""
    return stylesheet("salvo.playbooks.report.export", "report.css") + paper(" ".join(DISCLAIMERS))


class _Page:
    def __init__(self, file: ReportFile, inputs: Inputs | None) -> None:
        self._report = file.byop_report
        self._signature = file.signature
        self._inputs = inputs
        self._same_text = inputs is not None and inputs.fingerprint == self._report.integrity.inputs_fingerprint

    def body(self) -> Markup:
        report = self._report
        disclaimers = element("ul", *(element("li", line) for line in labels.disclaimers(report)))
        return element(
            "body",
            element("aside", disclaimers, class_="disclaimers", aria_label="Disclaimers"),
            element(
                "div",
                self._header(),
                element("main", *self._sections()),
                element("footer", element("p", f"{labels.CREDIT} {report.integrity.runner_fingerprint}")),
                class_="page",
            ),
        )

    def _header(self) -> Markup:
        report = self._report
        status = report.summary.overall_status
        reasons = (element("li", foreign(reason)) for reason in report.summary.status_reasons)
        return element(
            "header",
            element("h1", labels.TITLE),
            element("p", report.execution_mode.label, class_="soft"),
            element(
                "section",
                element("p", badges.badge(status)),
                element("div", element("p", labels.MEANINGS[status]), element("ul", *reasons)),
                class_=f"status {status}",
                aria_label="Status",
            ),
            *(element("p", notice, class_="notice") for notice in labels.notices(report)),
            blocks.rows(labels.header(report), class_="facts"),
        )

    def _sections(self) -> Iterator[Markup]:
        report, summary = self._report, self._report.summary
        yield from blocks.section("Key risks", blocks.listed(summary.key_risks, "None were detected by this playbook."))
        yield from blocks.section("Recommended next steps", blocks.listed(summary.recommended_next_steps, "None."))
        yield from blocks.section("Checks at a glance", self._glance())
        yield from blocks.section("Checks", *(self._card(*numbered) for numbered in enumerate(report.check_results, 1)))
        yield from blocks.section("Variance", *self._variance())
        yield from blocks.section("Drift", *self._drift())
        yield from blocks.section("Findings in the text", self._findings())
        yield from blocks.section("Assumptions stated in the text", self._assumptions())
        yield from blocks.section("Uncertainty", blocks.listed(report.uncertainty, "None recorded."))
        yield from blocks.section("Areas not checked", self._unchecked())
        yield from blocks.section("Limitations", blocks.listed(report.limitations, "None recorded."))
        yield from blocks.section("Models", *self._models())
        yield from blocks.section("Tokens and cost", blocks.rows(labels.spending(report)))
        yield from blocks.section("Integrity", *self._integrity())
        yield from blocks.section("Raw runs", blocks.table("All runs", labels.RUN_COLUMNS, labels.run_rows(report)))
        if summary.mending_prompt is not None:
            prompt = element("pre", summary.mending_prompt, class_="box", dir="auto")
            yield from blocks.section(labels.PROMPT_TITLE, element("p", labels.PROMPT), prompt)
        if self._inputs is not None:
            yield from self._texts(self._inputs)

    def _glance(self) -> Markup:
        rows = [
            (
                element("a", str(number), href=f"#check-{number}"),
                element("code", foreign(check.check_id)),
                check.severity,
                badges.badge(check.result),
                labels.votes(check),
                labels.confidence(check),
                labels.consistency(check),
            )
            for number, check in enumerate(self._report.check_results, 1)
        ]
        columns = ("#", "Check", "Severity", "Result", "Votes", "Confidence", "Consistency")
        return blocks.table(labels.tally(self._report.check_results), columns, rows, "scroll whole")

    def _card(self, number: int, check: CheckResult) -> Markup:
        name = f"check-{number}-name"
        heading = element("h3", f"{number}. ", element("code", foreign(check.check_id)), id=name)
        return element(
            "article",
            element("header", heading, badges.badge(check.result)),
            element("p", check.question, class_="question", dir="auto"),
            blocks.rows(labels.facts(check), class_="facts"),
            blocks.sentence("soft small", labels.UNASKED.get(check.decided_by)),
            blocks.sentence("overruled", labels.unfinished(check)),
            blocks.sentence("overruled", labels.overruled(check)),
            blocks.sentence("notes", labels.visible_note(check.notes)),
            *blocks.part("Votes", _votes(check)),
            *blocks.part("Evidence", self._quotes(check.evidence_citations)),
            *blocks.part("Dissent", self._dissent(check)),
            *blocks.part("Rejected quotes", _rejected(check)),
            *blocks.part("Pattern hits", self._hits(check)),
            class_=f"card {check.result}",
            id=f"check-{number}",
            aria_labelledby=name,
        )

    def _quotes(self, citations: Sequence[Citation]) -> Markup | None:
        return element("ul", *(self._quote(citation) for citation in citations), class_="quotes") if citations else None

    def _quote(self, citation: Citation) -> Markup:
        about = " · ".join(filter(None, [labels.where(citation.location), labels.from_runs(citation)]))
        context = labels.visible_note(citation.context)
        return element(
            "li",
            element("blockquote", self._linked(f"“{citation.span}”", citation.location), dir="auto"),
            element("p", about, *([" · ", foreign(context)] if context else []), class_="soft small"),
        )

    def _linked(self, shown: str, location: Location | None) -> Markup:
        """Leads to its place in the text, where that text is in this file."""
        if location is None or not self._same_text:
            return foreign(shown)
        return element("a", foreign(shown), href=f"#{annotated_text.anchor(location)}")

    def _dissent(self, check: CheckResult) -> Markup | None:
        if not check.dissent:
            return None
        items = (
            element(
                "li",
                element(
                    "p", f"Run {one.run}: ", badges.badge(one.result), " ", foreign(labels.visible_note(one.notes))
                ),
                self._quotes(one.evidence_citations),
            )
            for one in check.dissent
        )
        return element("ul", *items, class_="list")

    def _hits(self, check: CheckResult) -> Markup | None:
        if not check.pattern_hits:
            return None
        items = (
            element("li", element("code", foreign(hit.pattern)), ": ", *blocks.between(", ", self._places(hit)))
            for hit in labels.hits(check)
        )
        return element("ul", *items, class_="list small")

    def _places(self, hit: labels.HitGroup) -> Iterator[Markup]:
        for span, location in hit.spans:
            yield joined([self._linked(f"“{span}”", location), f" (line {location.line})"])

    def _variance(self) -> Iterator[Markup]:
        of = self._report.variance_summary
        if of.consistency_score is not None:
            yield badges.consistency(of, of.consistency_score)
        yield blocks.rows(labels.variance(self._report))
        yield element("h3", "What this shows")
        yield element("p", of.note, dir="auto")
        yield element("p", labels.EVALUATOR_VARIANCE)
        yield element("h3", "Divergent findings")
        yield blocks.listed(of.divergent_findings, "None.")

    def _drift(self) -> Iterator[Markup]:
        of = self._report.drift_summary
        yield element("p", labels.DRIFTS[of.kind])
        if rows := labels.drift(of):
            yield blocks.rows(rows)
        if of.changed_checks:
            columns = ("Check", "Severity", "Before", "Now", "")
            rows_changed = [
                (
                    element("code", foreign(check.check_id)),
                    check.severity,
                    badges.badge(check.before),
                    badges.badge(check.now),
                    "worse" if check.worse else "not worse",
                )
                for check in of.changed_checks
            ]
            yield blocks.table("Checks that changed", columns, rows_changed)
        if of.notes:
            yield blocks.listed(of.notes, "")

    def _findings(self) -> Markup:
        found = self._report.artifact_findings
        if not found:
            return element("p", "None.")
        items = (
            element(
                "li",
                element("code", foreign(finding.kind)),
                ": ",
                foreign(finding.message),
                labels.times(finding.count),
                *self._pointed(finding.span, finding.location),
            )
            for finding in found
        )
        return element("ul", *items, class_="list")

    def _pointed(self, span: str | None, location: Location | None) -> Iterator[Child]:
        if span is not None:
            yield " "
            yield self._linked(f"“{span}”", location)
        if location is not None:
            yield f" ({labels.where(location)})"

    def _assumptions(self) -> Markup:
        stated = self._report.assumptions_extracted
        if not stated:
            return element("p", "None found.")
        items = (element("li", *self._pointed(one.text, one.location)) for one in stated)
        return element("ul", *items, class_="list")

    def _unchecked(self) -> Markup:
        areas = self._report.unchecked_areas
        if not areas:
            return element("p", "None recorded.")
        items = (
            element("li", self._linked(area.area, area.location), blocks.soft(f" – {labels.stated_by(area)}"))
            for area in areas
        )
        return element("ul", *items, class_="list")

    def _models(self) -> Iterator[Markup]:
        prints = self._report.model_fingerprints
        yield element("h3", "Evaluator (measured)")
        yield blocks.rows(labels.fingerprint(prints.evaluator))
        yield element("h3", "Producer (as declared)")
        yield blocks.rows(labels.fingerprint(prints.producer))

    def _integrity(self) -> Iterator[Markup]:
        yield blocks.rows(labels.integrity(self._report))
        if self._signature is None:
            yield element("p", "Not signed.", class_="soft small")
        else:
            yield element("h3", "Signature")
            signed = self._signature
            yield blocks.rows(
                [
                    NamedValue("Algorithm", signed.algorithm),
                    NamedValue("Public key", signed.public_key, code=True),
                    NamedValue("Value", signed.value, code=True),
                ]
            )

    def _texts(self, inputs: Inputs) -> Iterator[Markup]:
        marked, about = annotated_text.places(self._report), element("p", _LEGEND, class_="soft")
        if not self._same_text:
            marked, about = iter(()), element("p", _OTHER_TEXT, class_="notice")
        yield from blocks.section("The frozen text", about, annotated_text.lines(inputs.ai_output, marked))
        for name, given in inputs.texts.items():
            if given is not None and name != "ai_output":
                yield from blocks.section(NAMES[name], element("pre", given, class_="box", dir="auto"))


def _votes(check: CheckResult) -> Markup | None:
    if not check.raw_runs:
        return None
    items = (
        element("li", f"Run {run.run}: ", foreign(labels.vote(run)), class_=run.result if run.valid else None)
        for run in check.raw_runs
    )
    return element("ul", *items, class_="votes")


def _rejected(check: CheckResult) -> Markup | None:
    if not check.rejected_citations:
        return None
    quotes = (
        element("li", element("blockquote", element("del", f"“{quote.span}”"), dir="auto"))
        for quote in check.rejected_citations
    )
    return joined([element("p", labels.REJECTED, class_="small"), element("ul", *quotes, class_="quotes")])
