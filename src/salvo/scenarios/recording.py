"""What a run leaves for replay, as files: request.json, response.json, judge.json, run.json and result.json.

Self-contained: committed to version control, it can be replayed by anyone, without the run's other files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from salvo.engine import jsontext
from salvo.engine.chat.base import ToolDefinition
from salvo.engine.pricing import UnitPrices
from salvo.engine.redact import Redactor
from salvo.engine.tape import VERSION, Tape
from salvo.errors import TapeCorruptError
from salvo.scenarios.result import AgentRunResult, Batch, EvalResult
from salvo.scenarios.tools.box import ToolRecord

T = TypeVar("T")


@dataclass(slots=True)
class RunRecord:
    """What replay needs besides what was sent and answered: the scenario, tool schemas and prices as they were."""

    batch: Batch
    number: int
    seed: int | None
    provider: str
    endpoint: str | None
    source: str
    tools: list[ToolDefinition]
    prices: dict[str, UnitPrices | None]
    latency: float
    calls: list[ToolRecord]


@dataclass(slots=True)
class Recording:
    run: RunRecord
    result: AgentRunResult
    tape: Tape

    def to_files(self, redactor: Redactor) -> dict[str, bytes]:
        """Every file by name. The tape was redacted as it was recorded, the result before it was judged."""
        exchanges = self.tape.exchanges
        requests = [
            {"lane": item.lane, "key": item.key, "occurrence": item.occurrence, "request": item.request}
            for item in exchanges
        ]
        head = {"salvo_tape": VERSION}
        files = {
            "request.json": _written({**head, "ambiguous": self.tape.ambiguous, "requests": requests}),
            "response.json": _written({**head, "responses": [item.reply for item in exchanges]}),
            "run.json": _redacted(self.run, redactor),
            "result.json": _written(self.result),
        }
        if judged := [result for result in self.result.eval_results if result.type == "llm_judge"]:
            files["judge.json"] = _written([_votes(result) for result in judged])
        return files

    @classmethod
    def from_files(cls, files: Mapping[str, bytes], name: str) -> Recording:
        """The recording called `name`; TapeCorruptError says which of its files is missing or damaged."""
        sent, answered = _read(files, "request.json", name), _read(files, "response.json", name)
        requests, responses = sent.get("requests"), answered.get("responses")
        if not isinstance(requests, list) or not isinstance(responses, list) or len(requests) != len(responses):
            raise TapeCorruptError(f"The requests and responses of the recording {name} do not belong together.")
        exchanges = [{**request, "reply": reply} for request, reply in zip(requests, responses, strict=True)]
        return cls(
            run=_checked(_adapter(RunRecord), _read(files, "run.json", name), name),
            result=_checked(_adapter(AgentRunResult), _read(files, "result.json", name), name),
            tape=Tape.from_json(jsontext.dumps({**sent, "exchanges": exchanges}), f"The recording {name}"),
        )


def _votes(judged: EvalResult) -> dict[str, Any]:
    """For people: replay takes the votes from the tape."""
    return {"assertion": judged.name, "passed": judged.passed, "error": judged.error, **judged.details}


def _written(value: Any) -> bytes:
    return jsontext.dumps(value, indent=1) + b"\n"


def _redacted(value: Any, redactor: Redactor) -> bytes:
    return _written(redactor.json(jsontext.loads(jsontext.dumps(value))))


def _read(files: Mapping[str, bytes], file: str, name: str) -> Any:
    if file not in files:
        raise TapeCorruptError(f"The recording {name} has no {file}.", hint="Restore it, or record the run again.")
    try:
        return jsontext.loads(files[file])
    except ValueError as fault:
        raise TapeCorruptError(f"{file} of the recording {name} is damaged: {fault}.") from fault


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _checked(adapter: TypeAdapter[T], found: Any, name: str) -> T:
    try:
        return adapter.validate_python(found)
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise TapeCorruptError(f"The recording {name} is damaged at {where}: {first['msg']}.") from fault
