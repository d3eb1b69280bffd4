"""`byop audit`, on a real database."""

import json

from inline_snapshot import snapshot

from salvo.playbooks.store.store import EvaluationStore
from tests.support.playbooks import masked
from tests.support.stored_evaluations import NAMES, Byop


def test_the_audit_log_is_shown_whole_as_json_and_by_its_head(run: Byop, three: EvaluationStore) -> None:
    three.set_baseline(NAMES[0])
    three.record_export(NAMES[0], "html", b"")
    log = three.audit_log()
    assert masked(run("audit").stdout) == snapshot("""\
NUMBER  WHEN                  ACTION        REPORT            DETAILS             HASH
1       2026-11-15T12:00:00Z  created       01k9aaaaaaaaaaaa                      sha256:…
2       2026-11-15T12:00:00Z  evaluation    01k9aaaaaaaaaaaa  ALERT               sha256:…
3       2026-11-15T12:00:00Z  created       01k9bbbbbbbbbbbb                      sha256:…
4       2026-11-15T12:00:00Z  interrupted   01k9bbbbbbbbbbbb                      sha256:…
5       2026-11-15T12:00:00Z  created       01k9cccccccccccc                      sha256:…
6       2026-11-15T12:00:00Z  evaluation    01k9cccccccccccc  ALERT               sha256:…
7       2026-11-15T12:00:00Z  baseline_set  01k9aaaaaaaaaaaa  DPA \\x1b[31mreview  sha256:…
8       2026-11-15T12:00:00Z  export        01k9aaaaaaaaaaaa  html                sha256:…
""")
    assert run("audit", "--head").stdout == f"{log[-1].hash}\n"
    shown = json.loads(run("audit", "--json").stdout)
    assert [entry["hash"] for entry in shown] == [entry.hash for entry in log]
    assert shown[1]["raw_runs"][0]["check_id"] == "assumption_disclosure"


def test_an_empty_audit_log_says_so(run: Byop, store: EvaluationStore) -> None:
    assert run("audit").exit_code == 5
