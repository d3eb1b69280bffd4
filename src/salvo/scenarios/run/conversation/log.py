"""The log of a conversation: its turns so far. It survives when the run ends by an error or its timeout."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from salvo.engine.chat.base import Usage
from salvo.engine.jsonio import json_codec
from salvo.scenarios.result import (
    AdapterResponse,
    ConversationTurn,
    RunMetrics,
    ToolCall,
    TraceEvent,
    TranscriptMessage,
)
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.run.stopwatch import Stopwatch
from salvo.scenarios.run.tools.toolbox import ToolBox


@dataclass(slots=True)
class ConversationLog:
    """Divides what a run does into turns: its tool calls, its trace, its time and its cost."""

    toolbox: ToolBox
    journal: Journal
    stopwatch: Stopwatch
    turns: list[ConversationTurn] = field(default_factory=list)
    messages: list[TranscriptMessage] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    events: list[TraceEvent] = field(default_factory=list)
    reported: set[str] = field(default_factory=set)
    """Which of `trace` and `tool_calls` the adapter returned itself in some turn."""
    reported_metrics: list[RunMetrics] = field(default_factory=list)
    _calls_before: int = 0
    _events_before: int = 0
    _seconds_before: float = 0.0

    def begin_turn(self, message: str, tries: int) -> None:
        self._add_late()
        self.messages.append({"role": "user", "content": message})
        turn = ConversationTurn(
            number=len(self.turns) + 1,
            user=message,
            first_call=len(self.calls),
            first_event=len(self.events),
            user_tries=tries,
        )
        self.turns.append(turn)
        self._calls_before = len(self.toolbox.calls)
        self._events_before = len(self.journal.events)
        self._seconds_before = self.stopwatch.seconds()
        self.journal.begin_part()

    def end_turn(self, response: AdapterResponse | None) -> None:
        """Add what the agent did in the turn; None if it did not come to an answer."""
        turn, journal = self.turns[-1], self.journal
        response = response or AdapterResponse(None)
        self.reported |= {name for name in ("trace", "tool_calls") if getattr(response, name)}
        calls = response.tool_calls or self.toolbox.calls[self._calls_before :]
        events = response.trace or journal.events[self._events_before :]
        self.calls += calls
        self.events += events
        turn.call_count, turn.event_count = len(calls), len(events)
        turn.agent, turn.stopped = _text(response.final_output), response.stopped
        usage, cost, model_calls, retries = journal.part()
        turn.metrics = RunMetrics(
            latency=self.stopwatch.seconds() - self._seconds_before,
            tokens=usage if model_calls else response.metrics.tokens,
            cost=cost if model_calls else response.metrics.cost,
            tool_count=len(calls),
            tool_errors=sum(call.error is not None for call in calls),
            model_calls=model_calls or response.metrics.model_calls,
            retries=retries or response.metrics.retries,
        )
        if response.metrics.model_fields_set:
            self.reported_metrics.append(response.metrics)
        if turn.agent is not None:
            self.messages.append({"role": "assistant", "content": turn.agent})

    def _add_late(self) -> None:
        """Add to the last turn what a program did after its answer, while the user was thinking."""
        if not self.turns:
            return
        turn = self.turns[-1]
        if not self.reported:
            calls = self.toolbox.calls[self._calls_before + turn.call_count :]
            events = self.journal.events[self._events_before + turn.event_count :]
            self.calls += calls
            self.events += events
            turn.call_count += len(calls)
            turn.event_count += len(events)

    def total_metrics(self) -> RunMetrics:
        """Return the sum of what the adapter reported per turn; without any, an empty one."""
        if not self.reported_metrics:
            return RunMetrics()
        reported = self.reported_metrics
        tokens = [metrics.tokens for metrics in reported if metrics.tokens is not None]
        costs = [metrics.cost for metrics in reported if metrics.cost is not None]
        return RunMetrics(
            latency=sum(metrics.latency for metrics in reported),
            # A sum without one of the turns would be too low.
            tokens=sum(tokens, start=Usage()) if len(tokens) == len(self.turns) else None,
            cost=math.fsum(costs) if len(costs) == len(self.turns) else None,
            tool_count=sum(metrics.tool_count for metrics in reported),
            tool_errors=sum(metrics.tool_errors for metrics in reported),
            model_calls=sum(metrics.model_calls for metrics in reported),
            retries=sum(metrics.retries for metrics in reported),
        )


def _text(output: object) -> str | None:
    if output is None or isinstance(output, str):
        return output
    return json_codec.dumps(output).decode()
