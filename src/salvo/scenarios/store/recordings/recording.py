"""The recording of a run, for replay: request.json has the inputs, response.json the outputs, judge.json the votes.

A recording is self-contained: it can be committed, and replayed by anyone without the run's other files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from salvo.engine.chat.base import ToolDefinition
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.engine.mcp.listing import ServerListing
from salvo.engine.runtime.pricing import UnitPrices
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.tape import VERSION, FormattedJsonContent, JsonContent, Tape
from salvo.errors import TapeCorruptError
from salvo.scenarios.result import AgentRunResult, Batch, EvalResult
from salvo.scenarios.run.redaction import CALL_FIELDS, TOOL_FIELDS, clean_items
from salvo.scenarios.run.tools.toolbox import ToolRecord
from salvo.scenarios.store.large_answers import (
    find_text,
    has_large_answer,
    text_at,
    without_answer,
    without_repeated_answer,
)
from salvo.scenarios.store.recordings.recording_files import JUDGE, REQUEST, RESPONSE


@dataclass(slots=True)
class Recording:
    """The scenario, tool schemas and prices at the time of the run, requests and responses, and the result."""

    batch: Batch
    endpoint: str | None
    tools: list[ToolDefinition]
    tape: Tape
    calls: list[ToolRecord]
    prices: dict[str, UnitPrices | None]
    result: AgentRunResult
    mcp_servers: dict[str, ServerListing] = field(default_factory=dict)
    """What each MCP server listed."""

    def without_content(self) -> Recording:
        """Return the recording without texts. Its tape has hashes already."""
        omitted: dict[str, Any] = {"tool_calls": [], "trace": [], "eval_results": []}
        omitted |= dict.fromkeys(("final_output", "final_text", "error"))
        result = self.result.model_copy(update=omitted)
        return replace(self, batch=replace(self.batch, scenario={}), tools=[], calls=[], result=result, mcp_servers={})

    def to_files(self, redactor: Redactor) -> dict[str, bytes]:
        """Return the content of each file. Tools and calls are redacted here; the rest is redacted already."""
        exchanges = self.tape.exchanges
        request = {
            "salvo_tape": VERSION,
            "batch": self.batch,
            "endpoint": self.endpoint,
            "tools": clean_items(self.tools, TOOL_FIELDS, redactor),
            **({"mcp_servers": redactor.json(json_codec.plain(self.mcp_servers))} if self.mcp_servers else {}),
            "matching": self.tape.matching,
            "ignored": self.tape.ignored,
            "ambiguous": self.tape.ambiguous,
            "requests": [
                {
                    "lane": item.lane,
                    "key": item.key,
                    "occurrence": item.occurrence,
                    "span": item.span,
                    "request": item.request,
                }
                for item in exchanges
            ],
        }
        answer = self._answer_path()
        response = {
            "salvo_tape": VERSION,
            "result": without_repeated_answer(self.result) if answer is None else without_answer(self.result),
            **({} if answer is None else {"answer": answer}),
            "prices": self.prices,
            "calls": clean_items(self.calls, CALL_FIELDS, redactor),
            "responses": [item.reply for item in exchanges],
        }
        files = {REQUEST: _dump(request), RESPONSE: _dump(response)}
        if judgements := [result for result in self.result.eval_results if result.type == "llm_judge"]:
            files[JUDGE] = _dump([_votes(result) for result in judgements])
        return files

    def _answer_path(self) -> list[str | int] | None:
        """Return where the recorded replies have the answer, if it is large; None if they do not."""
        text = self.result.final_text
        if text is None or not has_large_answer(self.result):
            return None
        for index, exchange in enumerate(self.tape.exchanges):
            body = getattr(exchange.reply, "body", None)
            if isinstance(body, JsonContent | FormattedJsonContent):
                path = find_text(body.json, text)
                if path is not None:
                    return [index, "body", "json", *path]
        return None

    @classmethod
    def from_files(cls, files: Mapping[str, bytes], name: str) -> Recording:
        """Return the recording `name`. TapeCorruptError says which of its files is missing or damaged."""
        inputs, outputs = _load(files, REQUEST, name), _load(files, RESPONSE, name)
        requests, responses = inputs.get("requests"), outputs.get("responses")
        if not isinstance(requests, list) or not isinstance(responses, list) or len(requests) != len(responses):
            raise TapeCorruptError(f"The requests and responses of the recording {name} do not belong together.")
        _insert_answer(outputs, responses, name)
        exchanges = [{**request, "reply": reply} for request, reply in zip(requests, responses, strict=True)]
        tape: dict[str, Any] = {
            name: inputs[name] for name in ("salvo_tape", "matching", "ignored", "ambiguous") if name in inputs
        }
        tape["exchanges"] = exchanges
        fields = {field: value for field, value in {**inputs, **outputs}.items() if field in _FIELDS}
        fields["tape"] = Tape.from_document(tape, f"The recording {name}")
        try:
            return type_adapter(Recording).validate_python(fields)
        except ValidationError as error:
            where, what = first_error(error)
            raise TapeCorruptError(f"The recording {name} is damaged at {where}: {what}.") from error


_FIELDS = frozenset({"batch", "endpoint", "tools", "calls", "prices", "result", "mcp_servers"})


def _insert_answer(outputs: dict[str, Any], responses: list[Any], name: str) -> None:
    """Insert the answer of the run into its result, if only a reply has it."""
    if "answer" not in outputs:
        return
    path, result = outputs["answer"], outputs.get("result")
    text = text_at(responses, path) if isinstance(path, list) else None
    if text is None or not isinstance(result, dict):
        raise TapeCorruptError(f"The recording {name} is damaged: its replies do not have the answer of the run.")
    result["final_text"] = text


def _votes(result: EvalResult) -> dict[str, Any]:
    """Return the votes for people to read. Replay takes them from the tape."""
    return {"assertion": result.name, "passed": result.passed, "error": result.error, **result.details}


def _dump(value: Any) -> bytes:
    return json_codec.dumps(value, indent=1) + b"\n"


def _load(files: Mapping[str, bytes], file: str, name: str) -> dict[str, Any]:
    if file not in files:
        raise TapeCorruptError(f"The recording {name} has no {file}.", hint="Restore it, or record the run again.")
    try:
        content = json_codec.loads(files[file], max_depth=json_codec.MAX_DEPTH_STORED)
    except ValueError as error:
        raise TapeCorruptError(f"{file} of the recording {name} is damaged: {error}.") from error
    if not isinstance(content, dict):
        raise TapeCorruptError(f"{file} of the recording {name} is damaged: it is not an object.")
    return content
