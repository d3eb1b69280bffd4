"""What must be the same in a replay as in the recorded run, and the differences. Pure."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import stable_text
from salvo.engine.jsonio.json_diff import Difference, differences
from salvo.scenarios.result import UNFINISHED, AgentRunResult, Cause

NOT_COMPARED = frozenset(
    {"run_id", "batch_id", "timestamp", "recorded", "replayable", "replay_note", "salvo_version", "reported_metrics"}
    | {"from_cache"}
    | {"eval_results", "weighted_score", "passed", "outcome", "cause", "error", "judge_cost"}
)


def result_differences(recorded: AgentRunResult, replayed: AgentRunResult, *, unordered: set[str]) -> list[Difference]:
    """Return what differs apart from ids, times and the verdict.

    `unordered` names the lists in the order of Salvo's own observation, `trace` or `tool_calls`. They are compared
    call by call: the order of overlapping calls depends on timing, and the other calls have been checked as they were
    made.
    """
    before, after = _comparable(recorded), _comparable(replayed)
    for name in unordered:
        after[name] = _arranged(after[name], before[name])
    return list(differences(before, after))


def _comparable(result: AgentRunResult) -> dict[str, Any]:
    content: dict[str, Any] = json_codec.loads(json_codec.dumps(result), max_depth=json_codec.MAX_DEPTH_STORED)
    # A run that was evaluated had ended, whatever its verdict names as the cause.
    is_unfinished = result.cause in UNFINISHED and not result.eval_results
    ending = {"ended": result.cause, "error": result.error} if is_unfinished else {}
    # The standard error of a program may contain times and numbers that differ.
    content["details"].pop("stderr", None)
    # Prices are taken from the recording, and earlier versions did not store these with the run.
    for name in ("prices", "tolerated_fault"):
        content["details"].pop(name, None)
    for turn in content["turns"]:
        del turn["metrics"]["latency"]  # that of the run is taken from the recording
    if result.cause is Cause.EXIT:
        ending.pop("error", None)
    return {**{name: value for name, value in content.items() if name not in NOT_COMPARED}, **ending}


def _arranged(items: list[Any], pattern: list[Any]) -> list[Any]:
    """Return the items with each one at the place of its equal in the pattern. The others fill the gaps in order."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for index in reversed(range(len(pattern))):
        places[stable_text(pattern[index])].append(index)
    arranged: dict[int, Any] = {}
    others = []
    for item in items:
        if equal := places[stable_text(item)]:
            arranged[equal.pop()] = item
        else:
            others.append(item)
    gaps = (index for index in range(max(len(items), len(pattern))) if index not in arranged)
    arranged.update(zip(gaps, others, strict=False))
    return [arranged[index] for index in sorted(arranged)]
