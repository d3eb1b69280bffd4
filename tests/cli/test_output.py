"""Foreign text on the terminal: what each command prints of it, and that it cannot steer the terminal."""

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from salvo.cli.byop import COMMANDS as BYOP
from salvo.cli.byop import byop
from salvo.cli.salvo import COMMANDS as SALVO
from salvo.cli.salvo import salvo
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.playbooks import a_playbook
from tests.support.project import UserProject
from tests.support.provider import Answer, Fault, LoopbackProvider, ProviderRequest, Say, Use, UseTools
from tests.support.stored_evaluations import NAMES, finish_evaluation
from tests.support.web import CARELESS, server_process

HOSTILE = "\x1b]0;title\x07\x1b[2J\x1b[8m\x9b31m\u202e\x7f"
FORGED = "Identical: everything was verified."
"""What a name with a line break would put on a line of its own."""
TWO_LINES = f"{HOSTILE}\n{FORGED}"
QUOTED = HOSTILE.encode("unicode_escape").decode()
OUR_STYLES = re.compile(r"\x1b\[(?:0|1|2|31|32|33|34)m")

SCENARIO = f"""
scenario: greet
adapter: openai
model: gpt-5.4-mini
user_message: Greet the customer.
tools: [look_up]
assertions:
  - {{type: jmespath, name: "{QUOTED}", path: final_text, operator: eq, value: "{QUOTED}?"}}
  - {{type: llm_judge, name: "polite {QUOTED}", rubric: "Polite {QUOTED}", k: 1}}
"""
TOOLS = f'''
def look_up() -> str:
    """Looks up."""
    return {HOSTILE!r}
'''


def assert_harmless(result: Result) -> None:
    assert not result.exception or isinstance(result.exception, SystemExit), result.exception
    assert_harmless_text(result.output)


def assert_harmless_text(output: str) -> None:
    rest = OUR_STYLES.sub("", output)
    assert not set(rest) & set("\x1b\x07\x9b\u202e\x7f\r"), output
    assert "title" in rest, output
    assert not [line for line in rest.splitlines() if line.startswith(FORGED)], output


def assert_same_text_in_json(result: Result) -> None:
    assert_harmless(result)
    assert HOSTILE in str_leaves(json.loads(result.stdout))


def str_leaves(value: object) -> str:
    if isinstance(value, dict):
        return "\n".join(map(str_leaves, [*value, *value.values()]))
    return "\n".join(map(str_leaves, value)) if isinstance(value, list) else str(value)


@pytest.mark.parametrize("command", [("validate",), ("run",), ("run", HOSTILE)])
def test_no_escape_sequence_of_a_file_or_an_argument_reaches_the_terminal(
    project: UserProject, command: tuple[str, ...]
) -> None:
    project.write(
        "scenarios/hostile.yaml", f'scenario: "{QUOTED}"\n"{QUOTED}": 1\nadapter: "{QUOTED}"\nuser_message: hi\n'
    )
    ran = project.salvo(*command)
    assert ran.exit_code != 0
    assert_harmless(ran)


@pytest.mark.parametrize(
    "program, commands, extra",
    [(salvo, SALVO, ["schema", HOSTILE]), (byop, BYOP, ["drift", "a", HOSTILE])],
    ids=["salvo", "byop"],
)
def test_usage_errors_quote_arguments_with_escapes(
    program: click.Command, commands: dict[str, object], extra: list[str]
) -> None:
    for arguments in (
        [HOSTILE],
        [f"--{HOSTILE}"],
        extra,
        *([name, f"--{HOSTILE}"] for name in commands),
    ):
        refused = CliRunner().invoke(program, arguments, color=True)
        assert refused.exit_code == 2
        assert_harmless(refused)
    refused = CliRunner().invoke(program, ["run", "--runs", HOSTILE], color=True)
    assert "Usage: " in refused.stderr
    assert_harmless(refused)


def agent_and_judge(request: ProviderRequest) -> Answer:
    if request.system:
        return Say(json.dumps({"passed": False, "reason": HOSTILE}))
    return (
        Say(f"Hello {HOSTILE}")
        if any(message["role"] == "tool" for message in request.messages)
        else UseTools(Use("look_up", {}))
    )


@pytest.fixture
def hostile_runs(project: UserProject) -> Iterator[UserProject]:
    """Recorded runs in which the model, the tool and the judge sent escape sequences."""
    (project.folder / "scenarios" / "book_flight.yaml").unlink()
    project.write("scenarios/greet.yaml", SCENARIO)
    project.write("tools.py", TOOLS)
    with LoopbackProvider(agent_and_judge) as provider:
        project.reach(provider)
        recorded = project.salvo("run", "--record", "-n", "2")
        assert recorded.exit_code == 1, recorded.output
        yield project


def in_colour(project: UserProject, *arguments: str) -> Result:
    project.salvo("--version")  # sets the folder and the environment
    return CliRunner().invoke(salvo, arguments, color=True)


def test_runs_with_escape_sequences_are_shown_harmlessly(hostile_runs: UserProject) -> None:
    run_id = hostile_runs.runs()[0].stem
    for arguments in (
        ("run", "--record", "-n", "1"),
        ("report", HOSTILE),
        ("replay", HOSTILE),
        ("report", "latest"),
        ("report", "--failures"),
        ("report", run_id),
        ("report", "latest", "--html", "-"),
        ("replay", run_id),
        ("judge", "latest", "--times", "2"),
    ):
        assert_harmless(in_colour(hostile_runs, *arguments))


def test_json_of_runs_keeps_escape_sequences_as_escapes(hostile_runs: UserProject) -> None:
    run_id = hostile_runs.runs()[0].stem
    for arguments in (
        ("run", "--record", "-n", "1", "--json"),
        ("report", "latest", "--json"),
        ("report", run_id, "--json"),
        ("replay", run_id, "--json"),
        ("replay", "latest", "--re-eval", "--json"),
        ("judge", "latest", "--times", "2", "--json"),
    ):
        assert_same_text_in_json(in_colour(hostile_runs, *arguments))


def test_a_store_from_elsewhere_is_shown_harmlessly(hostile_runs: UserProject) -> None:
    hostile_runs.salvo("run", "-n", "1")
    for file in hostile_runs.store.rglob("*.json*"):
        file.write_text(file.read_text().replace('"greet"', json.dumps(HOSTILE)))
    run_id = hostile_runs.runs()[0].stem
    batch_id = run_id.split("-")[0]
    for arguments in (
        ("report",),
        ("report", "--rebuild"),
        ("report", "latest"),
        ("report", run_id),
        ("compare", batch_id, "latest"),
        ("compare", batch_id, "latest", "--markdown"),
        ("baseline", "bless", HOSTILE),
    ):
        assert_harmless(in_colour(hostile_runs, *arguments))
    for arguments in (("report",), ("report", "latest"), ("compare", batch_id, "latest")):
        assert_same_text_in_json(in_colour(hostile_runs, *arguments, "--json"))


def test_an_error_of_a_provider_and_the_name_of_a_file_are_shown_harmlessly(project: UserProject) -> None:
    (project.folder / "scenarios" / "book_flight.yaml").rename(project.folder / "scenarios" / f"{HOSTILE}.yaml")
    with LoopbackProvider(lambda _request: Fault.refused_parameter(HOSTILE)) as provider:
        project.reach(provider)
        assert_harmless(in_colour(project, "run", "-n", "1"))
    assert_harmless(in_colour(project, "report", project.runs()[0].stem))
    assert_harmless(in_colour(project, "validate", "--trust"))


@pytest.fixture
def hostile_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two reports with escape sequences in the subject and the title of the playbook."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    playbook = a_playbook(title=HOSTILE)
    with EvaluationStore.open(f"sqlite:///{tmp_path / 'byop_runs.db'}", HeldClock()) as store:
        for name in NAMES[:2]:
            finish_evaluation(store, name, subject=HOSTILE, playbook=playbook)
        store.set_baseline(NAMES[0])
    return tmp_path


def run_byop(*arguments: str) -> Result:
    return CliRunner().invoke(byop, arguments, color=True)


def test_reports_with_escape_sequences_are_shown_harmlessly(hostile_store: Path) -> None:
    own = f"{HOSTILE}.json"
    (hostile_store / own).write_text(json.dumps({"checks": [{"id": HOSTILE, "severity": HOSTILE}]}))
    for arguments in (
        ("history",),
        ("show", NAMES[0]),
        ("compare", NAMES[0], NAMES[1]),
        ("drift", HOSTILE),
        ("drift", f"{HOSTILE}2"),
        ("baseline", "list"),
        ("audit",),
        ("delete", NAMES[1]),
        ("validate", own),
        ("validate", HOSTILE),
        ("verify", HOSTILE),
        ("run", HOSTILE),
        ("playbooks", HOSTILE),
    ):
        assert_harmless(run_byop(*arguments))


def test_json_of_reports_keeps_escape_sequences_as_escapes(hostile_store: Path) -> None:
    own = f"{HOSTILE}.json"
    (hostile_store / own).write_text(json.dumps({"checks": [{"id": HOSTILE, "severity": HOSTILE}]}))
    for arguments in (
        ("history",),
        ("show", NAMES[0]),
        ("compare", NAMES[0], NAMES[1]),
        ("baseline", "list"),
        ("audit",),
        ("validate", own),
    ):
        assert_same_text_in_json(run_byop(*arguments, "--json"))


def test_a_signed_report_that_is_printed_keeps_its_signature(hostile_store: Path) -> None:
    assert run_byop("keys", "new").exit_code == 0
    printed = run_byop("show", NAMES[0], "--json", "--sign", "-o", "file.json")
    assert_same_text_in_json(printed)
    (hostile_store / "printed.json").write_bytes(printed.stdout_bytes)
    for name in ("printed.json", "file.json"):
        verified = run_byop("verify", name)
        assert (verified.exit_code, "altered " in verified.output) == (0, False), verified.output
        assert "signature" in verified.output


def test_init_shows_the_name_of_a_folder_harmlessly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in ("created", "kept"):
        assert_harmless(CliRunner().invoke(salvo, ["init", TWO_LINES], color=True))
    (tmp_path / "file").write_text("")
    refused = CliRunner().invoke(salvo, ["init", f"file/{TWO_LINES}"], color=True)
    assert refused.exit_code != 0
    assert_harmless(refused)


@pytest.mark.parametrize("program", [salvo, byop])
@pytest.mark.parametrize("name", [TWO_LINES, f"openai/{TWO_LINES}", f"{TWO_LINES}/gpt"])
def test_models_shows_names_harmlessly(program: click.Command, name: str) -> None:
    assert_harmless(CliRunner().invoke(program, ["models", name], color=True))
    listed = CliRunner().invoke(program, ["models", name, "--json"], color=True)
    assert_harmless(listed)
    if listed.exit_code == 0:
        assert TWO_LINES in str_leaves(json.loads(listed.stdout))


@pytest.mark.parametrize("program, command", [(salvo, "dashboard"), (byop, "serve")], ids=["dashboard", "serve"])
def test_a_server_that_does_not_start_shows_arguments_harmlessly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: click.Command, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    (tmp_path / TWO_LINES).mkdir()
    for option in ("--host", "--token-file", "--unix-socket", "--port"):
        refused = CliRunner().invoke(program, [command, "--no-open", option, TWO_LINES], color=True)
        assert refused.exit_code == 2, option
        assert_harmless(refused)


@pytest.mark.skipif(os.name != "posix", reason="Unix sockets")
@pytest.mark.parametrize("command", ["salvo dashboard", "byop serve"])
def test_a_server_shows_the_name_of_its_socket_harmlessly(tmp_path: Path, command: str) -> None:
    with server_process(tmp_path, "--unix-socket", TWO_LINES, served_by=command) as server:
        assert server.first_address.startswith("http://localhost:")
    assert_harmless_text(server.log.read_text())


@pytest.fixture
def hostile_evaluation(hostile_store: Path) -> Path:
    """A report by the rules, with a playbook whose check has a hostile name."""
    document = json.dumps(a_playbook().document).replace('"certainty_language"', json.dumps(TWO_LINES))
    (hostile_store / "playbook.json").write_text(document)
    (hostile_store / "text.md").write_text(CARELESS)
    assert_harmless(run_byop("run", "text.md", "--evaluator", "rules", "--playbook", "playbook.json"))
    return hostile_store


def test_judgings_show_names_of_checks_harmlessly(hostile_evaluation: Path) -> None:
    assert_harmless(run_byop("judge", "latest", "--times", "2"))
    assert_same_text_in_json(run_byop("judge", "latest", "--times", "2", "--json"))


def test_a_replay_shows_what_differs_harmlessly(hostile_evaluation: Path) -> None:
    with closing(sqlite3.connect(hostile_evaluation / "byop_runs.db")) as database, database:
        [(name, text)] = database.execute("SELECT id, report FROM byop_evaluations ORDER BY id DESC LIMIT 1").fetchall()
        report = json.loads(text)
        report["check_results"][0]["notes"] = TWO_LINES
        report["check_results"][0][TWO_LINES] = TWO_LINES
        report["subject"] = TWO_LINES
        database.execute("UPDATE byop_evaluations SET report = ? WHERE id = ?", (json.dumps(report), name))
    replayed = run_byop("replay", "latest")
    assert (replayed.exit_code, "differs from its report" in replayed.output) == (1, True), replayed.output
    assert_harmless(replayed)
    assert_harmless(run_byop("replay", "latest", "--json"))
    assert_harmless(run_byop("replay", TWO_LINES))
