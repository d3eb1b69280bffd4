"""The table of the tools that a model chose: its texts for the terminal, HTML and the dashboard. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from salvo.engine.stats.pass_rates import Interval
from salvo.engine.text.formatting import at_least, at_most
from salvo.records import record
from salvo.scenarios.analysis.tool_choices import NO_TOOL, PromptChoices

COLUMNS = ("Prompt", "Right tool", "Chosen", "95% interval", "All choices")
_DECOY_NOTE = "* a decoy: no MCP server of the scenario has it"
_UNOFFERED_NOTE = "** not offered: the model invented it"


@record
class ChosenTool:
    name: str
    count: int
    """In how many runs it was the first tool that the reply asked for."""
    is_right: bool
    is_decoy: bool
    is_offered: bool
    """Whether there is such a tool; else the model invented it."""

    @property
    def mark(self) -> str:
        return "*" if self.is_decoy else "" if self.is_offered else "**"


@record
class ToolChoiceRow:
    """A prompt, and which tools were chosen for it."""

    prompt: str
    expected: str
    """The right tools, in words."""
    right: int
    runs: int
    interval: Interval
    """The exact 95 % interval of the rate at which a right tool is chosen."""
    interval_label: str
    chosen: list[ChosenTool]
    """The most frequent first."""

    @property
    def chosen_label(self) -> str:
        return ", ".join(f"{tool.name}{tool.mark} {tool.count}" for tool in self.chosen)

    @property
    def values(self) -> tuple[str, ...]:
        """The texts under COLUMNS."""
        return self.prompt, self.expected, f"{self.right}/{self.runs}", self.interval_label, self.chosen_label


def choice_row(row: PromptChoices) -> ToolChoiceRow:
    interval = row.interval
    right_names = set(row.expected) or {NO_TOOL}
    return ToolChoiceRow(
        prompt=row.prompt,
        expected=" or ".join(map(str, row.expected)) or NO_TOOL,
        right=row.right,
        runs=row.runs,
        interval=interval,
        interval_label=f"{at_least(interval.low)} to {at_most(interval.high)}",
        chosen=[
            ChosenTool(name, count, name in right_names, name in row.decoys, name not in row.unoffered)
            for name, count in sorted(row.chosen.items(), key=lambda item: (-item[1], item[0]))
        ],
    )


def notes(rows: Iterable[ToolChoiceRow]) -> list[str]:
    """Return what the marks in the rows mean."""
    marks = {tool.mark for row in rows for tool in row.chosen}
    return [note for mark, note in (("*", _DECOY_NOTE), ("**", _UNOFFERED_NOTE)) if mark in marks]
