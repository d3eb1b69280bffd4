"""The judge that needs no key: linguistic rules over the sentences of the text."""

from __future__ import annotations

import asyncio
from functools import cached_property
from importlib.resources import files

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import sha256
from salvo.engine.wire.base import Wire
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.judges.base import Case
from salvo.playbooks.evaluate.votes import JudgeAnswer, RawCitation

NAME = "rules"
_RULES = (".py", ".toml")


class RulesJudge:
    """Deterministic, so each check is worked out once, however often it is asked."""

    name = NAME
    provider = None
    deterministic = True

    def __init__(self) -> None:
        self._worked_out: dict[tuple[str, str], asyncio.Task[JudgeAnswer]] = {}
        self._turn = asyncio.Lock()

    @cached_property
    def prompt_id(self) -> str:
        """Over the rules themselves, words and code: whatever is changed in them makes another judge."""
        package = files("salvo.playbooks.evaluate.judges.rules")
        parts = sorted((part.name, part.read_bytes()) for part in package.iterdir() if part.name.endswith(_RULES))
        return f"rules-{sha256(json_codec.dumps([[name, sha256(content)] for name, content in parts]))[7:19]}"

    def goes_first(self, _inputs: Inputs) -> bool:
        return False

    async def judge(self, case: Case, _wire: Wire | None = None) -> JudgeAnswer:
        asked = (case.check.id, case.inputs.fingerprint)
        if asked not in self._worked_out:
            self._worked_out[asked] = asyncio.create_task(self._work_out(case))
        return await asyncio.shield(self._worked_out[asked])

    async def _work_out(self, case: Case) -> JudgeAnswer:
        """In a thread: five megabytes take a while, and others want to be served meanwhile.

        One check after the other: the first reads the text for all of them, and threads would only wait for each other.
        """
        async with self._turn:
            return await asyncio.to_thread(_ballot, case)


def _ballot(case: Case) -> JudgeAnswer:
    from salvo.playbooks.evaluate.judges import rules

    text = case.inputs.ai_output
    found = rules.judge(case.check.id, text, case.addressed)
    return JudgeAnswer(
        result=Result(found.result),
        confidence=found.confidence,
        citations=tuple(RawCitation(text[start:end]) for start, end in found.spans),
        notes=found.notes,
        rule=found.rule,
    )
