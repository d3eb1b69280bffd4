"""The judge that needs no key: linguistic rules over the sentences of the text."""

from __future__ import annotations

import asyncio
from functools import cached_property
from importlib.resources import files

from salvo.engine import jsontext
from salvo.engine.canonical import sha256
from salvo.engine.wire import Wire
from salvo.playbooks.inputs import Inputs
from salvo.playbooks.judges.base import Case
from salvo.playbooks.verdict import Result
from salvo.playbooks.votes import Ballot, Cited

NAME = "rules"
_RULES = (".py", ".toml")


class RulesJudge:
    """Deterministic, so each check is worked out once, however often it is asked."""

    name = NAME
    provider = None
    deterministic = True

    def __init__(self) -> None:
        self._worked_out: dict[tuple[str, str], asyncio.Task[Ballot]] = {}
        self._turn = asyncio.Lock()

    @cached_property
    def prompt_id(self) -> str:
        """Over the rules themselves, words and code: whatever is changed in them makes another judge."""
        package = files("salvo.playbooks.judges.rules")
        parts = sorted((part.name, part.read_bytes()) for part in package.iterdir() if part.name.endswith(_RULES))
        return f"rules-{sha256(jsontext.dumps([[name, sha256(content)] for name, content in parts]))[7:19]}"

    def goes_first(self, _inputs: Inputs) -> bool:
        return False

    async def judge(self, case: Case, _wire: Wire) -> Ballot:
        return await self.worked_out(case)

    async def worked_out(self, case: Case) -> Ballot:
        asked = (case.check.id, case.inputs.fingerprint)
        if asked not in self._worked_out:
            self._worked_out[asked] = asyncio.create_task(self._work_out(case))
        return await asyncio.shield(self._worked_out[asked])

    async def _work_out(self, case: Case) -> Ballot:
        """In a thread: five megabytes take a while, and others want to be served meanwhile.

        One check after the other: the first reads the text for all of them, and threads would only wait for each other.
        """
        async with self._turn:
            return await asyncio.to_thread(_ballot, case)


def _ballot(case: Case) -> Ballot:
    from salvo.playbooks.judges import rules

    text = case.inputs.ai_output
    found = rules.judge(case.check.id, text, case.addressed)
    return Ballot(
        result=Result(found.result),
        confidence=found.confidence,
        citations=tuple(Cited(text[start:end]) for start, end in found.spans),
        notes=found.notes,
        rule=found.rule,
    )
