"""The judge that needs no key: linguistic rules over the sentences of the text."""

from __future__ import annotations

import asyncio

from salvo.engine.wire.base import Wire
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.inputs import Span
from salvo.playbooks.evaluate.judges import rules_calibration
from salvo.playbooks.evaluate.judges.base import Case, Judge
from salvo.playbooks.evaluate.votes import JudgeAnswer, RawCitation
from salvo.playbooks.report.report import Calibration

NAME = "rules"


class RulesJudge(Judge):
    """Deterministic, so each check is judged once, however often it is asked."""

    name = NAME
    provider = None
    deterministic = True
    prompt_id = "rules-46ecb5feef6c"
    """Changes with the verdicts, not with the code: a test compares the verdicts that belong to it."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], asyncio.Task[JudgeAnswer]] = {}
        self._lock = asyncio.Lock()

    def track_record(self) -> str:
        return rules_calibration.track_record(self.prompt_id)

    def calibration(self, check_id: str, result: Result) -> Calibration | None:
        return rules_calibration.calibration(self.prompt_id, check_id, result)

    async def judge(self, case: Case, wire: Wire | None = None) -> JudgeAnswer:  # noqa: ARG002 - it calls no provider
        key = (case.check.id, case.inputs.fingerprint)
        if key not in self._answers:
            self._answers[key] = asyncio.create_task(self._compute(case))
        return await asyncio.shield(self._answers[key])

    async def close(self) -> None:
        for task in self._answers.values():
            task.cancel()
        await asyncio.gather(*self._answers.values(), return_exceptions=True)

    async def _compute(self, case: Case) -> JudgeAnswer:
        """Run in a thread, because a text of five megabytes takes a while.

        One check runs after the other: the first reads the text for all, and threads would only wait for each other.
        """
        async with self._lock:
            return await asyncio.to_thread(self._apply_rules, case)

    def _apply_rules(self, case: Case) -> JudgeAnswer:
        from salvo.playbooks.evaluate.judges.rules import engine  # compiles its patterns

        text = case.inputs.ai_output
        finding = engine.judge(case.check.id, text, case.addressed)
        result = Result(finding.result)
        measured = None if finding.abstained else self.calibration(case.check.id, result)
        return JudgeAnswer(
            result=result,
            confidence=finding.confidence if measured is None else rules_calibration.confidence(measured),
            citations=tuple(RawCitation(text[start:end], offsets=Span(start, end)) for start, end in finding.spans),
            notes=finding.notes,
            rule=finding.rule,
            abstained=finding.abstained,
        )
