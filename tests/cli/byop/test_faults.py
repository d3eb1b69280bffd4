"""What goes wrong on the way: nothing that was judged is lost, and --resume asks only for what is missing."""

import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tests.support.byop_project import (
    CLAUDE,
    GPT,
    ByopProject,
    ScriptedJudge,
    check,
    interrupt,
    requested_check,
    results,
    wait_until,
)
from tests.support.provider import Answer, Fault, LoopbackProvider, ProviderRequest

BOTH = pytest.mark.parametrize("evaluator", [CLAUDE, GPT])


class Failing:
    """A judge that answers so many questions, and then meets a fault until it is mended."""

    def __init__(self, answers: int, fault: Fault) -> None:
        self._left = answers
        self._fault = fault
        self._judge = ScriptedJudge(certainty_language="fail")

    def __call__(self, request: ProviderRequest) -> Answer:
        self._left -= 1
        return self._judge(request) if self._left >= 0 else self._fault

    def mend(self) -> None:
        self._left = 1000


@BOTH
@pytest.mark.parametrize("fault", [Fault.server_error(), Fault.overloaded(), Fault.cut(), Fault.hang_up()])
def test_a_provider_that_goes_down_in_mid_run_loses_nothing_that_was_judged(
    project: ByopProject, evaluator: str, fault: Fault
) -> None:
    judge = Failing(8, fault)
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        report = project.evaluate("--evaluator", evaluator, "-j", "1", exit_code=3)
        # What was judged failed, and that is said; two checks were not judged.
        assert (report["incomplete"], report["summary"]["overall_status"]) == (True, "ALERT")
        assert results(report)["certainty_language"] == "fail"
        assert check(report, "unchecked_areas_disclosure")["incomplete"] is True
        assert not check(report, "escalation_signal")["incomplete"], "two of three are a majority"
        assert sum(run["valid"] for each in report["check_results"] for run in each["raw_runs"]) == 8
        judge.mend()
        request = len(provider.requests)
        done = project.byop("run", "--resume", report["report_id"], "--json")
    again = json.loads(done.stdout)["byop_report"]
    assert (done.exit_code, again["incomplete"]) == (1, False)
    assert [requested_check(each) for each in provider.requests[request:]] == ["escalation_signal"] + [
        "unchecked_areas_disclosure"
    ] * 3
    assert f"({evaluator}): 4 questions" in done.stderr
    assert again["report_id"] != report["report_id"], "a report that was made stays as it was"
    assert again["spent"]["calls"] == 12
    assert project.byop("replay", again["report_id"]).exit_code == 0
    assert project.byop("replay", report["report_id"]).exit_code == 0


def test_an_incomplete_evaluation_in_which_nothing_failed_exits_3(project: ByopProject) -> None:
    judge = Failing(3, Fault.server_error())
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        shown = project.byop("run", "output.md", "-j", "1", "--save-baseline", "-o", "r.md")
    assert shown.exit_code == 3
    assert "is incomplete, so it was not saved as a baseline" in shown.stderr
    assert "INCOMPLETE" in (project.folder / "r.md").read_text()
    assert "INCOMPLETE" in project.byop("history").stdout
    assert project.byop("baseline", "list").exit_code == 5


def test_the_last_line_of_the_progress_counts_answers_that_could_be_read(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge(certainty_language=Fault.context_too_long())) as provider:
        project.reach(provider)
        shown = project.byop("run", "output.md", "--no-store")
    assert "\nAsked about 4 checks: 9 of 12 answers could be read\n" in shown.stderr


def test_a_provider_that_is_not_there_at_all(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
    shown = project.byop("run", "output.md")
    assert shown.exit_code == 3
    assert shown.stdout.startswith("INCOMPLETE")
    assert "REVIEW" not in shown.stdout
    assert re.search(r"run 1: no vote: .*could not be reached|refused", shown.stdout)


@BOTH
@pytest.mark.parametrize(
    "fault, said",
    [(Fault.unauthorized(), "key"), (Fault.quota(), "quota|credit|money|billing"), (Fault.unknown_model(), "model")],
)
def test_a_fault_that_no_wait_mends_is_met_once_and_ends_the_asking(
    project: ByopProject, evaluator: str, fault: Fault, said: str
) -> None:
    judge = Failing(2, fault)
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        report = project.evaluate("--evaluator", evaluator, "-j", "1", exit_code=3)
        assert (len(provider.requests), project.waited) == (3, [])
        problems = [run["problem"] for each in report["check_results"] for run in each["raw_runs"]]
        assert problems[:2] + problems[3:] == ["", ""] + ["This run was not made."] * 9
        assert re.search(said, problems[2], re.IGNORECASE)
        judge.mend()
        resumed = project.byop("run", "--resume", "latest")
    assert (resumed.exit_code, len(provider.requests)) == (1, 3 + 10)


def test_what_is_complete_is_not_resumed(project: ByopProject) -> None:
    project.evaluate()
    refused = project.byop("run", "--resume", "latest")
    assert refused.exit_code == 2
    assert "complete: there is nothing to resume" in refused.stderr
    unstored = project.byop("run", "--resume", "latest", "--no-store")
    assert (unstored.exit_code, "--no-store" in unstored.stderr) == (2, True)


def test_a_resumed_evaluation_stays_as_it_was_begun(project: ByopProject) -> None:
    refused = project.byop("run", "--resume", "latest", "--mode", "full", "--evaluator", "rules")
    assert refused.exit_code == 2
    assert "as it was started: omit --mode, --evaluator." in refused.stderr


class Slow:
    """A judge that answers so many questions and then leaves everyone waiting, until it is let go."""

    def __init__(self, answers: int) -> None:
        self._left = answers
        self._judge = ScriptedJudge()

    def __call__(self, request: ProviderRequest) -> Answer:
        self._left -= 1
        return self._judge(request) if self._left >= 0 else Fault.hang()

    def let_go(self) -> None:
        self._left = 1000


def _votes(project: ByopProject) -> int:
    return int(project.stored("SELECT count(*) FROM byop_votes")[0][0])


@pytest.mark.usefixtures("coverage_in_processes")
def test_ctrl_c_exits_130_and_resume_goes_on_but_not_while_the_other_still_runs(project: ByopProject) -> None:
    judge = Slow(5)
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        child = project.process("run", "output.md", "-j", "1", "-o", "r.json", "--json")
        wait_until(lambda: _votes(project) == 5)
        wait_until(lambda: len(provider.requests) == 6)
        refused = project.byop("run", "--resume", "latest")
        assert (refused.exit_code, "another process" in refused.stderr) == (2, True)
        assert len(provider.requests) == 6, "nothing was paid for twice"
        printed, said = interrupt(child)
        assert (child.returncode, printed) == (130, "")
        [resuming] = re.findall(r"Interrupted\. The votes are stored; continue with `byop (run --resume \w+)`\.", said)
        assert "Traceback" not in said
        assert not (project.folder / "r.json").exists()
        assert "interrupted" in project.byop("history").stdout
        judge.let_go()
        request = len(provider.requests)
        report = json.loads(project.byop(*resuming.split(), "--json").stdout)["byop_report"]
    assert len(provider.requests) - request == 7
    assert report["report_id"] == resuming.split()[-1], "it has no report yet, so it goes on as itself"
    assert (report["incomplete"], report["spent"]["calls"]) == (False, 12)
    assert project.byop("replay", report["report_id"]).exit_code == 0


def test_kill_9_loses_at_most_what_was_in_flight(project: ByopProject) -> None:
    judge = Slow(5)
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        child = project.process("run", "output.md", "-j", "1")
        wait_until(lambda: _votes(project) == 5)
        child.kill()
        child.communicate(timeout=30)
        judge.let_go()
        request = len(provider.requests)
        report = json.loads(project.byop("run", "--resume", "latest", "--json").stdout)["byop_report"]
    assert len(provider.requests) - request == 7
    assert (report["incomplete"], report["summary"]["overall_status"]) == (False, "STABLE")
    assert project.byop("verify", "latest").exit_code == 0


@pytest.mark.load
def test_a_second_process_writes_at_the_same_time(project: ByopProject) -> None:
    children = [project.process("run", "output.md", "--subject", f"series {number}") for number in range(2)]
    assert [child.wait(timeout=60) for child in children] == [1, 1]
    for child in children:
        child.communicate()
    assert len(json.loads(project.byop("history", "--json").stdout)) == 2
    assert project.byop("verify").exit_code == 0, "the chain holds"


def test_a_locked_database_is_said_before_anything_is_paid_for(
    project: ByopProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salvo.playbooks.store.database.TIMEOUT", 0.05)
    with LoopbackProvider(ScriptedJudge()) as provider, closing(sqlite3.connect(project.database)) as other:
        project.reach(provider)
        other.execute("BEGIN EXCLUSIVE")
        refused = project.byop("run", "output.md")
    assert (refused.exit_code, provider.requests) == (3, [])
    assert "locked" in refused.stderr or "in use" in refused.stderr


def test_a_read_only_database_is_said_before_anything_is_paid_for_and_can_be_read(project: ByopProject) -> None:
    report = project.evaluate()
    project.environ["DATABASE_URL"] = f"sqlite:///file:{project.database}?mode=ro&uri=true"
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        refused = project.byop("run", "output.md")
    assert (refused.exit_code, provider.requests) == (3, [])
    assert "read-only" in refused.stderr
    assert project.byop("show", report["report_id"]).exit_code == 0


def test_a_database_of_a_newer_version_is_said_before_anything_is_paid_for(project: ByopProject) -> None:
    project.alter("UPDATE byop_version SET version_num = '9999'")
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        refused = project.byop("run", "output.md")
    assert (refused.exit_code, provider.requests) == (3, [])
    assert "newer" in refused.stderr


def test_a_database_that_breaks_in_mid_run_keeps_no_report_from_being_shown_and_written(project: ByopProject) -> None:
    judge = ScriptedJudge()

    def breaking(request: ProviderRequest) -> Any:
        if len(provider.requests) == 6:
            project.alter("DROP TABLE byop_votes")
        return judge(request)

    with LoopbackProvider(breaking) as provider:
        project.reach(provider)
        shown = project.byop("run", "output.md", "-j", "1", "-o", "r.json", "-o", "r.html")
    assert (shown.exit_code, len(provider.requests)) == (3, 12)
    assert "STABLE" in shown.stdout
    assert "This could not be stored." in shown.stderr
    assert (project.folder / "r.json").is_file()
    assert (project.folder / "r.html").is_file()
    assert "Stored in" not in shown.stderr


def test_a_file_that_cannot_be_written_in_the_end_does_not_cost_what_was_judged(project: ByopProject) -> None:
    def judge(request: ProviderRequest) -> Answer:
        if len(provider.requests) == 1:
            (project.folder / "out").rmdir()
            (project.folder / "out").write_text("in the way")
        return ScriptedJudge()(request)

    (project.folder / "out").mkdir()
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        shown = project.byop("run", "output.md", "-o", "out/r.json", "-o", "r.md")
    assert shown.exit_code != 0
    assert "out/r.json" in shown.stderr
    assert "STABLE" in shown.stdout
    assert project.byop("show", "latest").exit_code == 0
