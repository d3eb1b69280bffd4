"""Prompt caching of agents on Anthropic: what is marked, what is recorded, and what the summary says."""

import json
from typing import Any

import pytest

from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, Say, Usage, Use, UseTools, by_turn

SCENARIO = """
scenario: support
adapter: anthropic
model: claude-sonnet-4-6
system_prompt: {system}
user_message: Where is my order 7?
tools: [find_order]
assertions:
  - {{type: jmespath, path: final_text, operator: exists}}
"""
TOOLS = '''
def find_order(id: int) -> dict:
    """Finds an order."""
    return {"state": "on its way"}
'''
LONG = "You answer questions about orders, politely and briefly. " * 300


def marks(value: Any) -> int:
    return json.dumps(value).count('"cache_control"')


def write(project: UserProject, system: str, more: str = "") -> None:
    project.write("scenarios/book_flight.yaml", SCENARIO.format(system=json.dumps(system)) + more)
    project.write("tools.py", TOOLS)


def two_turns(first: Usage, second: Usage) -> Any:
    return by_turn(UseTools(Use("find_order", {"id": 7}), usage=first), Say("It is on its way.", usage=second))


WRITTEN = Usage(input=50, output=20, cache_read=0, cache_write=4000)
READ = Usage(input=50, output=20, cache_read=4000, cache_write=100)


def test_a_long_beginning_is_marked_when_it_is_sent_and_not_in_the_recording(project: UserProject) -> None:
    write(project, LONG)
    with LoopbackProvider(two_turns(WRITTEN, READ)) as provider:
        project.reach(provider)
        shown = project.salvo("run", "-n", "1", "--record")
    assert shown.exit_code == 0, shown.output
    first, second = (request.body for request in provider.requests)
    assert (marks(first["tools"]), marks(first["system"]), marks(first["messages"])) == (0, 1, 1)
    assert second["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert marks(second) <= 4
    assert "cache_control" not in project.everything_stored()
    assert project.salvo("replay", "latest").exit_code == 0
    # 4,000 tokens read at $0.30 instead of $3, and 4,100 written at $3.75 instead of $3, per million
    assert "caching    saved $0.0077 by prompt caching" in shown.stdout


def test_a_first_run_that_only_writes_the_cache_says_that_it_cost_more(project: UserProject) -> None:
    write(project, LONG)
    with LoopbackProvider(two_turns(WRITTEN, Usage(input=4000, output=20))) as provider:
        project.reach(provider)
        shown = project.salvo("run", "-n", "1")
    assert "caching    prompt caching cost $0.0030 more than it saved" in shown.stdout


@pytest.mark.parametrize("system, more", [("Be brief.", ""), (LONG, "adapter_options: {prompt_cache: false}\n")])
def test_a_short_beginning_is_not_marked_and_marks_can_be_turned_off(
    project: UserProject, system: str, more: str
) -> None:
    write(project, system, more)
    with LoopbackProvider(by_turn(UseTools(Use("find_order", {"id": 7})), Say("It is on its way."))) as provider:
        project.reach(provider)
        shown = project.salvo("run", "-n", "1")
    assert shown.exit_code == 0, shown.output
    assert [marks(request.body) for request in provider.requests] == [0, 0]
    assert "caching" not in shown.stdout
