"""Environment variables in an adapter's options."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from salvo.scenarios.spec.env_variables.variables import expand_variables
from tests.support.scenario_files import LEAST, problems, read, write


@pytest.fixture(autouse=True)
def _in_a_project_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("pyproject.toml", "")


def test_variables_are_filled_in_the_adapters_options_and_nowhere_else() -> None:
    text = f"""{LEAST}
system_prompt: echo ${{HOME}} $${{HOME}}
adapter_options:
  base_url: http://${{HOST}}:${{PORT}}/v1
  headers: [{{x: "${{EMPTY}}${{HOST}}"}}, $HOST, 3]
  escaped: $${{HOST}} ${{HOST
"""
    scenario = read(write("s.yaml", text), environ={"HOST": "here", "PORT": "80", "EMPTY": ""})
    assert scenario.system_prompt == "echo ${HOME} $${HOME}"
    assert "here" not in str(scenario), "what is stored is what stands in the file"
    assert expand_variables(scenario.adapter_options, {"HOST": "here", "PORT": "80", "EMPTY": ""}) == {
        "base_url": "http://here:80/v1",
        "headers": [{"x": "here"}, "$HOST", 3],
        "escaped": "${HOST} ${HOST",
    }


def test_a_variable_that_is_not_set_is_named_and_no_value_is_ever_told() -> None:
    text = f"""{LEAST}
adapter_options:
  key: ${{KEY}} ${{NO_SUCH_KEY}}
  other: [a, "${{not a name}}"]
runs: none
"""
    said = problems(text, environ={"KEY": "sk-secret-secret"})
    assert "secret-secret" not in said
    assert said == snapshot("""\
s.yaml:8:3: adapter_options.key: the environment variable NO_SUCH_KEY is not set
s.yaml:9:14: adapter_options.other[1]: ${...} takes the name of an environment variable; $${...} is left as it is
s.yaml:10:1: runs: must be a whole number, not text\
""")
    scalar = problems(f"{LEAST}adapter_options: ${{KEY}}\n", environ={"KEY": "sk-secret-secret"})
    assert scalar == snapshot("s.yaml:6:1: adapter_options: must be a mapping, not text")
