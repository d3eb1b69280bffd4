"""A baseline: the statistics that later runs are compared with, in one small file to review and commit. No texts.

    {"salvo_baseline": 1, "scenarios": {"refund": {"model": "gpt-5.4-mini", "passed": 19, "completed": 20, ...}}}

Counts of runs and assertions, average cost, latency, and fingerprints of scenario, tools and judges, by scenario.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.engine.runtime.files import read_regular, write_document
from salvo.errors import InputError
from salvo.scenarios.analysis.batch_stats import BatchStats

VERSION = 1
NAME = "baseline.json"
"""In the folder of the store. Unlike the runs, it is not ignored by git."""


def bless(path: Path, stats: Iterable[BatchStats]) -> list[BatchStats]:
    """Add statistics to the file, or replace those of the same scenarios. Return everything that it now contains."""
    by_scenario = {item.scenario_id: item for item in (read(path) if path.exists() else [])}
    by_scenario |= {item.scenario_id: item for item in stats}
    scenarios = {name: _fields(item) for name, item in sorted(by_scenario.items())}
    document = {"salvo_baseline": VERSION, "scenarios": scenarios}
    write_document(path, json_codec.dumps(document, indent=2) + b"\n")
    return [by_scenario[name] for name in scenarios]


def read(path: Path) -> list[BatchStats]:
    """Return the statistics in a baseline file; InputError if it does not exist or is not a baseline."""
    try:
        document = json_codec.loads(read_regular(path))
    except FileNotFoundError as error:
        raise InputError(
            f"There is no baseline {path}.",
            hint="Create one from a good batch: salvo baseline bless BATCH",
        ) from error
    except (OSError, ValueError) as error:
        raise _unusable(path, f"it cannot be read: {error}") from error
    if not isinstance(document, dict) or document.get("salvo_baseline") != VERSION:
        raise _unusable(path, f'it does not say "salvo_baseline": {VERSION}')
    scenarios = document.get("scenarios")
    if not isinstance(scenarios, dict) or not all(isinstance(values, dict) for values in scenarios.values()):
        raise _unusable(path, "it has no scenarios")
    try:
        stats = [
            type_adapter(BatchStats).validate_python({**values, "scenario_id": name})
            for name, values in scenarios.items()
        ]
    except ValidationError as error:
        raise _unusable(path, ": ".join(first_error(error))) from error
    for item in stats:
        counts = [(item.passed, item.completed), *((label.passed, label.judged) for label in item.assertions)]
        if any(not 0 <= passed <= runs for passed, runs in counts):
            raise _unusable(path, f"more runs of {item.scenario_id} passed than were completed")
        if item.errors < 0:
            raise _unusable(path, f"the number of errors of {item.scenario_id} is negative")
        if not 0 <= item.simulator_errors <= item.errors:
            raise _unusable(path, f"the number of simulator_errors of {item.scenario_id} is not among its errors")
    return stats


def _fields(stats: BatchStats) -> dict[str, Any]:
    return {
        **{field.name: getattr(stats, field.name) for field in fields(stats) if field.name != "scenario_id"},
        "settings": dict(sorted(stats.settings.items())),
        "fingerprints": dict(sorted(stats.fingerprints.items())),
    }


def _unusable(path: Path, reason: str) -> InputError:
    return InputError(
        f"{path} cannot be used as a baseline: {reason}.",
        hint="Restore it from version control, or bless a batch again: salvo baseline bless BATCH",
    )
