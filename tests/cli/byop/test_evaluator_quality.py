"""`byop calibration`: evaluators against reviewers, from the stored reviews."""

import json

from inline_snapshot import snapshot

from salvo.playbooks.store.store import EvaluationStore
from tests.support.reviews import FAILED, PASSED, accept, override
from tests.support.stored_evaluations import Byop, finish_evaluation


def test_what_reviewers_decided_is_compared_with_the_evaluator(run: Byop, store: EvaluationStore) -> None:
    for number in range(1, 5):
        finish_evaluation(store, f"id-000{number}")
        store.reviews.add(f"id-000{number}", accept(check_id=PASSED))
    store.reviews.add("id-0001", override(blind=True))
    store.reviews.add("id-0002", accept("Bob"))
    shown = run("calibration", "--check", PASSED)
    assert shown.exit_code == 0
    assert shown.stdout == snapshot("""\
assumption_disclosure, a_playbook 1.0.0, anthropic/claude-sonnet-4-6
4 of 4 reports reviewed, 0 of them blind.
                     REPORTS  DRAWN  PASS  FAIL  UNCLEAR
texts judged passed  4        4      4     0     0
pass rate by the evaluator      100%
pass rate corrected by reviews  100%, 95% interval 100% to 100%, of 4 reports
agreement with people           100%, 95% interval 100% to 100%
Cohen's kappa                   not known
of what it passed, people pass  100%, 95% interval 100% to 100%
of what people pass, it passed  100%, 95% interval 100% to 100%
of what it failed, people fail  not known
of what people fail, it failed  not known
""")
    rows = json.loads(run("calibration", "--json").stdout)["checks"]
    assert [(row["check_id"], row["reviewed"]) for row in rows] == [(PASSED, 4), (FAILED, 2)]
    assert rows[1]["wrongly_failed"] == ["id-0001"]
    assert len(rows[1]["review_next"]) == 2
    blind = json.loads(run("calibration", "--blind", "--json").stdout)["checks"]
    assert [(row["check_id"], row["reviewed"]) for row in blind] == [(FAILED, 1)]


def test_nothing_was_reviewed(run: Byop, store: EvaluationStore) -> None:
    finish_evaluation(store)
    refused = run("calibration")
    assert refused.exit_code == 5
    assert "No matching check was reviewed" in refused.stderr
