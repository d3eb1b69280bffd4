"""Programs written with other people's frameworks: recorded, and replayed as identical with the provider off.

The frameworks have an environment of their own: `make test-frameworks` makes it and names its Python.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support.project import UserProject
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say, Use, UseTools

pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(300)]

PROGRAMS = Path(__file__).parent / "programs"
PYTHON = os.environ.get("SALVO_FRAMEWORKS_PYTHON", "")

SCENARIO = """
scenario: framework
adapter: command
user_message: Where does Ada sit?
runs: 2
timeout: 120
adapter_options:
  command: [{python}, agent.py{arguments}]
  env: {{HOME: {home}, CLAUDE_CONFIG_DIR: {home}/.claude, ENABLE_TOOL_SEARCH: "false"}}
assertions:
  - {{type: jmespath, path: final_output, operator: contains, value: Ada sits in 2A}}
  - {{type: jmespath, path: "tool_calls[?contains(name, 'find')] | [0].arguments.name", operator: eq, value: Ada}}
"""

MATRIX = [
    "openai_sdk.py chat",
    "openai_sdk.py responses",
    "anthropic_sdk.py",
    "openai_agents.py",
    "openai_agents.py streamed",
    "pydantic_ai_agent.py openai-chat:gpt-5.4-mini",
    "pydantic_ai_agent.py openai-responses:gpt-5.4-mini",
    "pydantic_ai_agent.py anthropic:claude-opus-4-8",
    "langgraph_agent.py",
    "claude_agent.py",
]


def answer(request: ProviderRequest) -> Answer:
    """Call the tool that finds people, whatever the framework calls it, and then answer."""
    tool = next((name for name in request.tools if name.endswith("find")), None)
    if tool is None or any(result.name == tool for result in request.tool_results):
        return Say("Ada sits in 2A, by the window.", thinking="private thoughts")
    return UseTools(Use(tool, {"name": "Ada"}), thinking="private thoughts")


@pytest.fixture(autouse=True)
def _installed() -> None:
    if not PYTHON:
        pytest.skip("the frameworks are installed by `make test-frameworks`")


@pytest.mark.parametrize("program", MATRIX)
def test_a_program_is_recorded_and_replayed_as_identical_with_the_provider_off(
    project: UserProject, program: str
) -> None:
    name, *arguments = program.split()
    shutil.copy(PROGRAMS / name, project.folder / "agent.py")
    (project.folder / "scenarios/book_flight.yaml").unlink()
    (project.folder / "home").mkdir()
    words = "".join(f', "{word}"' for word in arguments)
    project.write(
        "scenarios/framework.yaml", SCENARIO.format(python=PYTHON, arguments=words, home=project.folder / "home")
    )
    with LoopbackProvider(answer) as provider:
        project.reach(provider)
        ran = project.salvo("run", "--record")
    project.environ = {}
    assert ran.exit_code == 0, ran.output
    assert "private thoughts" not in project.everything_stored()
    batch_id = json.loads(project.runs()[0].read_text())["batch_id"]
    replayed = project.salvo("replay", batch_id)
    assert (replayed.exit_code, "2 runs: 2 identical" in replayed.stdout) == (0, True), replayed.stdout
