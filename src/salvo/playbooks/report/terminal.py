"""Reports, comparisons and timelines as lines of text. Pure: the caller prints them and chooses colours.

Text from outside is put on one line, shortened, and cleared of terminal control characters.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Sequence

from salvo.engine.text.formatting import NamedValue, pluralize, truncate
from salvo.engine.text.terminal import Paint, table
from salvo.engine.text.unicode_escape import printable
from salvo.playbooks.enums import DISCLAIMERS, Mode, Result, ShownStatus, shown_status
from salvo.playbooks.report import check_labels, labels
from salvo.playbooks.report.compare import ReportComparison, Side, judged_checks
from salvo.playbooks.report.report import CheckResult, Citation, Report
from salvo.playbooks.review import wording
from salvo.playbooks.review.build_section import deciding_report, shown_result
from salvo.playbooks.review.section import ReviewSection
from salvo.playbooks.store.records import TimelinePoint

_COLOURS = {
    ShownStatus.ALERT: "red",
    ShownStatus.REVIEW: "yellow",
    ShownStatus.OBSERVE: "blue",
    ShownStatus.STABLE: "green",
    ShownStatus.INCOMPLETE: "yellow",
    Result.PASS: "green",
    Result.FAIL: "red",
    Result.INDETERMINATE: "yellow",
}
_WORD = len(Result.INDETERMINATE)
_NARROWEST = 40
_LONGEST = 600
_LONGEST_QUOTE = 400
_COMPARED_QUOTE = 200
_HITS = 5
_QUOTES = 5
_LETTERS = {Result.PASS: "P", Result.FAIL: "F", Result.INDETERMINATE: "?"}
_TIMELINE = ("REPORT", "TIME", "STATUS", "CONSISTENCY", "TEXT", "EVALUATOR")


def lines(report: Report, *, colour: bool = False, width: int = 100, review: ReviewSection | None = None) -> list[str]:
    """Return the report, like the output of a test suite, with what reviewers decided about it."""
    return list(_Screen(Paint(colour), max(width, _NARROWEST), review).report(report))


def agreement(reports: Sequence[Report], names: Sequence[str] = (), *, colour: bool = False) -> list[str]:
    """Return a table of where several evaluators of the same text agree: a row per check, a column per evaluator.

    `names` are those of the evaluators, where one model is at several addresses.
    """
    header = ["CHECK", "SEVERITY", *map(_line, names or [report.evaluator for report in reports]), "AGREEMENT"]
    rows = []
    for check_id, checks in judged_checks(reports).items():
        severity = next(check.severity for check in checks if check)
        rows.append([_line(check_id), severity, *map(_cell, checks), _agreement(checks)])
    colours = ["yellow" if row[-1] == "split" else None for row in rows]
    judged_by_all = [row for row in rows if row[-1] in ("agree", "split")]
    agreed = sum(row[-1] == "agree" for row in judged_by_all)
    return [
        *table(header, rows, Paint(colour), colours),
        f"The evaluators agree on {agreed} of {pluralize(len(judged_by_all), 'check')} that all of them judged.",
    ]


def _cell(check: CheckResult | None) -> str:
    if check is None:
        return "not in this report"
    votes = check_labels.votes(check)
    return check.result.upper() if votes == check_labels.NONE else f"{check.result.upper()} ({votes})"


def _agreement(checks: Sequence[CheckResult | None]) -> str:
    results = {check.result for check in checks if check}
    if any(check is None or check.incomplete or check.abstained for check in checks):
        return "not judged by all"
    return "agree" if len(results) == 1 else "split"


def comparison(compared: ReportComparison, *, colour: bool = False, width: int = 100) -> list[str]:
    return list(_Screen(Paint(colour), max(width, _NARROWEST)).comparison(compared))


def timeline(subject: str, points: Sequence[TimelinePoint], *, colour: bool = False) -> list[str]:
    """Return a row per report, oldest first, with a letter for each check in the order of the playbook."""
    if not points:
        return [
            f"There is no report on the subject “{printable(subject)}” yet.",
            f"Create one: byop run FILE --subject {printable(shlex.quote(subject))}",
        ]
    checks = list(dict.fromkeys(name for point in points for name in point.outcomes))
    header = [*_TIMELINE, *(str(number) for number in range(1, len(checks) + 1)), ""]
    rows = [_timeline_row(point, before, checks) for before, point in zip((None, *points), points, strict=False)]
    legend = [f"{number} {printable(name)}" for number, name in enumerate(checks, start=1)]
    return [
        *table(header, rows, Paint(colour)),
        "",
        f"P pass, F fail, ? indeterminate, – not in that playbook. {'; '.join(legend)}.",
        "TEXT shows whether the text is the same as in the row above, EVALUATOR who judged it.",
    ]


def _timeline_row(point: TimelinePoint, before: TimelinePoint | None, checks: Sequence[str]) -> list[str]:
    flags = {"baseline": point.baseline, "screening": point.mode is Mode.SCREENING}
    return [
        point.id,
        point.created_at[:19],
        shown_status(point.status, incomplete=point.incomplete),
        labels.listed_consistency(point.consistency, point.evaluator),
        "" if before is None else ("same" if point.inputs_fingerprint == before.inputs_fingerprint else "changed"),
        printable(point.evaluator),
        *(_LETTERS[point.outcomes[name]] if name in point.outcomes else "–" for name in checks),
        ", ".join(flag for flag, applies in flags.items() if applies),
    ]


class _Screen:
    def __init__(self, paint: Paint, width: int, review: ReviewSection | None = None) -> None:
        self._paint = paint
        self._width = width
        self._review = review

    def report(self, report: Report) -> Iterator[str]:
        sections = [
            self._status(deciding_report(report, self._review)),
            self._review_summary(),
            (line for disclaimer in labels.disclaimers(report) for line in self._wrapped(disclaimer)),
            self._aligned(labels.header(report)),
            self._findings(report),
            self._bullets(labels.FILES_TITLE, report.input_notices),
            self._checks(report),
            self._variance(report),
            self._drift(report),
            self._bullets("Key risks", report.summary.key_risks),
            self._bullets("Next steps", report.summary.recommended_next_steps),
            self._bullets("Limitations", report.limitations),
            self._rows("Integrity", labels.integrity(report)),
            self._rows("Tokens and cost", labels.spending(report)),
            self._bullets(wording.HISTORY_TITLE, () if self._review is None else self._review.history),
            self._closing(report),
        ]
        non_empty = [section for section in map(list, sections) if section]
        for number, section in enumerate(non_empty):
            if number:
                yield ""
            yield from section

    def _status(self, report: Report) -> Iterator[str]:
        status = labels.status(report)
        yield f"{self._paint(status, _COLOURS[status], bold=True)}  {labels.status_meaning(report)}"
        for reason in labels.status_reasons(report):
            yield from self._wrapped(reason, "  - ")
        for notice in labels.notices(report):
            yield from (self._paint(line, "yellow") for line in self._wrapped(notice))

    def _review_summary(self) -> Iterator[str]:
        if self._review is None:
            return
        yield self._title(wording.TITLE)
        signed = [sign_off.sentence for sign_off in self._review.sign_offs] or [wording.NOT_SIGNED_OFF]
        yield from self._wrapped(self._review.headline, "  ")
        for line in (*signed, *self._review.lines):
            yield from self._wrapped(line, "  - ")

    def _checks(self, report: Report) -> Iterator[str]:
        yield self._title("Checks")
        names = max((len(_line(check.check_id)) for check in report.check_results), default=0)
        for check in report.check_results:
            yield self._check(check, names)
            for line in () if self._review is None else self._review.check_lines(check.check_id):
                yield from (self._paint(part, bold=True) for part in self._wrapped(line, "    "))
            yield from self._grounds(check)

    def _check(self, check: CheckResult, names: int) -> str:
        word = self._paint(check.result.upper().ljust(_WORD), _COLOURS[check.result], bold=True)
        measures = f"  confidence {check_labels.confidence(check)}" if check.raw_runs else ""
        if check_labels.shows_votes(check):
            measures = f"  {check_labels.votes(check)}{measures}  consistency {check_labels.consistency(check)}"
        return f"{word}  {check.severity:<6}  {_line(check.check_id):<{names if measures else 0}}{measures}"

    def _grounds(self, check: CheckResult) -> Iterator[str]:
        yield from self._quotes(check.evidence_citations, "    ")
        for sentence in (
            check_labels.decided_by(check),
            *check_labels.check_notices(check),
            check_labels.visible_note(check.notes),
        ):
            yield from self._wrapped(sentence, "    ")
        for run in check.raw_runs:
            if not run.counts:
                yield from self._wrapped(f"run {run.run}: {check_labels.vote(run)}", "    ")
        for dissent in check.dissent:
            yield from self._wrapped(
                f"dissent, run {dissent.run} ({dissent.result}): {check_labels.visible_note(dissent.notes)}", "    "
            )
            yield from self._quotes(dissent.evidence_citations, "      ")
        for citation in check.rejected_citations[:_QUOTES]:
            yield from self._wrapped(f"rejected, {check_labels.UNVERIFIED}: {_quoted(citation.span)}", "    ")
        yield from self._wrapped(check_labels.more_passages(check.rejected_citations, _QUOTES), "    ")
        for pattern, hits in check_labels.hits(check).items():
            places = ", ".join(str(hit.location.line) for hit in hits[:_HITS])
            more = f" and {len(hits) - _HITS} more" if len(hits) > _HITS else ""
            yield from self._wrapped(f"pattern {_line(pattern)}: line {places}{more}", "    ")

    def _quotes(self, citations: Sequence[Citation], indent: str) -> Iterator[str]:
        for citation in citations[:_QUOTES]:
            yield from self._wrapped(f"{check_labels.where_quoted(citation)}: {_quoted(citation.span)}", indent)
        yield from self._wrapped(check_labels.more_passages(citations, _QUOTES), indent)

    def _variance(self, report: Report) -> Iterator[str]:
        summary = report.variance_summary
        if report.execution_mode is Mode.SCREENING:
            return
        yield from self._rows("Variance", labels.variance(report))
        for sentence in (summary.note, labels.EVALUATOR_VARIANCE):
            yield from self._wrapped(sentence, "  ")
        for finding in summary.divergent_findings:
            yield from self._wrapped(finding, "  - ")

    def _drift(self, report: Report) -> Iterator[str]:
        summary = report.drift_summary
        yield self._title("Drift")
        yield from self._wrapped(labels.drift_kind(summary), "  ")
        yield from self._aligned(labels.drift(report), "  ")
        for check in summary.changed_checks:
            worse = " (worse)" if check.worse else ""
            yield from self._wrapped(f"{check.check_id}: {check.before} before, {check.now} now{worse}", "  - ")
        for note in summary.notes:
            yield from self._wrapped(note, "  - ")

    def _findings(self, report: Report) -> Iterator[str]:
        if report.artifact_findings:
            yield self._title(labels.FINDINGS_TITLE)
        for finding in report.artifact_findings:
            place = f"{check_labels.where(finding.location)}: " if finding.location else ""
            yield from self._wrapped(f"{place}{finding.message}{check_labels.times(finding.count)}", "  - ")
            if finding.span is not None:
                yield from self._wrapped(_quoted(finding.span), "    ")

    def _closing(self, report: Report) -> Iterator[str]:
        counted = deciding_report(report, self._review)
        status = labels.status(counted)
        result = shown_result(report, self._review)
        yield self._paint(f"{labels.tally(counted.check_results)}: {result}", _COLOURS[status], bold=True)

    def comparison(self, compared: ReportComparison) -> Iterator[str]:
        yield from DISCLAIMERS
        yield ""
        yield from self._hanging(f"A  {_summary(compared.before)}")
        yield from self._hanging(f"B  {_summary(compared.after)}")
        yield ""
        yield from self._hanging(compared.attribution)
        for caution in compared.cautions:
            yield from (self._paint(line, "yellow") for line in self._hanging(f"Caution: {printable(caution)}"))
        yield ""
        yield self._title("Checks")
        for check, cause in zip(compared.changed_checks, compared.causes, strict=True):
            direction = "worse " if check.worse else "better"
            line = f"  {direction}  {check.severity:<6}  {printable(check.check_id)}: {check.before} → {check.now}"
            yield self._paint(line, "red" if check.worse else "green")
            yield from self._hanging(cause.reason, "          ")
        for check_ids, side in ((compared.only_before, "A"), (compared.only_after, "B")):
            if check_ids:
                yield f"  only in {side}: {', '.join(map(printable, check_ids))}"
        if compared.unchanged:
            yield from self._hanging(f"same result: {', '.join(map(printable, compared.unchanged))}", "  ")
        for skipped, reason in compared.not_compared_by_reason:
            yield from self._hanging(f"not compared ({reason}): {', '.join(map(printable, skipped))}", "  ")
        if compared.consistency_delta is not None and labels.RULES not in (
            compared.before.evaluator,
            compared.after.evaluator,
        ):
            before, after = (check_labels.score(side.consistency_score) for side in (compared.before, compared.after))
            yield f"  Consistency {before} → {after} ({compared.consistency_delta:+.2f})"
        yield from self._evidence(compared)

    def _evidence(self, compared: ReportComparison) -> Iterator[str]:
        changed = [change for change in compared.evidence if change.gained or change.lost]
        if not changed:
            return
        yield ""
        yield self._title("Evidence")
        for change in changed:
            yield f"  {printable(change.check_id)}"
            for sign, spans in (("−", change.lost), ("+", change.gained)):
                for span in spans:
                    yield from self._hanging(f"{sign} “{truncate(printable(span), _COMPARED_QUOTE)}”", "    ")

    def _title(self, title: str) -> str:
        return self._paint(title, bold=True)

    def _bullets(self, title: str, items: Sequence[str]) -> Iterator[str]:
        if items:
            yield self._title(title)
        for item in items:
            yield from self._wrapped(item, "  - ")

    def _rows(self, title: str, rows: Sequence[NamedValue]) -> Iterator[str]:
        yield self._title(title)
        yield from self._aligned(rows, "  ")

    def _aligned(self, rows: Sequence[NamedValue], indent: str = "") -> Iterator[str]:
        names = max((len(_line(row.name)) for row in rows), default=0)
        for row in rows:
            yield f"{indent}{_line(row.name):<{names}}  {_line(row.value)}"

    def _wrapped(self, text: str, indent: str = "") -> list[str]:
        """Wrap the text; only the first line has the list mark."""
        return self._wrap(_line(text), indent, " " * len(indent))

    def _hanging(self, text: str, indent: str = "") -> list[str]:
        """Wrap the text; all lines but the first are indented."""
        return self._wrap(text, indent, f"{indent}   ")

    def _wrap(self, text: str, first: str, others: str) -> list[str]:
        return textwrap.wrap(text, self._width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def _summary(side: Side) -> str:
    status = shown_status(side.overall_status, incomplete=side.incomplete)
    score = labels.listed_consistency(side.consistency_score, side.evaluator)
    consistency = "" if score == check_labels.NONE else f"  consistency {score}"
    report = f"{side.report_id}  {side.timestamp}  {status}{consistency}"
    return f"{report}  {printable(side.evaluator)}  subject {printable(side.subject)}"


def _quoted(text: str) -> str:
    return f"“{_line(text, _LONGEST_QUOTE)}”"


def _line(text: str, longest: int = _LONGEST) -> str:
    """Return the text on one line, shortened and without terminal control characters."""
    return truncate(printable(" ".join(text[: longest * 10].split())), longest)
