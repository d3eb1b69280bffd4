"""Which tools a model chose for which prompt, over all runs of a batch. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from salvo.engine.stats.pass_rates import Interval, clopper_pearson
from salvo.scenarios.result import MCP, UNFINISHED, AgentRunResult, Batch

NO_TOOL = "(no tool)"


@dataclass(slots=True)
class PromptChoices:
    """One row of the table: a prompt, the tools that are right for it, and how often each tool was chosen."""

    prompt: str
    expected: list[str]
    chosen: Counter[str] = field(default_factory=Counter)
    """By the first tool that a reply asks for."""
    decoys: set[str] = field(default_factory=set)
    """Those of the chosen tools that only the scenario has, and no server."""
    unoffered: set[str] = field(default_factory=set)
    """Those that the model invented: neither a server nor the scenario has them."""
    right: int = 0

    @property
    def runs(self) -> int:
        return self.chosen.total()

    @property
    def interval(self) -> Interval:
        """The exact 95 % interval of the rate at which the right tool is chosen."""
        return clopper_pearson(self.right, self.runs)


def has_tool_choices(batch: Batch) -> bool:
    """Return whether the scenario of a batch lets a model choose tools, so that reading its runs is worth it."""
    options = batch.scenario.get("adapter_options")
    return batch.scenario.get("adapter") == MCP and isinstance(options, dict) and bool(options.get("prompts"))


def tool_choices(results: Iterable[AgentRunResult]) -> list[PromptChoices]:
    """Return a row for each prompt, in the order of the scenario. Runs that did not finish are left out."""
    rows: dict[tuple[int, str], PromptChoices] = {}
    for result in results:
        output = result.final_output
        choices = output.get("choices") if isinstance(output, dict) and result.cause not in UNFINISHED else None
        for number, choice in enumerate(choices if isinstance(choices, list) else ()):
            if _is_choice(choice):
                key = number, choice["prompt"]
                _add(rows.setdefault(key, PromptChoices(choice["prompt"], choice["expected"])), choice)
    return list(rows.values())


def _add(row: PromptChoices, choice: dict[str, Any]) -> None:
    first = str(choice["chosen"][0]) if choice["chosen"] else NO_TOOL
    row.chosen[first] += 1
    row.right += choice["right"] is True
    if choice["is_decoy"] is True:
        row.decoys.add(first)
    if choice.get("is_offered") is False:
        row.unoffered.add(first)


def _is_choice(choice: Any) -> bool:
    """Return whether a stored value is a choice: a file of a stranger may hold anything."""
    if not isinstance(choice, dict) or not {"prompt", "expected", "chosen", "right", "is_decoy"} <= choice.keys():
        return False
    return isinstance(choice["prompt"], str) and all(isinstance(choice[name], list) for name in ("expected", "chosen"))
