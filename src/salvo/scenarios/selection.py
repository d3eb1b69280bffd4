"""Which of the scenarios that were found a command runs, and in which order: names, tags, and what happened last time.

A scenario is known by its id alone, which is the `scenario` of its file and the `scenario_id` of its batches. What
expands one file into several scenarios only has to give each an id of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

from salvo.engine.text.formatting import pluralize
from salvo.engine.text.messages import did_you_mean, display_path
from salvo.errors import NothingFoundError, UsageError
from salvo.scenarios.analysis.summary import BatchVerdict, summarise
from salvo.scenarios.labels.lookup import required_evidence
from salvo.scenarios.spec import expressions
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.store import RunStore

FoundScenario: TypeAlias = tuple[Path, Scenario]

_SEPARATOR = "::"
_MOST_TAGS = 10


@dataclass(frozen=True)
class Selection:
    paths: list[Path] = field(default_factory=list)
    """Files and folders; none of them means the default folder."""
    names: dict[Path, set[str]] = field(default_factory=dict)
    """By file: the only scenarios of it that were named, as FILE::NAME."""
    keywords: str | None = None
    tags: str | None = None
    last_failed: bool = False
    failed_first: bool = False

    @classmethod
    def parse(
        cls,
        paths: Sequence[Path],
        keywords: str | None = None,
        tags: str | None = None,
        *,
        last_failed: bool = False,
        failed_first: bool = False,
    ) -> Selection:
        """Return the selection of a command, whose paths may be FILE::NAME. Raise UsageError for a bad expression."""
        for option, text in (("-k", keywords), ("-m", tags)):
            if text is not None:
                expressions.parse(text, option)
        files: list[Path] = []
        names_by_file: dict[Path, set[str]] = {}
        whole_files = set()
        for path in paths:
            file, separator, name = str(path).partition(_SEPARATOR)
            if not separator or path.exists():
                files.append(path)
                whole_files.add(path.resolve())
            else:
                files.append(Path(file))
                names_by_file.setdefault(Path(file).resolve(), set()).add(name)
        names = {file: wanted for file, wanted in names_by_file.items() if file not in whole_files}
        return cls(files, names, keywords, tags, last_failed, failed_first)


class SelectedScenarios(NamedTuple):
    scenarios: list[FoundScenario]
    notes: list[str]
    """What the user should know about the choice."""


def select(selection: Selection, scenarios: Sequence[FoundScenario], store: RunStore) -> SelectedScenarios:
    """Return the selected scenarios in the order to run them. Raise NothingFoundError if there is none."""
    selected = _by_name(selection.names, scenarios)
    if selection.keywords is not None:
        selected = _by_keywords(selection.keywords, selected)
    if selection.tags is not None:
        selected = _by_tags(selection.tags, selected)
    if not (selection.last_failed or selection.failed_first):
        return SelectedScenarios(selected, [])
    failed = did_not_pass(store, {scenario.scenario for _, scenario in selected})
    first = [item for item in selected if item[1].scenario in failed]
    if not first:
        return SelectedScenarios(selected, ["No scenario is stored that did not pass last time: all are run."])
    note = f"{pluralize(len(first), 'scenario')} did not pass last time"
    if selection.last_failed:
        skipped = len(selected) - len(first)
        rest = f", {pluralize(skipped, 'other')} not run" if skipped else ""
        return SelectedScenarios(first, [f"{note}{rest}."])
    others = [item for item in selected if item[1].scenario not in failed]
    return SelectedScenarios([*first, *others], [f"{note} and {'is' if len(first) == 1 else 'are'} run first."])


def did_not_pass(store: RunStore, names: Collection[str]) -> set[str]:
    """Return those of the scenarios whose newest batch did not pass, or has runs that could not be judged."""
    unseen = set(names)
    failed = set()
    for batch in store.newest_first():
        if not unseen:
            break
        if batch.scenario_id in unseen:
            unseen.remove(batch.scenario_id)
            summary = summarise(batch, store.batch_entries(batch), labels=required_evidence(store, batch))
            if summary.verdict is not BatchVerdict.PASSED or summary.errors:
                failed.add(batch.scenario_id)
    return failed


def _by_name(names: dict[Path, set[str]], scenarios: Sequence[FoundScenario]) -> list[FoundScenario]:
    by_file: dict[Path, list[str]] = {}
    for file, scenario in scenarios:
        by_file.setdefault(file.resolve(), []).append(scenario.scenario)
    for file, wanted in names.items():
        existing = by_file.get(file, [])
        for name in sorted(wanted):
            if name not in existing:
                raise UsageError(
                    f'{display_path(file)} has no scenario "{name}"{did_you_mean(name, existing)}',
                    hint="`salvo run --collect-only` lists them.",
                )
    return [(file, item) for file, item in scenarios if item.scenario in names.get(file.resolve(), (item.scenario,))]


def _by_keywords(text: str, scenarios: Sequence[FoundScenario]) -> list[FoundScenario]:
    expression = expressions.parse(text, "-k")
    selected = [(file, scenario) for file, scenario in scenarios if expression(_contains(scenario.scenario))]
    if not selected:
        raise NothingFoundError(f"No scenario's name matches -k {text!r}.")
    return selected


def _contains(name: str) -> expressions.Matches:
    lower_case = name.lower()
    return lambda word: word.lower() in lower_case


def _by_tags(text: str, scenarios: Sequence[FoundScenario]) -> list[FoundScenario]:
    expression = expressions.parse(text, "-m")
    selected = [(file, scenario) for file, scenario in scenarios if expression(set(scenario.tags).__contains__)]
    if not selected:
        tags = sorted({tag for _, scenario in scenarios for tag in scenario.tags})
        more = f" and {len(tags) - _MOST_TAGS} more" if len(tags) > _MOST_TAGS else ""
        raise NothingFoundError(
            f"The tags of no scenario match -m {text!r}.",
            hint=f"Tags: {', '.join(tags[:_MOST_TAGS])}{more}." if tags else "No scenario has `tags`.",
        )
    return selected
