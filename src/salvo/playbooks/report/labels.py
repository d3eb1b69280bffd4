"""What a report says, in the words that its renderings share. Texts from outside are passed on as they are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from salvo.engine.text.formatting import NamedValue, money, pluralize, seconds
from salvo.playbooks.enums import DISCLAIMERS, Aggregation, Result, Status
from salvo.playbooks.report.claims import forbidden_claims
from salvo.playbooks.report.report import (
    CheckResult,
    Citation,
    DriftSummary,
    Location,
    ModelFingerprint,
    RawRun,
    Report,
    Tokens,
    UncheckedArea,
)

TITLE = "BYOP observability report"
CREDIT = "BYOP v0.1 by Vasile Tiple, CC BY 4.0."
INCOMPLETE = (
    "This report is incomplete: at least one check has fewer than a majority of valid votes. "
    "Results that are shown remain valid; missing ones were not judged."
)
TEXTS_WITHHELD = "Only fingerprints were stored. Quotes and notes are replaced by their hashes."
REJECTED = "The evaluator gave these as quotes, but they do not appear in the text. They carry no weight."
UNVERIFIED = "unverified: not found in the text"
PROMPT = "Give this prompt to the AI that wrote the text."
WITHHELD = (
    "An evaluator note is withheld here because it makes a claim that a report must not make. The JSON contains it."
)
EVALUATOR_VARIANCE = (
    "Variance in results may reflect evaluator model behavior, not only the AI output being tested. "
    "BYOP reports describe observable signals, not ground truth."
)
UNKNOWN = "unknown"
NOT_APPLICABLE = "not applicable"
NONE = "–"

MEANINGS: Mapping[Status, str] = {
    Status.ALERT: "High-severity checks failed. Have a person review this before anyone relies on it.",
    Status.REVIEW: "Some findings need a person's review before anyone relies on the text.",
    Status.OBSERVE: "No high-severity check failed. Some signals are worth watching.",
    Status.STABLE: "No issues were detected by this playbook. This does not mean the text is correct.",
}
UNASKED: Mapping[str, str] = {
    "patterns": "Decided by the playbook's patterns, without the evaluator.",
    "derived": "Derived from the other results, without the evaluator.",
}
AGGREGATIONS: Mapping[Aggregation, str] = {
    Aggregation.MAJORITY_VOTE: "decided by a strict majority of the runs",
    Aggregation.REPORT_ALL_RUNS: "decided by a strict majority of the runs, with every run shown",
    Aggregation.CONSENSUS_REQUIRED: "the runs must be unanimous",
}
DRIFTS: Mapping[str, str] = {
    "none": "No drift: nothing got worse compared with the baseline.",
    "output": "Output drift: a different text, judged by the same evaluator.",
    "judge": "Judge drift: the same text, judged by a different evaluator.",
    "evaluator_instability": "Evaluator instability: the same text and the same judge gave different results.",
    "undetermined": "Undetermined drift: the text and the judge both changed, so the cause is unknown.",
    "not_compared": "Not compared with a baseline.",
}


def disclaimers(report: Report) -> list[str]:
    """The three that no report is without, and whatever else it carries."""
    return list(dict.fromkeys([*DISCLAIMERS, *report.presentation_rules.disclaimers]))


def notices(report: Report) -> list[str]:
    """What a reader must know before anything else is read."""
    told = [(report.incomplete, INCOMPLETE), (report.texts_withheld, TEXTS_WITHHELD)]
    return [notice for applies, notice in told if applies]


def mode(report: Report) -> str:
    return f"{report.execution_mode}: {report.execution_mode.label}"


def header(report: Report) -> list[NamedValue]:
    return [
        NamedValue("Playbook", f"{report.playbook_id} {report.playbook_version}", code=True),
        NamedValue("Report", report.report_id, code=True),
        NamedValue("Time", report.timestamp),
        NamedValue("Subject", report.subject),
        NamedValue("Evaluator", report.evaluator, code=True),
        NamedValue("Mode", mode(report)),
    ]


def tally(checks: Sequence[CheckResult]) -> str:
    """As a test suite closes: "1 failed, 3 passed, 2 indeterminate"."""
    counts = {result: sum(check.result is result for check in checks) for result in Result}
    words = ((Result.FAIL, "failed"), (Result.PASS, "passed"), (Result.INDETERMINATE, "indeterminate"))
    return ", ".join(f"{counts[result]} {word}" for result, word in words if counts[result]) or "no checks"


def facts(check: CheckResult) -> list[NamedValue]:
    """What a check's card lists; of a check that nobody voted on, only what there is."""
    measured = [
        NamedValue("Votes", votes(check)),
        NamedValue("Confidence", confidence(check)),
        NamedValue("Consistency", consistency(check)),
    ]
    return [NamedValue("Severity", check.severity), *(measured if check.raw_runs else [])]


def votes(check: CheckResult) -> str:
    """How many of its runs voted for what the check came to, before its evidence was looked up."""
    runs = len(check.raw_runs)
    if not runs:
        return NONE
    cast = Counter(run.result for run in check.raw_runs if run.valid)
    if check.incomplete:
        return f"{cast.total()} valid of {runs}"
    voted = check.raw_result or check.result
    if 2 * cast[voted] > runs:
        return f"{cast[voted]} of {runs}" + (f" for {voted}" if voted is not check.result else "")
    return "split: " + ", ".join(f"{cast[result]} {result}" for result in Result if cast[result])


def confidence(check: CheckResult) -> str:
    return _measure(check.per_check_confidence, check)


def consistency(check: CheckResult) -> str:
    if check.per_check_consistency is None and len(check.raw_runs) == 1:
        return "not measured (one run)"
    return _measure(check.per_check_consistency, check)


def _measure(value: float | None, check: CheckResult) -> str:
    if value is None and not check.raw_runs:
        return NONE
    return score(value)


def score(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


def overruled(check: CheckResult) -> str | None:
    """Where the vote said one thing and the evidence did not bear it out."""
    if check.raw_result is None:
        return None
    return (
        f"The vote was {check.raw_result}, but its evidence was not found in the text. "
        f"Evidence requirement not met: the result is {check.result}."
    )


def unfinished(check: CheckResult) -> str | None:
    return "Incomplete: fewer than a majority of its runs gave a valid vote." if check.incomplete else None


def said(note: str) -> str:
    """A note of the evaluator, unless it asserts what no report may assert."""
    return WITHHELD if forbidden_claims(note) else note


def vote(run: RawRun) -> str:
    """The run's answer in one line; a fault is no vote."""
    if not run.valid:
        return f"no vote: {said(run.problem or run.notes) or 'no usable answer'}"
    sure = "" if run.confidence is None else f", confidence {run.confidence:.2f}"
    return f"{run.result}{sure}" + (f", rule {run.rule}" if run.rule else "")


def where(location: Location | None) -> str:
    return UNVERIFIED if location is None else f"line {location.line}"


def from_runs(citation: Citation) -> str:
    if not citation.runs:
        return ""
    return f"{'run' if len(citation.runs) == 1 else 'runs'} {', '.join(map(str, citation.runs))}"


class Hits(NamedTuple):
    """One pattern's hits: how many, and where."""

    pattern: str
    spans: list[tuple[str, Location]]


def hits(check: CheckResult) -> list[Hits]:
    by_pattern = sorted(check.pattern_hits, key=lambda hit: hit.pattern)
    return [
        Hits(pattern, [(hit.span, hit.location) for hit in found])
        for pattern, found in groupby(by_pattern, key=lambda hit: hit.pattern)
    ]


def variance(report: Report) -> list[NamedValue]:
    of = report.variance_summary
    measured = "not measured (one run)" if of.consistency_score is None and of.num_runs == 1 else ""
    return [
        NamedValue("Runs per judged check", str(of.num_runs)),
        NamedValue("Overall consistency", measured or f"{score(of.consistency_score)} – {_band(report)}"),
        NamedValue("Stable at or above", f"{of.threshold_ok:.2f}"),
        NamedValue("Not reliable for decisions below", f"{of.threshold_warn:.2f}"),
        NamedValue("Aggregation", AGGREGATIONS[of.aggregation]),
    ]


def _band(report: Report) -> str:
    of = report.variance_summary
    if of.consistency_score is None:
        return "not enough valid votes"
    if of.consistency_score >= of.threshold_ok:
        return "stable"
    return "not reliable for decisions" if of.consistency_score < of.threshold_warn else "some findings diverge"


def drift(of: DriftSummary) -> list[NamedValue]:
    if of.baseline_id is None:
        return []
    origin = {True: "saved as a baseline", False: "latest earlier full report", None: UNKNOWN}
    return [
        NamedValue("Baseline", of.baseline_id, code=True),
        NamedValue("Baseline time", of.baseline_timestamp or UNKNOWN),
        NamedValue("Baseline source", origin[of.baseline_saved]),
        NamedValue("Baseline consistency", score(of.consistency_before)),
        NamedValue("Change in consistency", _change(of.consistency_delta)),
        NamedValue("Same text", _yes_or_no(of.same_text)),
        NamedValue("Same judge", _yes_or_no(of.same_judge)),
    ]


def _change(delta: float | None) -> str:
    return UNKNOWN if delta is None else f"{delta:+.2f}".replace("-", "−")


def _yes_or_no(value: bool | None) -> str:
    return {True: "yes", False: "no", None: UNKNOWN}[value]


def stated_by(area: UncheckedArea) -> str:
    return "stated in the text" if area.stated_by == "output" else "not examined by this evaluation"


def fingerprint(of: ModelFingerprint) -> list[NamedValue]:
    """The specification's seven fields, the last of them spread out."""
    metadata = [NamedValue(str(name), _value(value), code=True) for name, value in of.other_runtime_metadata.items()]
    return [
        NamedValue("Declared model name", _declared(of.declared_model_name), code=True),
        NamedValue("Declared model version", _declared(of.declared_model_version), code=True),
        NamedValue("Provider", _declared(of.provider)),
        NamedValue("Routing or mode", _declared(of.routing_or_mode)),
        NamedValue("Temperature", _declared(of.temperature)),
        NamedValue("System prompt id", _declared(of.system_prompt_id), code=True),
        *(metadata or [NamedValue("Other runtime metadata", "none")]),
    ]


def _declared(value: str | float | None) -> str:
    return NOT_APPLICABLE if value is None else str(value)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def spent(report: Report) -> list[NamedValue]:
    of = report.spent
    return [
        NamedValue("Calls", str(of.calls)),
        NamedValue("Tokens", tokens(of.tokens)),
        NamedValue("Cost", cost(of.cost_usd)),
        NamedValue("Duration", duration(of.seconds)),
    ]


def tokens(of: Tokens | None) -> str:
    if of is None:
        return UNKNOWN
    cached = [(of.cache_read, "read from the cache"), (of.cache_write, "written to the cache")]
    parts = [f"{of.input:,} in", *(f"{number:,} {what}" for number, what in cached if number), f"{of.output:,} out"]
    return ", ".join(parts)


def cost(dollars: float | None) -> str:
    return UNKNOWN if dollars is None else money(dollars)


def duration(of: float | None) -> str:
    return UNKNOWN if of is None else seconds(of)


def integrity(report: Report) -> list[NamedValue]:
    of = report.integrity
    return [
        NamedValue("Playbook logic hash", of.playbook_logic_hash, code=True),
        NamedValue("Inputs fingerprint", of.inputs_fingerprint, code=True),
        NamedValue("Report hash", of.report_hash or "not computed", code=True),
        NamedValue("Runner", of.runner_fingerprint, code=True),
        NamedValue("Specification", f"BYOP {report.spec_version}"),
        *(NamedValue(f"Hash of {name}", digest, code=True) for name, digest in of.raw_inputs.items()),
    ]


RUN_COLUMNS = ("Check", "Run", "Vote", "Model", "Tokens: in + cached → out", "Cost", "Time")


def run_rows(report: Report) -> list[tuple[str, ...]]:
    """A row a run, in the order of RUN_COLUMNS."""
    served = report.model_fingerprints.evaluator.provider is not None
    return [
        (check.check_id, str(run.run), vote(run), *(_paid(run) if served else _FREE), duration(run.seconds))
        for check in report.check_results
        for run in check.raw_runs
    ]


_FREE = ("no model", NOT_APPLICABLE, NOT_APPLICABLE)


def _paid(run: RawRun) -> tuple[str, str, str]:
    model = run.model or UNKNOWN
    if run.system_fingerprint:
        model += f" ({run.system_fingerprint})"
    return model, _briefly(run.tokens), cost(run.cost_usd)


def _briefly(of: Tokens | None) -> str:
    return UNKNOWN if of is None else f"{of.input:,} + {of.cache_read + of.cache_write:,} → {of.output:,}"


def times(count: int) -> str:
    return "" if count == 1 else f" ({pluralize(count, 'time')})"
