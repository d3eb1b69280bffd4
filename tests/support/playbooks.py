"""A playbook, inputs, votes and a report for tests that need some, and not any one in particular."""

import re
from dataclasses import replace
from typing import Any

from salvo.engine.chat.base import Usage
from salvo.engine.wire.tape import Exchange, JsonContent, TapedReply, TapedRequest
from salvo.playbooks.audit.integrity import with_hash
from salvo.playbooks.enums import Aggregation, Mode, Result, Severity, Status
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.votes import CallMetrics, JudgeAnswer, RawCitation, Vote
from salvo.playbooks.playbook.definition import Check, Playbook, Variance
from salvo.playbooks.report.report import (
    SPEC_VERSION,
    VOTE_RULE,
    CheckResult,
    Citation,
    DriftSummary,
    ExtractedAssumption,
    Fingerprints,
    Integrity,
    Location,
    ModelFingerprint,
    PresentationRules,
    RawRun,
    Report,
    Spending,
    Summary,
    Tokens,
    UncheckedArea,
    VarianceSummary,
)
from salvo.playbooks.report.votes.check_result import derived_confidence

TEXT = "The clause is fully compliant with the law.\nWe assume that German law applies. It was not checked whether…"
CERTAIN = "The clause is fully compliant with the law."
ASSUMED = "We assume that German law applies."


def masked(text: str) -> str:
    """Without the hashes, which change with everything."""
    return re.sub("sha256:[0-9a-f]{64}", "sha256:…", text)


def a_playbook(**changes: Any) -> Playbook:
    """Two judged checks and the two that are derived; `changes` go into its metadata."""
    questions = {
        "assumption_disclosure": ("high", "Does it state its assumptions?", "Look for stated assumptions."),
        "certainty_language": ("high", "Is its certainty unjustified?", "Look for absolute claims."),
        "run_variance": ("medium", "Do the runs diverge?", "Compare the runs."),
        "drift_over_time_support": ("medium", "Is it worse than its baseline?", "Compare the reports."),
    }
    metadata = {"id": "a_playbook", "version": "1.0.0", "created_at": "2026-01-01", **changes}
    document = {
        "metadata": metadata,
        "checks": [
            {
                "id": name,
                "severity": severity,
                "question": question,
                "detection_method": {"type": "semantic", "instructions": instructions},
            }
            for name, (severity, question, instructions) in questions.items()
        ],
    }
    return Playbook(
        id=metadata["id"],
        version=metadata["version"],
        checks=tuple(
            Check(name, Severity(severity), question, "semantic", instructions)
            for name, (severity, question, instructions) in questions.items()
        ),
        variance=Variance(),
        document=document,
    )


def some_inputs(
    ai_output: str = TEXT, *, source_document: str | None = None, prompt: str | None = None, system: str | None = None
) -> Inputs:
    return Inputs.from_texts(ai_output, source_document, prompt, system)


def a_judge_answer(result: Result | None = Result.PASS, **changes: Any) -> JudgeAnswer:
    span = ASSUMED if result is Result.PASS else CERTAIN
    ballot = JudgeAnswer(
        result,
        confidence=None if result is None else 0.9,
        citations=() if result is None else (RawCitation(span, "as it says"),),
        notes="" if result is None else f"It says: {span}",
        raw='{"result": …}',
        problem="Evaluator returned unparseable response." if result is None else "",
        measured=CallMetrics(model="claude-sonnet-4-6-x", temperature=0.0, usage=Usage(900, 80), seconds=1.2, calls=1),
    )
    return replace(ballot, **changes)


def a_vote(
    check_id: str = "assumption_disclosure", run: int = 1, result: Result | None = Result.PASS, **changes: Any
) -> Vote:
    """With the exchange behind it; `changes` go into its ballot."""
    exchange = Exchange(
        lane=f"check/{check_id}/run-{run}",
        key=f"key-{check_id}-{run}",
        occurrence=1,
        request=TapedRequest("POST", "anthropic", "/v1/messages", {}, JsonContent({"messages": [TEXT]})),
        reply=TapedReply(200, {"request-id": "1"}, JsonContent({"content": ["…"]}), 1.2),
    )
    return Vote(check_id, run, a_judge_answer(result, **changes), (exchange,))


def some_votes(runs: int = 3) -> list[Vote]:
    """All there are for `a_report`: the assumptions pass, the certainty fails."""
    results = {"assumption_disclosure": Result.PASS, "certainty_language": Result.FAIL}
    return [a_vote(check_id, run, result) for check_id, result in results.items() for run in range(1, runs + 1)]


def a_report(
    *,
    inputs: Inputs | None = None,
    playbook: Playbook | None = None,
    runs: int = 3,
    status: Status = Status.ALERT,
    consistency: float | None = 1.0,
    **changes: Any,
) -> Report:
    """What `some_votes` come to, sealed with its hash; `changes` replace fields of the report."""
    inputs, playbook = inputs or some_inputs(), playbook or a_playbook()
    report = Report(
        spec_version=SPEC_VERSION,
        report_id="id-0001",
        playbook_id=playbook.id,
        playbook_version=playbook.version,
        execution_mode=Mode.FULL,
        timestamp="2026-11-15T12:00:00+00:00",
        subject="default",
        evaluator="anthropic/claude-sonnet-4-6",
        incomplete=False,
        summary=Summary(
            overall_status=status,
            status_reasons=("certainty_language (high severity) failed.",),
            key_risks=(f"certainty_language failed: {CERTAIN}",),
            recommended_next_steps=(f"Have a lawyer confirm “{CERTAIN}”.",),
            mending_prompt=f"Please revise: {CERTAIN}",
        ),
        check_results=(
            _check("assumption_disclosure", Result.PASS, ASSUMED, inputs, runs),
            _check("certainty_language", Result.FAIL, CERTAIN, inputs, runs),
            _derived("run_variance", Result.PASS, "The runs agree."),
            _derived("drift_over_time_support", Result.INDETERMINATE, "There is no baseline."),
        ),
        variance_summary=VarianceSummary(
            runs, consistency, (), 0.85, 0.7, Aggregation.MAJORITY_VOTE, "3 of 3 shows at least 44 %.", VOTE_RULE
        ),
        drift_summary=DriftSummary("not_compared", None, None, None, None, None, (), None, None),
        artifact_findings=(),
        assumptions_extracted=(ExtractedAssumption(ASSUMED, _location(ASSUMED, inputs)),),
        uncertainty=(),
        unchecked_areas=(UncheckedArea("Whether the text is legally correct.", "runner"),),
        limitations=("The evaluator is a language model.",),
        model_fingerprints=Fingerprints(
            ModelFingerprint("claude-sonnet-4-6", "claude-sonnet-4-6-x", "anthropic", "unknown", 0.0, "p1"),
            ModelFingerprint("unknown", "unknown", "unknown", "unknown", "unknown", "unknown"),
        ),
        spent=Spending(6, Tokens(5400, 480, 0, 0), 0.02, 7.2),
        integrity=Integrity(playbook.logic_hash, inputs.fingerprint, "salvo-byop/0.1.0", dict(inputs.raw_hashes or {})),
        presentation_rules=PresentationRules(label=Mode.FULL.label),
    )
    return with_hash(replace(report, **changes))


def _check(name: str, result: Result, span: str, inputs: Inputs, runs: int) -> CheckResult:
    location = _location(span, inputs)
    ballot = a_judge_answer(result)
    return CheckResult(
        check_id=name,
        severity=Severity.HIGH,
        question="Does it?",
        result=result,
        per_check_confidence=0.9,
        per_check_consistency=1.0,
        evidence_citations=(Citation(span, location, "as it says", tuple(range(1, runs + 1))),),
        notes=ballot.notes,
        raw_runs=tuple(
            RawRun(run, result, True, 0.9, (Citation(span, location, "as it says", (run,)),), ballot.notes, ballot.raw)
            for run in range(1, runs + 1)
        ),
    )


def _derived(name: str, result: Result, notes: str) -> CheckResult:
    confidence = derived_confidence(result)
    return CheckResult(name, Severity.MEDIUM, "Does it?", result, confidence, None, (), notes, decided_by="derived")


def _location(span: str, inputs: Inputs) -> Location | None:
    start = inputs.ai_output.find(span)
    return None if start < 0 else Location(start, start + len(span), inputs.line_number(start))
