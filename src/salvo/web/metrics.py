"""What this server has done since it started, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from salvo import __version__

_HELP = {
    "salvo_evaluations_ended_total": "Evaluations that ended on this server, by their state.",
    "salvo_evaluations_taken_over_total": "Evaluations that this server queued again because their server was gone.",
    "salvo_evaluations_lost_total": "Evaluations that another server took over or cancelled while this one ran them.",
    "salvo_votes_stored_total": "Votes that this server stored.",
    "salvo_http_responses_total": "Responses of this server, by the class of their status.",
}


class Metrics:
    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def count(self, name: str, labels: str = "", number: int = 1) -> None:
        """Add to a counter of `_HELP`. `labels` are written as Prometheus does; they never come from a request."""
        self._counts[name, labels] += number

    def text(self, gauges: Mapping[str, tuple[str, int]]) -> str:
        """Return all metrics. `gauges` are a help text and a value by their names."""
        lines = ["# HELP salvo_info The version of Salvo.", "# TYPE salvo_info gauge"]
        lines.append(f'salvo_info{{version="{__version__}"}} 1')
        for name, description in _HELP.items():
            lines += [f"# HELP {name} {description}", f"# TYPE {name} counter"]
            counts = {labels: number for (counted, labels), number in self._counts.items() if counted == name}
            lines += [f"{name}{labels and f'{{{labels}}}'} {number}" for labels, number in sorted(counts.items())]
            if not counts and not name.startswith(("salvo_http", "salvo_evaluations_ended")):
                lines.append(f"{name} 0")
        for name, (description, value) in gauges.items():
            lines += [f"# HELP {name} {description}", f"# TYPE {name} gauge", f"{name} {value}"]
        return "\n".join([*lines, ""])
