"""JUnit XML: a testsuite per batch and a testcase per run, which may be a failure, an error or skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

from salvo.engine.text.formatting import display_json, pluralize
from salvo.engine.text.unicode_escape import visible
from salvo.scenarios.analysis.summary import BatchSummary
from salvo.scenarios.report import labels, run_labels
from salvo.scenarios.result import AgentRunResult, EvalResult, Outcome, full_model

_UNKNOWN = "This run has no result: it is still running, or was stopped."


def as_xml(summaries: Sequence[BatchSummary], results: Sequence[AgentRunResult]) -> bytes:
    root = ET.Element("testsuites", name="salvo")
    by_batch: dict[str, list[AgentRunResult]] = {}
    for result in results:
        by_batch.setdefault(result.batch_id, []).append(result)
    for summary in summaries:
        _add_suite(root, summary, sorted(by_batch.get(summary.batch_id, []), key=lambda run: run.number))
    for total in ("tests", "failures", "errors", "skipped"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root)))
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


_SKIPPED = (Outcome.NOT_RUN, Outcome.INTERRUPTED, Outcome.PENDING)


def _add_suite(root: ET.Element, summary: BatchSummary, results: Sequence[AgentRunResult]) -> None:
    missing = summary.runs - len(results)
    outcomes = [result.outcome for result in results]
    suite = ET.SubElement(
        root,
        "testsuite",
        name=visible(summary.scenario_id),
        id=summary.batch_id,
        timestamp=visible(summary.created_at),
        tests=str(len(results) + missing),
        failures=str(outcomes.count(Outcome.FAILED)),
        errors=str(outcomes.count(Outcome.ERROR)),
        skipped=str(missing + sum(outcome in _SKIPPED for outcome in outcomes)),
        time=f"{sum(result.metrics.latency for result in results):.3f}",
    )
    properties = ET.SubElement(suite, "properties")
    for name, text in suite_properties(summary).items():
        ET.SubElement(properties, "property", name=name, value=visible(text))
    reasons = {run_id: labels.skip_reason(group) for group in summary.not_made for run_id in group.run_ids}
    for result in results:
        _add_case(suite, result, reasons)
    numbers = {result.number for result in results}
    for number in range(1, summary.runs + 1):
        if number not in numbers and missing > 0:
            case = ET.SubElement(suite, "testcase", classname=visible(summary.scenario_id), name=f"run {number}")
            reason = reasons.get(f"{summary.batch_id}-{number:04d}", _UNKNOWN)
            ET.SubElement(case, "skipped", message=visible(reason))
            missing -= 1


def suite_properties(summary: BatchSummary) -> dict[str, str]:
    """Return the verdict and the statistics of a batch."""
    evidence = summary.evidence
    gate = (
        {
            "confidence": _number(evidence.confidence),
            "confidence_method": evidence.method,
            "confidence_low": _number(evidence.interval.low),
            "confidence_high": _number(evidence.interval.high),
            "more_passing_runs_to_settle": _number(evidence.more),
        }
        if evidence
        else {}
    )
    return {
        "verdict": summary.verdict.value,
        **gate,
        "model": full_model(summary.provider, summary.model),
        "completed": str(summary.completed),
        **({"judge_pending": str(summary.pending)} if summary.pending else {}),
        "pass_rate": _number(summary.pass_rate),
        "pass_rate_95_low": _number(summary.interval.low),
        "pass_rate_95_high": _number(summary.interval.high),
        **_label_properties(summary),
        "min_pass_rate": _number(summary.min_pass_rate),
        "average_score": _number(summary.average_score),
        "cost_usd": _number(summary.cost.total),
        "judge_cost_usd": _number(summary.judge_cost.total),
        **_conversation_properties(summary),
        **({"in_flight_at_an_end": labels.lost_runs(summary.lost)} if summary.lost else {}),
    }


def _label_properties(summary: BatchSummary) -> dict[str, str]:
    labels = summary.labels
    if labels is None:
        return {}
    return {
        "corrected_pass_rate": _number(labels.rate),
        "corrected_pass_rate_low": _number(labels.interval.low),
        "corrected_pass_rate_high": _number(labels.interval.high),
        "corrected_pass_rate_confidence": _number(labels.confidence),
        "labels": str(labels.labelled),
    }


def _conversation_properties(summary: BatchSummary) -> dict[str, str]:
    properties = {}
    if summary.turns is not None or summary.simulator_errors:
        properties["user_cost_usd"] = _number(summary.user_cost.total)
        properties["average_turns"] = _number(None if summary.turns is None else summary.turns.average)
    if summary.pass_rate_bounds is not None:
        properties["simulator_errors"] = str(summary.simulator_errors)
        properties["pass_rate_if_those_failed"] = _number(summary.pass_rate_bounds.low)
        properties["pass_rate_if_those_passed"] = _number(summary.pass_rate_bounds.high)
    return properties


def _add_case(suite: ET.Element, result: AgentRunResult, reasons: Mapping[str, str]) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=visible(result.scenario_id),
        name=f"run {result.number}",
        time=f"{result.metrics.latency:.3f}",
    )
    properties = ET.SubElement(case, "properties")
    ET.SubElement(properties, "property", name="run_id", value=visible(result.run_id))
    ET.SubElement(properties, "property", name="score", value=_number(result.weighted_score))
    if result.turns:
        ET.SubElement(properties, "property", name="turns", value=str(len(result.turns)))
    match result.outcome:
        case Outcome.FAILED:
            _add_reason(case, "failure", result, [item for item in result.eval_results if item.passed is False])
        case Outcome.ERROR:
            _add_reason(case, "error", result, [item for item in result.eval_results if item.passed is None])
        case Outcome.PENDING:
            ET.SubElement(case, "skipped", message="pending: its judges' votes wait for the provider's batch")
        case Outcome.NOT_RUN | Outcome.INTERRUPTED:
            ET.SubElement(case, "skipped", message=visible(reasons.get(result.run_id, _UNKNOWN)))


def _add_reason(case: ET.Element, tag: str, result: AgentRunResult, results: Sequence[EvalResult]) -> None:
    count = pluralize(len(results), "assertion") + (" failed" if tag == "failure" else " could not be judged")
    reason = ET.SubElement(
        case, tag, type=visible(result.cause or tag), message=visible(result.error or (count if results else tag))
    )
    reason.text = visible("\n".join(_reason_line(item) for item in results)) or None


def _reason_line(result: EvalResult) -> str:
    line = f"{run_labels.label(result)}{run_labels.turn(result)}: {result.message or result.error or ''}"
    if result.expected is not None or result.actual is not None:
        line += f"\n  expected {display_json(result.expected)}\n  actual   {display_json(result.actual)}"
    return line


def _number(number: float | None) -> str:
    return "unknown" if number is None else f"{number:.6g}"
