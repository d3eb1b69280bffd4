"""The labels and sentences that all renderings of a report share. Texts from outside are passed on unescaped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from salvo.engine.text.formatting import NamedValue, money, pluralize, seconds
from salvo.playbooks.enums import DISCLAIMERS, Aggregation, Mode, Result, ShownStatus, Status, shown_status
from salvo.playbooks.evaluate.injection.finding import MESSAGES
from salvo.playbooks.evaluate.request import DEFAULT_SUBJECT
from salvo.playbooks.report import identity_labels
from salvo.playbooks.report.check_labels import NONE, NOT_APPLICABLE, score, visible_note, vote
from salvo.playbooks.report.identity_labels import UNKNOWN
from salvo.playbooks.report.report import (
    NOT_ASKED,
    CheckResult,
    DriftSummary,
    ModelFingerprint,
    RawRun,
    Report,
    Tokens,
    UncheckedArea,
    VarianceSummary,
    is_deterministic,
    measured_consistency,
)

TITLE = identity_labels.GENERAL_TITLE
CREDIT = "BYOP v0.1 by Vasile Tiple, CC BY 4.0."
_INCOMPLETE_MEANING = "Votes are missing: some calls gave no usable answer. That says nothing about the text."
_MAX_PROBLEMS = 3
"""Different reasons for missing votes that are listed. Usually there is one, such as a wrong key or an outage."""
FINDINGS_TITLE = "Findings in the text"
FILES_TITLE = "How the files were read"
TEXTS_WITHHELD = "Only fingerprints were stored. Quotes and notes are replaced by their hashes."
SIGNED_AT_END = (
    "It is in a comment at the end of this file and covers everything before it: check it with `byop verify FILE`."
)
PROMPT_TITLE = "Suggested revision prompt"
PROMPT = "Give this prompt to the AI that wrote the text."
EVALUATOR_VARIANCE = (
    "Variance in results may reflect evaluator model behavior, not only the AI output being tested. "
    "BYOP reports describe observable signals, not ground truth."
)
"""The specification's words."""
ASSUMPTIONS = "assumption_disclosure"
RULES = "rules"
"""The name of the evaluator that needs no model."""
MEANINGS: Mapping[Status, str] = {
    Status.ALERT: "At least one high-severity check failed. Have a person review this before anyone relies on it.",
    Status.REVIEW: "Some findings need a person's review before anyone relies on the text.",
    Status.OBSERVE: "No high-severity check failed. Some signals are worth watching.",
    Status.STABLE: "No issues were detected by this playbook. This does not mean the text is correct.",
}
AGGREGATIONS: Mapping[Aggregation, str] = {
    Aggregation.MAJORITY_VOTE: "decided by a strict majority of the runs",
    Aggregation.REPORT_ALL_RUNS: "decided by a strict majority of the runs, with every run shown",
    Aggregation.CONSENSUS_REQUIRED: "the runs must be unanimous",
}
DRIFTS: Mapping[str, str] = {
    "none": "No drift: no material degradation compared with the baseline.",
    "output": "Output drift: a different text, judged by the same evaluator.",
    "output_or_evaluator": "The output or the evaluator's variation: the text is different, but not all votes agreed.",
    "judge": "Judge drift: the same text, judged by a different evaluator.",
    "evaluator_instability": "Evaluator instability: the evaluator's own results varied, not the text.",
    "undetermined": "Undetermined drift: the text and the judge both changed.",
    "not_compared": "Not compared with a baseline.",
}


def disclaimers(report: Report) -> list[str]:
    """Return the three mandatory disclaimers, then any others that the report has."""
    return list(dict.fromkeys([*DISCLAIMERS, *report.presentation_rules.disclaimers]))


def notices(report: Report) -> list[str]:
    """Return what a reader must know before reading anything else."""
    withheld = TEXTS_WITHHELD if report.texts_withheld else ""
    return [notice for notice in (injections(report), withheld) if notice]


def injections(report: Report) -> str:
    """Return the notice that the text addresses its evaluator or hides something; empty if it does not."""
    kinds = {*MESSAGES, "more_findings"}
    places = sum(finding.count for finding in report.artifact_findings if finding.kind in kinds)
    if not places:
        return ""
    where = pluralize(places, "place")
    return f"In {where} the text addresses its evaluator, or hides something from its reader: see “{FINDINGS_TITLE}”."


def status(report: Report) -> ShownStatus:
    return shown_status(report.summary.overall_status, incomplete=report.incomplete)


def status_meaning(report: Report) -> str:
    return _INCOMPLETE_MEANING if report.incomplete else MEANINGS[report.summary.overall_status]


def status_reasons(report: Report) -> list[str]:
    """Return why the report has its status; of an incomplete one, what is missing and what failed all the same."""
    if not report.incomplete:
        return list(report.summary.status_reasons)
    checks = report.check_results
    missing = [
        f"{check.check_id}: {sum(run.valid for run in check.raw_runs)} of {pluralize(len(check.raw_runs), 'vote')}."
        for check in checks
        if check.incomplete
    ]
    failed = [
        f"{check.check_id} ({check.severity} severity) failed, whatever the missing votes will be."
        for check in checks
        if check.result is Result.FAIL and check.decided_by != "derived"
    ]
    return [*missing, *missing_vote_problems(report), *failed]


def missing_vote_problems(report: Report) -> list[str]:
    """Return the first different reasons why votes are missing."""
    runs = (run for check in report.check_results if check.incomplete for run in check.raw_runs)
    problems = dict.fromkeys(visible_note(run.problem) for run in runs if run.problem and run.problem != NOT_ASKED)
    return list(problems)[:_MAX_PROBLEMS]


def baseline_refused(report: Report) -> str:
    """Return why the report cannot be saved as a baseline; empty if it can."""
    if report.execution_mode is Mode.SCREENING:
        return "A screening cannot be a baseline."
    return "An incomplete report cannot be a baseline." if report.incomplete else ""


def baseline_saved(report_id: str, subject: str) -> str:
    """Return what it means that the report is now a baseline."""
    if subject == DEFAULT_SUBJECT:
        return f"{report_id} is now a baseline, but nothing is compared with it: no subject was named (--subject NAME)."
    return f"{report_id} is now the baseline of the subject “{subject}”, for reports of the same playbook."


def header(report: Report) -> list[NamedValue]:
    return [
        *identity_labels.identity(report),
        NamedValue("Playbook", f"{report.playbook_id} {report.playbook_version}", code=True),
        NamedValue("Report", report.report_id, code=True),
        NamedValue("Subject", report.subject),
        NamedValue("Evaluator", report.evaluator, code=True),
        NamedValue("Mode", f"{report.execution_mode}: {report.execution_mode.label}"),
    ]


def tally(checks: Sequence[CheckResult]) -> str:
    """Return the counts as a test suite prints them: "1 failed, 3 passed, 2 indeterminate"."""
    counts = {result: sum(check.result is result for check in checks) for result in Result}
    words = ((Result.FAIL, "failed"), (Result.PASS, "passed"), (Result.INDETERMINATE, "indeterminate"))
    return ", ".join(f"{counts[result]} {word}" for result, word in words if counts[result]) or "no checks"


def variance(report: Report) -> list[NamedValue]:
    """Return the rows on variance; none for a screening, which has no variance to show."""
    summary = report.variance_summary
    if report.execution_mode is Mode.SCREENING:
        return []
    runs = NamedValue("Runs per judged check", str(summary.num_runs))
    if is_deterministic(report.model_fingerprints):
        return [runs]
    consistency = measured_consistency(report)
    return [
        runs,
        NamedValue(
            "Overall consistency",
            "not measured" if consistency is None else f"{score(consistency)} – {_band(summary, consistency)}",
        ),
        NamedValue("Stable at or above", f"{summary.threshold_ok:.2f}"),
        NamedValue("Not reliable for decisions below", f"{summary.threshold_warn:.2f}"),
        NamedValue("Aggregation", AGGREGATIONS[summary.aggregation]),
    ]


def shows_consistency(report: Report) -> bool:
    """Return whether the overall consistency was measured, and means something."""
    return measured_consistency(report) is not None and not is_deterministic(report.model_fingerprints)


def listed_consistency(consistency: float | None, evaluator: str) -> str:
    """Return the consistency as a list of evaluations shows it. The rules always agree with themselves."""
    return NONE if consistency is None or evaluator == RULES else score(consistency)


def _band(summary: VarianceSummary, consistency: float) -> str:
    if consistency >= summary.threshold_ok:
        return "stable"
    return "not reliable for decisions" if consistency < summary.threshold_warn else "some findings diverge"


def drift_kind(summary: DriftSummary) -> str:
    """Return what kind of drift it is. Reports of earlier versions left it open also where votes were missing."""
    if summary.kind == "undetermined" and (summary.same_text or summary.same_judge):
        return "Undetermined drift: a check could not be judged."
    return DRIFTS[summary.kind]


def no_assumptions(report: Report) -> str:
    """Return what it means that the report lists no assumptions of the text."""
    check = next((check for check in report.check_results if check.check_id == ASSUMPTIONS), None)
    if check is None or check.decided_by != "evaluator":
        return "They were not looked for: the playbook has no check that asks for them."
    if check.result is Result.INDETERMINATE:
        return "Not determined: the check on assumptions is indeterminate."
    return "None were found." if check.result is Result.FAIL else "The check passed, but no passage was quoted."


def no_key_risks(report: Report) -> str:
    judged = " in the checks that were judged" if report.incomplete else ""
    return f"None were detected by this playbook{judged}."


def drift(report: Report) -> list[NamedValue]:
    """Return the facts about the baseline; its consistency only where it means something."""
    summary = report.drift_summary
    if summary.baseline_id is None:
        return []
    source = {True: "saved as a baseline", False: "latest earlier full report", None: UNKNOWN}
    yes_or_no = {True: "yes", False: "no", None: UNKNOWN}
    delta = summary.consistency_delta
    rows = [
        NamedValue("Baseline", summary.baseline_id, code=True),
        NamedValue("Baseline time", summary.baseline_timestamp or UNKNOWN),
        NamedValue("Baseline source", source[summary.baseline_saved]),
    ]
    if delta is not None and not is_deterministic(report.model_fingerprints):
        rows.append(NamedValue("Baseline consistency", score(summary.consistency_before)))
        rows.append(NamedValue("Change in consistency", f"{delta:+.2f}".replace("-", "−")))
    return [
        *rows,
        NamedValue("Same text", yes_or_no[summary.same_text]),
        NamedValue("Same judge", yes_or_no[summary.same_judge]),
    ]


def stated_by(area: UncheckedArea) -> str:
    return "stated in the text" if area.stated_by == "output" else "not examined by this evaluation"


def fingerprint(model: ModelFingerprint) -> list[NamedValue]:
    """Return the specification's seven fields, with a row for each item of the last one."""
    metadata = [NamedValue(str(name), _value(value), code=True) for name, value in model.other_runtime_metadata.items()]
    return [
        NamedValue("Declared model name", _declared(model.declared_model_name), code=True),
        NamedValue("Declared model version", _declared(model.declared_model_version), code=True),
        NamedValue("Provider", _declared(model.provider)),
        NamedValue("Routing or mode", _declared(model.routing_or_mode)),
        NamedValue("Temperature", _declared(model.temperature)),
        NamedValue("System prompt id", _declared(model.system_prompt_id), code=True),
        *(metadata or [NamedValue("Other runtime metadata", "none")]),
    ]


def _declared(value: str | float | None) -> str:
    return NOT_APPLICABLE if value is None else str(value)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def spending(report: Report) -> list[NamedValue]:
    spent = report.spent
    in_calls = NamedValue("Time in calls", f"{duration(spent.seconds)}, summed over all calls")
    return [
        NamedValue("Calls", str(spent.calls)),
        NamedValue("Tokens", tokens(spent.tokens)),
        NamedValue("Cost", cost(spent.cost_usd)),
        NamedValue("Duration", duration(spent.wall_seconds)),
        *([in_calls] if spent.calls else []),
    ]


def tokens(used: Tokens | None) -> str:
    if used is None:
        return UNKNOWN
    cached = [(used.cache_read, "read from the cache"), (used.cache_write, "written to the cache")]
    parts = [f"{used.input:,} in", *(f"{number:,} {what}" for number, what in cached if number), f"{used.output:,} out"]
    return ", ".join(parts)


def cost(dollars: float | None) -> str:
    return UNKNOWN if dollars is None else money(dollars)


def duration(elapsed: float | None) -> str:
    return UNKNOWN if elapsed is None else seconds(elapsed)


def integrity(report: Report) -> list[NamedValue]:
    hashes = report.integrity
    return [
        NamedValue("Playbook logic hash", hashes.playbook_logic_hash, code=True),
        NamedValue("Inputs fingerprint", hashes.inputs_fingerprint, code=True),
        NamedValue("Report hash", hashes.report_hash or "not computed", code=True),
        *([NamedValue("Computed as", method)] if (method := hashes.report_hash_method) else []),
        NamedValue("Runner", hashes.runner_fingerprint, code=True),
        NamedValue("Specification", f"BYOP {report.spec_version}"),
        *(NamedValue(f"Hash of {name}", digest, code=True) for name, digest in hashes.raw_inputs.items()),
    ]


RUN_COLUMNS = ("Check", "Run", "Answer", "Model", "Tokens: in + cached → out", "Cost", "Time")


def run_rows(report: Report) -> list[tuple[str, ...]]:
    """Return a row per run, with the columns RUN_COLUMNS; for rules, whose runs are all the same, a row per check."""
    uses_model = not is_deterministic(report.model_fingerprints)
    return [
        (
            check.check_id,
            str(run.run) if uses_model or len(check.raw_runs) == 1 else "all",
            vote(run),
            *_model_cells(run, uses_model=uses_model),
            duration(run.seconds),
        )
        for check in report.check_results
        for run in (check.raw_runs if uses_model else check.raw_runs[:1])
    ]


def _model_cells(run: RawRun, *, uses_model: bool) -> tuple[str, str, str]:
    if not uses_model:
        return "no model", NOT_APPLICABLE, NOT_APPLICABLE
    model = (run.model or UNKNOWN) + (f" ({run.system_fingerprint})" if run.system_fingerprint else "")
    used = run.tokens
    cached = 0 if used is None else used.cache_read + used.cache_write
    return model, UNKNOWN if used is None else f"{used.input:,} + {cached:,} → {used.output:,}", cost(run.cost_usd)
