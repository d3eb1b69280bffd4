"""The labels and sentences about one check that all renderings of a report share. Foreign texts are unescaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from salvo.engine.text.formatting import NamedValue, pluralize
from salvo.playbooks.audit.text_hashing import is_withheld
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.positions import DocumentPosition
from salvo.playbooks.report.claims import forbidden_claims
from salvo.playbooks.report.identity_labels import UNKNOWN
from salvo.playbooks.report.report import (
    CheckResult,
    Citation,
    Location,
    PatternHit,
    RawRun,
    Report,
)

REJECTED = (
    "The evaluator gave these as quotes, but they are not passages of the text, are too short, are copied from its "
    "instructions, or are in text that addresses the evaluator. They carry no weight."
)
UNVERIFIED = "not a passage of the text that can be evidence"
NO_PASSAGE_QUOTED = "No passage quoted."
MAX_LINES = 10
"""Lines that are named for one quote."""
WITHHELD = (
    "An evaluator note is withheld here because it makes a claim that a report must not make. The JSON contains it."
)
NOT_APPLICABLE = "not applicable"
NONE = "–"
NOT_CALIBRATED = "not calibrated"
_UNASKED: Mapping[str, str] = {
    "patterns": "Decided by the playbook's patterns, without the evaluator.",
    "derived": "Derived from the other results, without the evaluator.",
}


def facts(check: CheckResult) -> list[NamedValue]:
    """Return the facts on a check's card; votes and consistency only where votes can agree or differ."""
    rows = [NamedValue("Severity", check.severity)]
    if shows_votes(check):
        rows.append(NamedValue("Votes", votes(check)))
    if check.raw_runs:
        rows.append(NamedValue("Confidence", confidence(check)))
    if shows_votes(check):
        rows.append(NamedValue("Consistency", consistency(check)))
    return rows


def shows_votes(check: CheckResult) -> bool:
    """Return whether the agreement of the votes is shown: not that of one run, nor that of rules with themselves."""
    return len(check.raw_runs) > 1 and not any(run.rule for run in check.raw_runs)


def decided_by(check: CheckResult) -> str:
    """Return who decided the check, if it was not the majority of an evaluator's votes."""
    rule = next((run.rule for run in check.raw_runs if run.rule), "")
    if rule:
        return f"Decided by the rule {rule}, which gives the same answer every time."
    return _UNASKED.get(check.decided_by, "")


def measure_names(report: Report) -> list[str]:
    """Return the columns of a table of all checks, besides severity and result."""
    repeated = any(map(shows_votes, report.check_results))
    return ["Votes", "Confidence", "Consistency"] if repeated else ["Confidence"]


def measures(report: Report, check: CheckResult) -> list[str]:
    """Return the cells of those columns."""
    cells = {"Votes": votes, "Confidence": confidence, "Consistency": consistency}
    return [cells[name](check) for name in measure_names(report)]


def votes(check: CheckResult) -> str:
    """Return how many runs voted for the check's result, before its evidence was checked."""
    runs = len(check.raw_runs)
    if not shows_votes(check):
        return NONE
    counts = Counter(run.result for run in check.raw_runs if run.counts)
    unsupported = sum(bool(run.unsupported) for run in check.raw_runs)
    not_counted = [f"{unsupported} unsupported"] if unsupported else []
    if check.incomplete:
        return f"{counts.total() + unsupported} valid of {runs}"
    for voted in (check.result, check.raw_result):
        if voted is not None and 2 * counts[voted] > runs:
            majority = f"{counts[voted]} of {runs}" + (f" for {voted}" if voted is not check.result else "")
            return ", ".join((majority, *not_counted))
    parts = [*(f"{counts[result]} {result}" for result in Result if counts[result]), *not_counted]
    return ("split: " if len(parts) > 1 else "") + ", ".join(parts)


def confidence(check: CheckResult) -> str:
    """Return the confidence of who decided; a derived check, and one that nobody decided, have one only in the JSON.

    So has an evaluator whose confidence was not compared with labelled texts.
    """
    if check.decided_by == "derived" or check.abstained:
        return NONE
    if check.per_check_confidence == 0 and (check.incomplete or not check.raw_runs):
        return NONE
    if check.per_check_confidence is None:
        return NONE
    if check.calibration is not None:
        texts = pluralize(check.calibration.texts, "labelled text")
        return f"{score(check.per_check_confidence)} (measured on {texts})"
    return NOT_CALIBRATED if check.decided_by == "evaluator" else score(check.per_check_confidence)


def consistency(check: CheckResult) -> str:
    if not shows_votes(check) or check.per_check_consistency is None:
        return NONE
    return score(check.per_check_consistency)


def score(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


def check_notices(check: CheckResult) -> list[str]:
    """Return a sentence if votes are missing, if the evidence did not support the verdict, or if there is none."""
    sentences = []
    if check.incomplete:
        sentences.append("Incomplete: fewer than a majority of its runs gave a valid vote.")
    if check.raw_result is not None:
        sentences.append(
            f"By the {'patterns' if check.decided_by == 'patterns' else 'answers'} it would be {check.raw_result}, but "
            f"not enough evidence for that was found in the text, so the result is {check.result}."
        )
    if check.result is Result.PASS and check.decided_by == "evaluator" and not check.evidence_citations:
        sentences.append(NO_PASSAGE_QUOTED)
    if any(run.rule for run in check.raw_runs) and not check.abstained:
        sentences.append(_rules_record(check))
    return sentences


def _rules_record(check: CheckResult) -> str:
    """Return how often the built-in rules were right with such a verdict."""
    if check.calibration is None:
        return (
            "Judged by the built-in rules. How often they are right with this verdict was not measured on enough texts."
        )
    agreed, texts = check.calibration.agreed, check.calibration.texts
    return (
        f"Judged by the built-in rules. On this check their verdict {check.result} agreed with independent labels in "
        f"{agreed} of {pluralize(texts, 'real output')}."
    )


def visible_note(note: str) -> str:
    """Return the evaluator's note, or a notice if the note makes a claim that no report may make."""
    return WITHHELD if forbidden_claims(note) else note


def vote(run: RawRun) -> str:
    """Return the run's answer in one line; an error is no vote."""
    if not run.valid:
        return f"no vote: {visible_note(run.problem or run.notes) or 'no usable answer'}"
    not_counted = f"; not counted: {run.unsupported}" if run.unsupported else ""
    return run.result + (f", rule {run.rule}" if run.rule else "") + not_counted


def where(location: Location | None) -> str:
    if location is None:
        return UNVERIFIED
    return ", ".join([*_document_position(location.position), f"line {location.line}"])


def _document_position(position: DocumentPosition | None) -> Iterator[str]:
    """Yield heading, paragraph or cell, and page, as far as they are known. The heading is foreign text."""
    if position is None:
        return
    if position.heading and not is_withheld(position.heading):
        yield f"Section {position.heading}" if position.heading[0].isdigit() else f"“{position.heading}”"
    if position.table is not None:
        yield f"table {position.table}, row {position.row}, column {position.column}"
    elif position.paragraph is not None:
        yield f"paragraph {position.paragraph}"
    if position.page is not None:
        yield f"page {position.page}"


def where_quoted(citation: Citation) -> str:
    """Return the line of a quote; if it occurs several times, all of its lines."""
    place = where(citation.location)
    if citation.location is None or citation.occurrences == 1:
        return place
    locations = (citation.location, *citation.other_locations)
    lines = list(dict.fromkeys(str(location.line) for location in locations))
    text = ", ".join(lines[:MAX_LINES])
    if citation.occurrences > len(locations):
        text += " and others"
    elif len(lines) > MAX_LINES:
        text += f" and {len(lines) - MAX_LINES:,} more"
    return f"{place} (occurs {citation.occurrences:,} times: {'line' if len(lines) == 1 else 'lines'} {text})"


def sources(check: CheckResult, citation: Citation) -> list[str]:
    """Return where the quote is, and the runs that gave it if their agreement is shown."""
    if not citation.runs or not shows_votes(check):
        return [where_quoted(citation)]
    runs = f"{'run' if len(citation.runs) == 1 else 'runs'} {', '.join(map(str, citation.runs))}"
    return [where_quoted(citation), runs]


def more_passages(quotes: Sequence[object], most: int) -> str:
    """Return what a list that shows only so many quotes says of the others; empty if there are none."""
    if len(quotes) <= most:
        return ""
    return f"… and {count_more(quotes, most)}. The JSON report lists all of them."


def count_more(quotes: Sequence[object], most: int) -> str:
    others = len(quotes) - most
    return f"{others:,} more {'passage' if others == 1 else 'passages'}"


def hits(check: CheckResult) -> dict[str, list[PatternHit]]:
    """Return the hits by their pattern."""
    by_pattern = sorted(check.pattern_hits, key=lambda hit: hit.pattern)
    return {pattern: list(group) for pattern, group in groupby(by_pattern, key=lambda hit: hit.pattern)}


def times(count: int) -> str:
    return "" if count == 1 else f" ({pluralize(count, 'time')})"
