"""The steps of a run as a person follows them, each with the assertions about it. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.visitor import TreeInterpreter
from pydantic import BaseModel, ValidationError

from salvo.engine.jsonio.canonical import stable_text
from salvo.records import record
from salvo.scenarios.evaluators.builtin.jmespath import root_names
from salvo.scenarios.evaluators.builtin.must_not_call import MustNotCallFields, first_forbidden
from salvo.scenarios.evaluators.builtin.tool_sequence import ToolSequenceFields, first_mismatch
from salvo.scenarios.result import AgentRunResult, Cause, ConversationTurn, EvalResult, ToolCall, TraceEvent

Fields = TypeVar("Fields", bound=BaseModel)
StepKind = Literal["system", "message", "model", "tool", "event", "answer", "end"]


@record
class TrajectoryStep:
    number: int
    """From 1."""
    kind: StepKind
    title: str
    """The name of a tool, or the type of another event of the trace."""
    text: str | None = None
    """What was said."""
    arguments: Any = None
    result: Any = None
    """The result of a tool; at the end, the final output; for another event, its data."""
    error: str | None = None
    took: float | None = None
    """Seconds. Not known for the tools of a program: they are only seen in its traffic."""
    tokens: int | None = None
    call: int | None = None
    """The index of the tool call in the run, from 0."""
    turn: int | None = None
    """The turn of a conversation, from 1."""
    assertions: list[int] = field(default_factory=list)
    """The indexes of the eval_results about this step, from 0."""
    cut: dict[str, int] = field(default_factory=dict)
    """Fields that are truncated here, each with its full length in characters, as JSON if it is not a text."""


@record
class Trajectory:
    steps: list[TrajectoryStep]
    overall: list[int]
    """The indexes of the eval_results about the whole run, or about no known step."""


class AssertionTarget(NamedTuple):
    """What an assertion is about: a tool call, an event of the trace, the answer in a turn, or the end."""

    kind: Literal["tool_calls", "trace", "turn", "end"]
    number: int = 0
    """From 0."""


END = AssertionTarget("end")
_OUTPUT = frozenset({"final_output", "final_text"})
_ABOUT_THE_END = frozenset({"llm_judge", "playbook", "custom"})
_WITH_PATH: Mapping[str, str | None] = {"jmespath": None, "json_schema": "final_output", "similarity": "final_text"}
"""The types of assertions about the value at a path, and the path where none is given."""


_StepAndTarget: TypeAlias = tuple[TrajectoryStep, AssertionTarget | None]
"""A step without its number, and the target of the assertions about it."""


def trajectory(result: AgentRunResult, scenario: Mapping[str, Any] | None = None) -> Trajectory:
    """Return the steps of a run. `scenario` is the resolved one of its batch: it has the prompts and the assertions."""
    scenario = scenario or {}
    events = list(_conversation(result) if result.turns else _events(result))
    steps = [*_inputs(scenario), *events, (_end(result), END)]
    step_indexes: dict[AssertionTarget | None, int]
    step_indexes = {target: index for index, (_, target) in enumerate(steps) if target is not None}
    assertions: dict[int | None, list[int]] = {}
    for index, target in enumerate(_targets(result, scenario)):
        assertions.setdefault(step_indexes.get(target), []).append(index)
    numbered = [
        replace(step, number=index + 1, assertions=assertions.get(index, [])) for index, (step, _) in enumerate(steps)
    ]
    return Trajectory(numbered, assertions.get(None, []))


def _inputs(scenario: Mapping[str, Any]) -> Iterator[_StepAndTarget]:
    inputs: tuple[tuple[StepKind, str, str], ...] = (
        ("system", "System prompt", "system_prompt"),
        ("message", "User message", "user_message"),
    )
    for kind, title, name in inputs:
        text = scenario.get(name)
        if isinstance(text, str) and text:
            yield TrajectoryStep(0, kind, title, text=text), None


def _conversation(result: AgentRunResult) -> Iterator[_StepAndTarget]:
    """Yield each turn: what the user said, what the agent did, and what it answered."""
    for turn in result.turns:
        yield TrajectoryStep(0, "message", "User message", text=turn.user, turn=turn.number), None
        for step, target in _events(result, turn):
            yield replace(step, turn=turn.number), target
        answer = TrajectoryStep(0, "answer", "Answer", text=turn.agent, took=turn.metrics.latency or None)
        yield replace(answer, turn=turn.number), AssertionTarget("turn", turn.number)


def _events(result: AgentRunResult, turn: ConversationTurn | None = None) -> Iterator[_StepAndTarget]:
    """Yield the trace with the tool calls in it, of the run or of one turn.

    Calls that the trace does not contain keep their order.
    """
    trace, calls = (result.trace, result.tool_calls) if turn is None else (turn.trace, turn.tool_calls)
    first_event, first_call = (0, 0) if turn is None else (turn.first_event, turn.first_call)
    calls_in_trace = _match_calls(trace, calls)
    others = deque(index for index in range(len(calls)) if index not in calls_in_trace.values())
    for number, event in enumerate(trace):
        index = calls_in_trace.get(number)
        if index is None:
            yield _event(event), AssertionTarget("trace", first_event + number)
            continue
        while others and others[0] < index:
            yield _call(result.tool_calls, first_call + others.popleft())
        yield _call(result.tool_calls, first_call + index)
    for index in others:
        yield _call(result.tool_calls, first_call + index)


def _match_calls(trace: Sequence[TraceEvent], calls: Sequence[ToolCall]) -> dict[int, int]:
    """Return the call of each event that has one, matched by name and arguments."""
    unmatched: dict[str, deque[int]] = {}
    for index, call in enumerate(calls):
        unmatched.setdefault(stable_text([call.name, call.arguments]), deque()).append(index)
    matches = {}
    for number, event in enumerate(trace):
        if event.type == "tool":
            candidates = unmatched.get(stable_text([event.data.get("name"), event.data.get("arguments")]))
            if candidates:
                matches[number] = candidates.popleft()
    return matches


def _call(calls: Sequence[ToolCall], index: int) -> _StepAndTarget:
    return replace(_tool_step(calls[index]), call=index), AssertionTarget("tool_calls", index)


def _tool_step(call: ToolCall) -> TrajectoryStep:
    return TrajectoryStep(
        0,
        "tool",
        call.name,
        arguments=call.arguments,
        result=call.result,
        error=call.error,
        took=call.seconds or None,
    )


def _event(event: TraceEvent) -> TrajectoryStep:
    data, took = event.data, event.seconds or None
    if event.type == "model" and isinstance(data.get("text"), str):
        tools, tokens = data.get("tools"), data.get("tokens")
        names = [name for name in tools if isinstance(name, str)] if isinstance(tools, list) else []
        title = f"The model asks for {', '.join(names)}" if names else "The model answers"
        tokens = tokens if isinstance(tokens, int) else None
        return TrajectoryStep(0, "model", title, text=data["text"], took=took, tokens=tokens)
    if event.type == "tool" and isinstance(data.get("name"), str):
        error = data["error"] if isinstance(data.get("error"), str) else None
        return _tool_step(ToolCall(data["name"], data.get("arguments"), data.get("result"), error, event.seconds))
    return TrajectoryStep(0, "event", event.type, result=data or None, took=took)


_ENDS = {
    Cause.TURN_LIMIT: "The turn limit is reached",
    Cause.TIMEOUT: "The time is over",
    Cause.CONTEXT: "The model's context is full",
    Cause.REFUSAL: "The model refuses",
    Cause.LENGTH: "The answer is cut off by the limit on tokens",
    Cause.EXIT: "The program ends with an error",
    Cause.PROVIDER: "The provider fails",
    Cause.ADAPTER: "The agent's code fails",
    Cause.MCP: "An MCP server fails",
    Cause.SIMULATOR: "The user fails",
}


def _end(result: AgentRunResult) -> TrajectoryStep:
    title = _ENDS.get(result.cause, "Final output") if result.cause else "Final output"
    return TrajectoryStep(0, "end", title, result=result.final_output, error=result.error)


def _targets(result: AgentRunResult, scenario: Mapping[str, Any]) -> Iterator[AssertionTarget | None]:
    definitions = _definitions(scenario)
    # They have the same order as the results. If they are not those that were judged, their targets are not known.
    same_types = (
        isinstance(definitions, list)
        and all(isinstance(definition, Mapping) for definition in definitions)
        and [definition.get("type") for definition in definitions] == [item.type for item in result.eval_results]
    )
    for index, eval_result in enumerate(result.eval_results):
        definition = definitions[index] if same_types and isinstance(definitions, list) else None
        yield _target(eval_result, definition, result)


def _definitions(scenario: Mapping[str, Any]) -> Any:
    """Return the assertions in the order of evaluation: those inside turns first."""
    stored = scenario.get("turns")
    turns = stored if isinstance(stored, list) else []
    lists = [turn.get("assertions", []) for turn in turns if isinstance(turn, Mapping)]
    lists.append(scenario.get("assertions"))
    if not all(isinstance(item, list) for item in lists):
        return None
    return [definition for item in lists for definition in item]


def _target(
    eval_result: EvalResult, definition: Mapping[str, Any] | None, result: AgentRunResult
) -> AssertionTarget | None:
    """Return the target of an assertion, or None for the whole run. It is never guessed."""
    if eval_result.turn is not None:
        return AssertionTarget("turn", eval_result.turn)
    if eval_result.type in _ABOUT_THE_END:
        return END
    if eval_result.type == "tool_sequence":
        return _sequence_target(eval_result, definition, result)
    if eval_result.type == "must_not_call" and definition is not None:
        return _forbidden_target(definition, result)
    if eval_result.type in _WITH_PATH and definition is not None:
        path = definition.get("path", _WITH_PATH[eval_result.type])
        return _path_target(path, result) if isinstance(path, str) else None
    return None


def _forbidden_target(definition: Mapping[str, Any], result: AgentRunResult) -> AssertionTarget:
    """Return the first call that must not be there, or the end if there is none."""
    try:
        forbidden = first_forbidden(_typed(MustNotCallFields, definition), result.tool_calls)
    except ValidationError:
        return END
    return END if forbidden is None else AssertionTarget("tool_calls", forbidden[0])


def _sequence_target(
    eval_result: EvalResult, definition: Mapping[str, Any] | None, result: AgentRunResult
) -> AssertionTarget | None:
    """Return the first call that differs from the expected ones, or the end if a call is missing or none differs."""
    if eval_result.passed:
        return END
    if definition is None:
        return None
    try:
        mismatch = first_mismatch(_typed(ToolSequenceFields, definition), result.tool_calls)
    except ValidationError:
        return None
    if mismatch is None or mismatch.call_index is None:
        return END
    return AssertionTarget("tool_calls", mismatch.call_index)


def _typed(model: type[Fields], definition: Mapping[str, Any]) -> Fields:
    return model.model_validate({name: value for name, value in definition.items() if name in model.model_fields})


def _path_target(path: str, result: AgentRunResult) -> AssertionTarget | None:
    try:
        tree = jmespath.compile(path).parsed
        roots = set(root_names(tree))
        if roots and roots <= _OUTPUT:
            return END
        if roots == {"tool_calls"} and (index := _item_index(result.tool_calls, tree)) is not None:
            return AssertionTarget("tool_calls", index)
        if roots == {"trace"} and (index := _item_index(result.trace, tree)) is not None:
            return AssertionTarget("trace", index)
    except (JMESPathError, ValueError, RecursionError):
        pass  # a stored path may be anything
    return None


def _item_index(items: Sequence[ToolCall | TraceEvent], tree: Mapping[str, Any]) -> int | None:
    """Return the item that a path selects: by its index, or by a filter that matches exactly one item."""
    while tree["type"] in ("subexpression", "pipe", "projection") and tree["children"]:
        tree = tree["children"][0]
    if not tree["children"] or tree["children"][0]["type"] != "field":
        return None
    if tree["type"] == "index_expression" and tree["children"][1]["type"] == "index":
        index = int(tree["children"][1]["value"])
        index += len(items) if index < 0 else 0
        return index if 0 <= index < len(items) else None
    if tree["type"] == "filter_projection":
        matches = [index for index, item in enumerate(items) if _matches(item, tree["children"][2])]
        return matches[0] if len(matches) == 1 else None
    return None


def _matches(item: ToolCall | TraceEvent, condition: Any) -> bool:
    identity = {"type": "identity", "children": []}
    projection: Any = {"type": "filter_projection", "children": [identity, identity, condition]}
    values = {attribute.name: getattr(item, attribute.name) for attribute in fields(item)}
    return bool(TreeInterpreter().visit(projection, [values]))
