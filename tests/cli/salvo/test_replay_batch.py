"""`salvo replay BATCH` and `salvo replay --failed`: many runs, a summary, and one exit code for CI."""

import json
import shutil

import pytest

from tests.cli.salvo.test_replay import record
from tests.cli.salvo.test_run import BOOK, CONFIRM, GOOD, SEARCH
from tests.support.project import BOOK_FLIGHT, UserProject
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say, by_turn

BAD = by_turn(SEARCH, BOOK, CONFIRM, Say("I forgot the number."))
STRICT = BOOK_FLIGHT.replace("threshold: 0.8", "threshold: 1.0")


def every_third_fails() -> object:
    conversations: list[str] = []

    def answer(request: ProviderRequest) -> Answer:
        if request.turn == 0:
            conversations.append("")
        return (BAD if len(conversations) % 3 == 0 else GOOD)(request)

    return answer


@pytest.fixture
def batch_id(project: UserProject) -> str:
    """Six recorded runs, of which two failed."""
    project.write("scenarios/book_flight.yaml", STRICT)
    record(project, every_third_fails(), "-n", "6", "-j", "1")
    [file] = (project.store / "batches").glob("*.json")
    return file.stem


def test_a_batch_is_replayed_with_one_summary_and_one_exit_code(project: UserProject, batch_id: str) -> None:
    replayed = project.salvo("replay", batch_id)
    assert (replayed.exit_code, replayed.stdout) == (0, "6 runs: 6 identical\n")
    assert project.salvo("replay", batch_id[:-2]).stdout == replayed.stdout, "a prefix is enough"


def test_the_failed_runs_of_a_batch_or_of_the_newest_command_are_replayed(project: UserProject, batch_id: str) -> None:
    for arguments in ([], [batch_id], ["latest"]):
        replayed = project.salvo("replay", "--failed", *arguments)
        assert (replayed.exit_code, replayed.stdout) == (0, "2 runs: 2 identical\n")


def test_the_newest_command_has_the_failures_of_all_its_scenarios(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", STRICT)
    project.write("scenarios/other.yaml", STRICT.replace("scenario: book_flight", "scenario: other"))
    record(project, BAD, "-n", "2")
    assert project.salvo("replay", "--failed").stdout == "4 runs: 4 identical\n"


def test_what_diverges_is_listed_and_decides_the_exit_code(project: UserProject, batch_id: str) -> None:
    damaged = project.store / "recordings" / f"{batch_id}-0001" / "response.json"
    damaged.write_text("{")
    shutil.rmtree(project.store / "recordings" / f"{batch_id}-0002")
    file = project.store / "recordings" / f"{batch_id}-0004" / "response.json"
    document = json.loads(file.read_text())
    document["result"]["final_text"] = "another"
    file.write_text(json.dumps(document))
    replayed = project.salvo("replay", batch_id)
    assert replayed.exit_code == 1
    lines = replayed.stdout.splitlines()
    assert lines[0].startswith(f"{batch_id}-0001  could not be replayed  response.json of the recording")
    assert lines[1] == f"{batch_id}-0002  not recorded"
    assert lines[2].startswith(f'{batch_id}-0004  diverged  final_text: recorded "another", now ')
    assert lines[3:] == ["6 runs: 3 identical, 1 diverged, 1 not recorded, 1 could not be replayed"]
    as_json = project.salvo("replay", batch_id, "--json")
    assert as_json.exit_code == 1
    summary = json.loads(as_json.stdout)
    assert (summary["runs"], summary["identical"], summary["diverged"]) == (6, 3, 1)
    assert summary["replays"][3]["differences"][0]["path"] == "final_text"


def test_a_run_that_cannot_be_replayed_is_not_called_identical(project: UserProject, batch_id: str) -> None:
    shutil.rmtree(project.store / "recordings" / f"{batch_id}-0002")
    assert project.salvo("replay", batch_id).exit_code == 3


def test_a_batch_without_recordings_says_how_to_record(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", STRICT)
    with LoopbackProvider(BAD) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "2")
    failed = project.salvo("replay", "--failed")
    assert failed.exit_code == 2
    assert "salvo run --record" in failed.stderr


def test_where_no_run_failed_there_is_nothing_to_replay(project: UserProject) -> None:
    record(project)
    replayed = project.salvo("replay", "--failed")
    assert (replayed.exit_code, replayed.stdout) == (0, "No run failed.\n")


def test_a_clone_with_recordings_alone_replays_its_failures(project: UserProject, batch_id: str) -> None:
    for name in ("runs", "batches"):
        shutil.rmtree(project.store / name)
    (project.store / "history.jsonl").unlink()
    assert project.salvo("replay", "--failed").stdout == "2 runs: 2 identical\n"
    assert project.salvo("replay", batch_id).stdout == "6 runs: 6 identical\n"


def test_failed_runs_are_not_evaluated_again_by_the_same_command(project: UserProject, batch_id: str) -> None:
    refused = project.salvo("replay", "--failed", "--re-eval")
    assert refused.exit_code == 2
    assert "omit --re-eval" in refused.stderr


def test_after_many_failures_the_command_for_all_of_them_is_named(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", STRICT)
    with LoopbackProvider(BAD) as provider:
        project.reach(provider)
        ran = project.salvo("run", "--record", "-n", "5")
    assert "\nAll of them: salvo replay --failed " in ran.stdout
    assert "latest" not in ran.stdout
