"""The index of runs, `history.jsonl`: one line a run, with all that is needed to list it without its file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from salvo.engine.chat.base import Usage
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import reader
from salvo.scenarios.result import AgentRunResult, Cause, Outcome

_BLOCK = 64 * 1024
_SHORT = 300


@dataclass(frozen=True, slots=True)
class Judged:
    """What one assertion came to in one run; `passed` is None where it could not be judged."""

    label: str
    type: str
    passed: bool | None
    required: bool


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A run as it is listed. Fields without a default are in every line; later versions may add others."""

    run_id: str
    batch_id: str
    scenario_id: str
    number: int
    provider: str
    model: str
    timestamp: str
    outcome: Outcome
    cause: Cause | None = None
    score: float | None = None
    latency: float = 0.0
    cost: float | None = None
    judge_cost: float | None = None
    tokens: Usage | None = None
    tool_count: int = 0
    assertions: list[Judged] = field(default_factory=list)
    error: str | None = None
    recorded: bool = False


class Entries(list[IndexEntry]):
    """Entries, and how many lines or files were left out because they could not be read."""

    skipped: int = 0


def entry_of(result: AgentRunResult) -> IndexEntry:
    """The line that lists a run."""
    return IndexEntry(
        run_id=result.run_id,
        batch_id=result.batch_id,
        scenario_id=result.scenario_id,
        number=result.number,
        provider=result.provider,
        model=result.model,
        timestamp=result.timestamp,
        outcome=result.outcome,
        cause=result.cause,
        score=result.weighted_score,
        latency=result.metrics.latency,
        cost=result.metrics.cost,
        judge_cost=result.judge_cost,
        tokens=result.metrics.tokens,
        tool_count=result.metrics.tool_count,
        assertions=[Judged(of.name or of.type, of.type, of.passed, of.required) for of in result.eval_results],
        error=_short(result.error),
        recorded=result.recorded,
    )


def line_of(entry: IndexEntry) -> bytes:
    """Between two newlines, so that a line which was cut short before it spoils nothing but itself."""
    return b"\n" + json_codec.dumps(entry) + b"\n"


def fields_of(line: bytes) -> dict[str, Any] | None:
    """What a line says, unchecked but for its being a run of some batch; None where it is not."""
    try:
        found = json_codec.loads(line)
    except ValueError:
        return None
    whole = isinstance(found, dict) and isinstance(found.get("batch_id"), str)
    return found if whole else None


def to_entry(fields: dict[str, Any] | None) -> IndexEntry | None:
    """None where the fields have the wrong shape."""
    from pydantic import ValidationError

    try:
        return reader(IndexEntry).validate_python(fields)
    except ValidationError:
        return None


def lines_backwards(path: Path) -> Iterator[bytes]:
    """The lines from the last to the first, reading no more than is asked for; empty lines are left out."""
    try:
        file = path.open("rb", buffering=0)
    except (FileNotFoundError, IsADirectoryError):
        return
    with file:
        position = file.seek(0, 2)
        unfinished: list[bytes] = []
        while position:
            start = max(0, position - _BLOCK)
            file.seek(start)
            block = file.read(position - start)
            position = start
            head, *lines = block.split(b"\n")
            if not lines:
                unfinished.append(head)
                continue
            lines[-1] += b"".join(reversed(unfinished))
            unfinished = [head]
            yield from (line for line in reversed(lines) if line)
        yield from filter(None, [b"".join(reversed(unfinished))])


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= _SHORT else text[: _SHORT - 1] + "…"
