"""A baseline: what was measured and is to hold from now on, in one small file to review and commit. No texts.

    {"salvo_baseline": 1, "scenarios": {"refund": {"model": "gpt-5.4-mini", "passed": 19, "completed": 20, ...}}}

Counts of runs and assertions, average cost, latency, and fingerprints of scenario, tools and judges, by scenario.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.engine.runtime.files import write_document
from salvo.errors import InputError
from salvo.scenarios.analysis.batch_stats import BatchStats

VERSION = 1
NAME = "baseline.json"
"""In the store's folder, where it is not ignored by git as runs are."""


def bless(path: Path, measured: Iterable[BatchStats]) -> list[BatchStats]:
    """Writes these into the file, beside the scenarios that it has already; gives all that it now holds."""
    known = {of.scenario_id: of for of in (read(path) if path.exists() else [])}
    known |= {of.scenario_id: of for of in measured}
    every = [known[name] for name in sorted(known)]
    document = {"salvo_baseline": VERSION, "scenarios": {of.scenario_id: _written(of) for of in every}}
    write_document(path, json_codec.dumps(document, indent=2) + b"\n")
    return every


def read(path: Path) -> list[BatchStats]:
    """InputError where it is not there, or is none."""
    from pydantic import ValidationError

    try:
        found = json_codec.loads(path.read_bytes())
    except FileNotFoundError as fault:
        raise InputError(
            f"There is no baseline {path}.",
            hint="Make one of a batch that is as it should be: salvo baseline bless BATCH",
        ) from fault
    except (OSError, ValueError) as fault:
        raise _unusable(path, f"it cannot be read: {fault}") from fault
    if not isinstance(found, dict) or found.get("salvo_baseline") != VERSION:
        raise _unusable(path, f'it does not say "salvo_baseline": {VERSION}')
    scenarios = found.get("scenarios")
    if not isinstance(scenarios, dict) or not all(isinstance(of, dict) for of in scenarios.values()):
        raise _unusable(path, "it has no scenarios")
    try:
        every = [
            type_adapter(BatchStats).validate_python({**of, "scenario_id": name}) for name, of in scenarios.items()
        ]
    except ValidationError as fault:
        raise _unusable(path, ": ".join(first_error(fault))) from fault
    for of in every:
        counts = [(of.passed, of.completed), *((each.passed, each.judged) for each in of.assertions)]
        if any(not 0 <= passed <= runs for passed, runs in counts):
            raise _unusable(path, f"more runs of {of.scenario_id} passed than there were")
    return every


def _written(of: BatchStats) -> dict[str, Any]:
    content = {part.name: getattr(of, part.name) for part in fields(of) if part.name != "scenario_id"}
    return {
        **content,
        "settings": dict(sorted(of.settings.items())),
        "fingerprints": dict(sorted(of.fingerprints.items())),
    }


def _unusable(path: Path, why: str) -> InputError:
    return InputError(
        f"{path} cannot be used as a baseline: {why}.",
        hint="Restore it from version control, or bless a batch again: salvo baseline bless BATCH",
    )
