"""`byop baseline`, on a real database."""

import json
import re

from inline_snapshot import snapshot

from salvo.playbooks.store.store import EvaluationStore
from tests.support.stored_evaluations import NAMES, Byop


def test_a_baseline_is_set_listed_and_cleared(run: Byop, three: EvaluationStore) -> None:
    assert run("baseline", "list").exit_code == 5
    assert run("baseline", "set", "01k9a").stdout == snapshot(
        "01k9aaaaaaaaaaaa is now the baseline of the subject “DPA \\x1b[31mreview”, for reports of the same playbook.\n"
    )
    assert re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "<time>", run("baseline", "list").stdout) == snapshot("""\
ID                SAVED                 EVALUATED             SUBJECT             PLAYBOOK          CONSISTENCY  STATUS
01k9aaaaaaaaaaaa  <time>  <time>  DPA \\x1b[31mreview  a_playbook 1.0.0  1.00         ALERT
""")
    [row] = json.loads(run("baseline", "list", "--json").stdout)
    assert row["evaluation_id"] == NAMES[0]
    assert run("baseline", "clear", "01k9a").stdout == snapshot("01k9aaaaaaaaaaaa is no longer a baseline.\n")
    cleared = run("baseline", "clear", "01k9a")
    assert (cleared.exit_code, cleared.stderr) == (
        2,
        snapshot("""\
Error: The report 01k9aaaaaaaaaaaa is not saved as a baseline.
`byop baseline list` shows those.
"""),
    )


def test_a_screening_is_refused_as_a_baseline(run: Byop, three: EvaluationStore) -> None:
    refused = run("baseline", "set", "latest")
    assert refused.exit_code == 2
    assert refused.stderr == snapshot("""\
Error: The report 01k9cccccccccccc is a screening: Non-auditable quick check (not comparable over time).
Run a full evaluation, and save that as the baseline.
""")
