"""A process that uses a store while others do: `python -m tests.support.store_worker URL WHAT`.

It prints "ready", waits for a line, and does WHAT: "evaluations" stores three evaluations, "endless" saves votes on one
evaluation until the process is killed, and prints the number of each vote after saving it.
"""

import sys
from itertools import count

from salvo.engine.runtime.clock import SystemClock
from salvo.playbooks.enums import Mode
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.store.store import EvaluationStore
from tests.support.playbooks import a_playbook, a_report, a_vote, some_inputs, some_votes


def _evaluations(store: EvaluationStore, clock: SystemClock) -> None:
    for _ in range(3):
        name = _begin(store, clock)
        for vote in some_votes():
            store.save_votes(name, [vote])
        store.finish(name, a_report(report_id=name))
        store.set_baseline(name)


def _endless(store: EvaluationStore, clock: SystemClock) -> None:
    name = _begin(store, clock)
    _print(name)
    for run in count(1):
        _print(store.save_votes(name, [a_vote(run=run, raw="x" * 100_000)])[0])


def _begin(store: EvaluationStore, clock: SystemClock) -> str:
    name = clock.new_id()
    store.begin(EvaluationRequest(name, a_playbook(), some_inputs(), "rules", Mode.FULL, 3))
    return name


def _print(value: object) -> None:
    sys.stdout.write(f"{value}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _, url, what = sys.argv
    _print("ready")
    sys.stdin.readline()
    system_clock = SystemClock()
    with EvaluationStore.open(url, system_clock) as opened:
        {"evaluations": _evaluations, "endless": _endless}[what](opened, system_clock)
