"""A recording from someone else is data: the present files of the project decide what code runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.salvo.test_replay import MINE, own_adapter, record
from tests.support.project import UserProject

EVIL = "import pathlib\npathlib.Path({marker!r}).touch()\ndef main(*_): return 1\n"
EVIL_SCENARIO = MINE.replace("mine:Mine", "function:evil.main")


@pytest.fixture
def recorded(project: UserProject) -> UserProject:
    """A project with a recorded run of the user's own agent, and a harmful module outside of it."""
    project.write("scenarios/mine.yaml", MINE)
    own_adapter(project)
    assert project.salvo("run", "scenarios/mine.yaml", "--record").exit_code == 0
    return project


def marker(project: UserProject) -> Path:
    return project.folder.parent / f"{project.folder.name}-executed"


def plant(project: UserProject, name: str) -> None:
    """Write a module that leaves a mark when it is imported, and a scenario beside it that names it."""
    project.write(f"{name}/evil.py", EVIL.format(marker=str(marker(project))))
    project.write(f"{name}/tools.py", EVIL.format(marker=str(marker(project))))
    project.write(f"{name}/evil.yaml", EVIL_SCENARIO)


def recording(project: UserProject) -> Path:
    [folder] = (project.store / "recordings").iterdir()
    return folder


def change(project: UserProject, edit: Callable[[dict[str, Any]], object]) -> None:
    file = recording(project) / "request.json"
    document = json.loads(file.read_text())
    edit(document["batch"])
    file.write_text(json.dumps(document))


def set_source(project: UserProject, source: str, adapter: str = "function:evil.main") -> None:
    change(project, lambda batch: (batch.update(source=source), batch["scenario"].update(adapter=adapter)))


def assert_refused(project: UserProject, result: Result, says: str = "nothing was started") -> None:
    assert result.exit_code == 3, result.output
    assert says in result.stderr
    assert not marker(project).exists(), "code was executed"


def test_another_adapter_than_the_present_file_names_is_not_imported(recorded: UserProject) -> None:
    recorded.write("deploy.py", EVIL.format(marker=str(marker(recorded))))
    change(recorded, lambda batch: batch["scenario"].update(adapter="function:deploy.main"))
    refused = recorded.salvo("replay")
    assert_refused(recorded, refused, "The recording names the adapter function:deploy.main")
    assert "name it: --adapter function:deploy.main" in refused.stderr


def test_an_adapter_that_the_recorded_command_claims_to_have_named_is_not_imported(recorded: UserProject) -> None:
    recorded.write("deploy.py", EVIL.format(marker=str(marker(recorded))))

    def edit(batch: dict[str, Any]) -> None:
        batch["scenario"]["adapter"] = "function:deploy.main"
        batch["settings"]["overrides"] = {"adapter": "function:deploy.main"}

    change(recorded, edit)
    assert_refused(recorded, recorded.salvo("replay"))


def test_other_options_than_the_present_file_has_are_not_passed_to_its_code(recorded: UserProject) -> None:
    change(recorded, lambda batch: batch["scenario"].update(adapter_options={"shell": "rm"}))
    assert_refused(recorded, recorded.salvo("replay"), "other adapter_options")


@pytest.mark.parametrize("folder", [".salvo/planted", "node_modules/package", ".hidden", "environment/lib"])
def test_a_source_where_no_scenarios_are_looked_for_is_refused(recorded: UserProject, folder: str) -> None:
    plant(recorded, folder)
    if folder.startswith("environment"):
        recorded.write("environment/pyvenv.cfg", "")
    set_source(recorded, f"{folder}/evil.yaml")
    assert_refused(recorded, recorded.salvo("replay"), "is in a folder in which no scenarios are looked for")
    assert recorded.salvo("replay", "--re-eval").exit_code == 0, "the recorded assertions need no code"
    assert not marker(recorded).exists()


@pytest.mark.parametrize("kind", ["absolute", "upward", "inside but upward", "linked folder", "linked file"])
def test_a_source_outside_the_project_is_refused(recorded: UserProject, kind: str, tmp_path: Path) -> None:
    outside = UserProject(tmp_path.parent / f"{tmp_path.name}-outside", recorded.monkeypatch)
    plant(outside, "planted")
    marker(outside).unlink(missing_ok=True)
    target = outside.folder / "planted" / "evil.yaml"
    source = {
        "absolute": str(target),
        "upward": f"../{outside.folder.name}/planted/evil.yaml",
        "inside but upward": "scenarios/../scenarios/mine.yaml",
        "linked folder": "linked/evil.yaml",
        "linked file": "scenarios/linked.yaml",
    }[kind]
    (recorded.folder / "linked").symlink_to(target.parent)
    (recorded.folder / "scenarios" / "linked.yaml").symlink_to(target)
    set_source(recorded, source)
    assert_refused(outside, recorded.salvo("replay"), f"{source} is not inside the project.")
    again = recorded.salvo("replay", "--re-eval")
    assert again.exit_code == 0, again.output
    assert f"Note: {source} is not inside the project." in again.stdout
    assert not marker(outside).exists()


@pytest.mark.parametrize("source", ["", "scenarios", "gone.yaml", "a\0b.yaml", "x" * 5000, "loop/x.yaml"])
def test_a_source_that_is_no_file_is_refused(recorded: UserProject, source: str) -> None:
    (recorded.folder / "loop").symlink_to("loop")
    set_source(recorded, source, "mine:Mine")
    assert_refused(recorded, recorded.salvo("replay"), "in the project. The recording alone does not decide")


def test_a_module_of_the_project_is_not_run_as_a_scenario_written_in_python(recorded: UserProject) -> None:
    recorded.write("deploy.py", EVIL.format(marker=str(marker(recorded))))
    set_source(recorded, "deploy.py", "function:deploy.main")
    assert_refused(recorded, recorded.salvo("replay"))
    change(recorded, lambda batch: batch["scenario"].update(adapter="command"))
    change(recorded, lambda batch: batch["scenario"].update(adapter_options={"command": ["touch", "started"]}))
    for arguments in ((), ("--adapter", "command")):
        assert_refused(recorded, recorded.salvo("replay", *arguments))
    assert not (recorded.folder / "started").exists()


def test_files_that_salvo_does_not_write_make_a_recording_unusable(recorded: UserProject) -> None:
    plant(recorded, f".salvo/recordings/{recording(recorded).name}")
    for arguments in (("replay",), ("replay", "--re-eval")):
        refused = recorded.salvo(*arguments)
        assert_refused(recorded, refused, "has files that Salvo does not write: evil.py, evil.yaml, tools.py.")


def test_a_recorded_assertion_does_not_name_python_code(recorded: UserProject) -> None:
    recorded.write("checks.py", EVIL.format(marker=str(marker(recorded))))
    (recorded.folder / "scenarios" / "mine.yaml").unlink()
    custom = {"type": "custom", "name": "mine", "function": "checks.main"}
    change(recorded, lambda batch: batch["scenario"]["assertions"].append(custom))
    refused = recorded.salvo("replay", "--re-eval")
    assert_refused(recorded, refused, "There is no scenarios/mine.yaml in the project.")
    assert "Python code judges mine." in refused.stderr
    recorded.write("mine_again.yaml", MINE)
    assert recorded.salvo("replay", "--scenario", "mine_again.yaml").exit_code == 0
    assert recorded.salvo("replay", "--re-eval", "--source", "mine_again.yaml").exit_code == 0


@pytest.mark.parametrize("overrides", [{"runs": "many"}, [], {"threshold": {}}])
def test_settings_of_a_recording_that_are_not_valid_are_a_clear_error(recorded: UserProject, overrides: object) -> None:
    change(recorded, lambda batch: batch["settings"].update(overrides=overrides))
    failed = recorded.salvo("replay", "--re-eval")
    assert (failed.exit_code, "are not valid at overrides" in failed.stderr) == (2, True), failed.output


def test_a_moved_scenario_file_is_named_by_the_user(recorded: UserProject) -> None:
    (recorded.folder / "scenarios" / "mine.yaml").rename(recorded.folder / "moved.yaml")
    assert_refused(recorded, recorded.salvo("replay"), "say where it is: --source FILE")
    replayed = recorded.salvo("replay", "--source", "moved.yaml")
    assert replayed.exit_code == 0, replayed.output
    assert "There is no file gone.yaml." in recorded.salvo("replay", "--source", "gone.yaml").stderr


def test_an_agent_that_the_command_named_is_named_again_by_the_user(project: UserProject) -> None:
    project.write("scenarios/mine.yaml", MINE.replace("mine:Mine", "openai\nmodel: gpt-5.4-mini"))
    own_adapter(project)
    assert project.salvo("run", "scenarios/mine.yaml", "--record", "--adapter", "mine:Mine").exit_code == 0
    assert_refused(project, project.salvo("replay"), "name it: --adapter mine:Mine")
    assert project.salvo("replay", "--adapter", "mine:Mine").exit_code == 0
    for arguments in (("--re-eval", "--adapter", "mine:Mine"), ("--scenario", "x", "--source", "y")):
        assert project.salvo("replay", *arguments).exit_code == 2


def test_a_run_of_a_provider_s_model_is_replayed_from_the_recording_alone(project: UserProject) -> None:
    record(project)
    (project.folder / "scenarios" / "book_flight.yaml").unlink()
    (project.folder / "tools.py").unlink()
    assert project.salvo("replay").exit_code == 0
    again = project.salvo("replay", "--re-eval")
    assert again.exit_code == 0, again.output
    assert "Note: There is no scenarios/book_flight.yaml in the project." in again.stdout


class TestResume:
    """A recording is all that a clone has of a batch, and it can claim that runs are missing."""

    @pytest.fixture
    def unfinished(self, recorded: UserProject) -> UserProject:
        for file in (*recorded.runs(), *(recorded.store / "batches").glob("*.json")):
            file.unlink()
        change(recorded, lambda batch: batch.update(runs=2))
        return recorded

    def test_a_batch_outside_the_project_or_in_the_store_is_not_resumed(self, unfinished: UserProject) -> None:
        plant(unfinished, ".salvo/planted")
        for source in (".salvo/planted/evil.yaml", str(unfinished.folder / ".salvo/planted/evil.yaml"), "../evil.yaml"):
            set_source(unfinished, source)
            refused = unfinished.salvo("run", "--resume", "latest")
            assert (refused.exit_code, "cannot be resumed" in refused.stderr) == (2, True), refused.output
        assert not marker(unfinished).exists()

    def test_the_command_that_is_offered_has_no_other_in_it(self, unfinished: UserProject) -> None:
        """Somebody may paste it into a shell."""
        adapter = "function:deploy.main; touch pasted"
        change(unfinished, lambda batch: batch["settings"].update(overrides={"adapter": adapter, "runs": 2}))
        refused = unfinished.salvo("run", "--resume", "latest")
        assert refused.exit_code == 2
        assert refused.stderr.rstrip().endswith(" --adapter 'function:deploy.main; touch pasted'")

    def test_an_adapter_of_the_stored_command_is_named_again(self, unfinished: UserProject) -> None:
        unfinished.write("deploy.py", EVIL.format(marker=str(marker(unfinished))))

        def edit(batch: dict[str, Any]) -> None:
            batch["scenario"]["adapter"] = "function:deploy.main"
            batch["settings"]["overrides"] = {"adapter": "function:deploy.main", "runs": 2}
            batch["scenario"]["runs"] = 2

        change(unfinished, edit)
        refused = unfinished.salvo("run", "--resume", "latest")
        assert refused.exit_code == 2
        assert "name it again: salvo run --resume" in refused.stderr
        assert not marker(unfinished).exists()
        other = unfinished.salvo("run", "--resume", "latest", "--adapter", "mine:Mine")
        assert (other.exit_code, "was not started with --adapter mine:Mine" in other.stderr) == (2, True)
        unfinished.salvo("run", "--resume", "latest", "--adapter", "function:deploy.main")
        assert marker(unfinished).exists(), "the user named it"
