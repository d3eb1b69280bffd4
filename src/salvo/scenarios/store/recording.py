"""What a run leaves for replay: request.json, what went in; response.json, what came of it; judge.json, the votes.

Self-contained: committed to version control, a recording can be replayed by anyone, without the run's other files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from salvo.engine.chat.base import ToolDefinition
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.engine.runtime.pricing import UnitPrices
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.tape import VERSION, Tape
from salvo.errors import TapeCorruptError
from salvo.scenarios.result import AgentRunResult, Batch, EvalResult
from salvo.scenarios.run.redaction import clean_calls, clean_tools
from salvo.scenarios.run.tools.toolbox import ToolRecord

HASHES_ONLY = "Only hashes were recorded, so it cannot be replayed."
PROGRAM_RUNS_AGAIN = (
    "A replay starts the program again, with its own tools and whatever else it reaches; "
    "only the answers of its models come from the recording."
)

REQUEST, RESPONSE, JUDGE = "request.json", "response.json", "judge.json"


@dataclass(slots=True)
class Recording:
    """The scenario, tool schemas and prices as they were, what was sent and answered, and the result."""

    batch: Batch
    endpoint: str | None
    tools: list[ToolDefinition]
    tape: Tape
    calls: list[ToolRecord]
    prices: dict[str, UnitPrices | None]
    result: AgentRunResult

    def without_content(self) -> Recording:
        """For those who must not keep what was said: the tape has hashes already, and the rest goes, too."""
        omitted: dict[str, Any] = {"tool_calls": [], "trace": [], "eval_results": []}
        omitted |= dict.fromkeys(("final_output", "final_text", "error"))
        result = self.result.model_copy(update=omitted)
        return replace(self, batch=replace(self.batch, scenario={}), tools=[], calls=[], result=result)

    def to_files(self, redactor: Redactor) -> dict[str, bytes]:
        """Every file by name. Batch, tape and result were redacted as they were made; tools and calls are here."""
        exchanges = self.tape.exchanges
        request = {
            "salvo_tape": VERSION,
            "batch": self.batch,
            "endpoint": self.endpoint,
            "tools": clean_tools(self.tools, redactor),
            "ambiguous": self.tape.ambiguous,
            "requests": [
                {"lane": item.lane, "key": item.key, "occurrence": item.occurrence, "request": item.request}
                for item in exchanges
            ],
        }
        response = {
            "salvo_tape": VERSION,
            "result": self.result,
            "prices": self.prices,
            "calls": clean_calls(self.calls, redactor),
            "responses": [item.reply for item in exchanges],
        }
        files = {REQUEST: _written(request), RESPONSE: _written(response)}
        if judged := [result for result in self.result.eval_results if result.type == "llm_judge"]:
            files[JUDGE] = _written([_votes(result) for result in judged])
        return files

    @classmethod
    def from_files(cls, files: Mapping[str, bytes], name: str) -> Recording:
        """The recording called `name`; TapeCorruptError says which of its files is missing or damaged."""
        sent, answered = _read(files, REQUEST, name), _read(files, RESPONSE, name)
        requests, responses = sent.get("requests"), answered.get("responses")
        if not isinstance(requests, list) or not isinstance(responses, list) or len(requests) != len(responses):
            raise TapeCorruptError(f"The requests and responses of the recording {name} do not belong together.")
        exchanges = [{**request, "reply": reply} for request, reply in zip(requests, responses, strict=True)]
        tape = {"salvo_tape": sent.get("salvo_tape"), "ambiguous": sent.get("ambiguous"), "exchanges": exchanges}
        rest = {part: value for part, value in {**sent, **answered}.items() if part in _PARTS}
        whole = Tape.from_json(json_codec.dumps(tape), f"The recording {name}")
        try:
            return type_adapter(Recording).validate_python({**rest, "tape": whole})
        except ValidationError as fault:
            where, what = first_error(fault)
            raise TapeCorruptError(f"The recording {name} is damaged at {where}: {what}.") from fault


_PARTS = frozenset({"batch", "endpoint", "tools", "calls", "prices", "result"})


def _votes(judged: EvalResult) -> dict[str, Any]:
    """For people: replay takes the votes from the tape."""
    return {"assertion": judged.name, "passed": judged.passed, "error": judged.error, **judged.details}


def _written(value: Any) -> bytes:
    return json_codec.dumps(value, indent=1) + b"\n"


def _again(content: bytes) -> Any:
    return json_codec.loads(content, max_depth=json_codec.MAX_DEPTH_STORED)


def _read(files: Mapping[str, bytes], file: str, name: str) -> dict[str, Any]:
    if file not in files:
        raise TapeCorruptError(f"The recording {name} has no {file}.", hint="Restore it, or record the run again.")
    try:
        found = _again(files[file])
    except ValueError as fault:
        raise TapeCorruptError(f"{file} of the recording {name} is damaged: {fault}.") from fault
    if not isinstance(found, dict):
        raise TapeCorruptError(f"{file} of the recording {name} is damaged: it is no object.")
    return found
