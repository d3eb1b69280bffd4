"""`adapter: mcp`: servers under test, without an agent, and which tools a model chooses."""

import json
from typing import Any

import pytest
import yaml
from inline_snapshot import snapshot

from tests.support.mcp import STDIO_SERVER
from tests.support.mcp.http_server import http_shop
from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, ProviderRequest, Say, Use, UseTools

FIND = {"tool": "find_order", "arguments": {"order_id": "A-1001"}}


def write(project: UserProject, options: dict[str, Any], *assertions: dict[str, Any], **fields: Any) -> None:
    (project.folder / "scenarios/book_flight.yaml").unlink(missing_ok=True)
    scenario = {
        "scenario": "shop server",
        "adapter": "mcp",
        "mcp_servers": {"shop": {"command": [*STDIO_SERVER, "--log", str(project.folder / "starts")]}},
        "adapter_options": options,
        "assertions": list(assertions) or [{"type": "mcp_server", "valid_schemas": True}],
        **fields,
    }
    project.write("scenarios/shop.yaml", yaml.safe_dump(scenario, sort_keys=False))


def only_run(project: UserProject) -> dict[str, Any]:
    [file] = project.runs()
    document: dict[str, Any] = json.loads(file.read_text())
    return document


def test_a_server_is_listed_and_called_without_a_model_and_replayed_without_the_server(project: UserProject) -> None:
    write(
        project,
        {"calls": [FIND, {"tool": "issue_refund", "arguments": {"order_id": "B"}}], "bad_arguments": ["find_order"]},
        {"type": "mcp_server", "lists": ["find_order", "issue_refund", "echo"], "only": True},
        {"type": "mcp_server", "name": "well-behaved", "valid_schemas": True, "rejects_bad_arguments": True, "max_call_seconds": 30},
        {"type": "jmespath", "path": "final_output.calls[0].result.status", "operator": "eq", "value": "paid"},
        {"type": "jmespath", "path": "final_output.calls[1].error", "operator": "eq", "value": "issue_refund cannot do that"},
        {"type": "latency_limit", "max_seconds": 60},
    )  # fmt: skip
    result = project.salvo("run", "--record")
    assert result.exit_code == 0, result.output
    stored = only_run(project)
    assert stored["final_output"]["servers"] == {"shop": {"name": "shop", "version": "1", "protocol": "2026-07-28"}}
    assert [(call["wrong"], call["rejected"]) for call in stored["final_output"]["bad_arguments"]] == snapshot(
        [
            ("order_id is missing", True),
            ("order_id is no string", True),
            ("has salvo_unknown_argument, which there is not", True),
        ]
    )
    assert stored["metrics"]["cost"] == 0
    assert stored["replayable"] == "full"
    (project.folder / "starts").unlink()
    (project.folder / "scenarios/shop.yaml").unlink()
    replayed = project.salvo("replay", "latest")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.output
    assert not (project.folder / "starts").exists()


def message(project: UserProject) -> str:
    """The message of the one assertion that failed."""
    assert project.salvo("run").exit_code == 1
    [verdict] = [item for item in only_run(project)["eval_results"] if not item["passed"]]
    text: str = verdict["message"]
    return text


def test_what_a_server_accepts_against_its_schema_is_named(project: UserProject) -> None:
    call = {"tool": "issue_refund", "arguments": {"order_id": "A-1001"}}
    options = {"calls": [call], "bad_arguments": True}
    write(project, options, {"type": "mcp_server", "rejects_bad_arguments": True})
    assert message(project) == snapshot(
        'issue_refund {"order_id":"A-1001","salvo_unknown_argument":1} was accepted: has salvo_unknown_argument, which there is not'
    )


def test_tools_that_are_missing_or_too_many_are_named(project: UserProject) -> None:
    write(project, {}, {"type": "mcp_server", "lists": ["echo", "find_orders", "issue_refund"], "only": True})
    assert message(project) == snapshot("find_orders is not listed; find_order is listed")


def test_an_error_and_an_answer_that_does_not_fit_are_named(project: UserProject) -> None:
    shop = {"shop": {"command": [*STDIO_SERVER, "--fault", "bad-output"]}}
    options = {"calls": [FIND]}
    write(project, options, {"type": "mcp_server", "valid_schemas": True, "no_errors": True}, mcp_servers=shop)
    assert message(project) == snapshot(
        'find_order {"order_id":"A-1001"} does not fit its outputSchema: status: 5 is not of type \'string\''
    )


def test_a_call_that_takes_too_long_is_named(project: UserProject) -> None:
    write(project, {"calls": [FIND]}, {"type": "mcp_server", "max_call_seconds": 1e-9})
    assert message(project).startswith('find_order {"order_id":"A-1001"} took ')


def test_a_server_that_dies_under_test_is_an_error_with_its_own_cause(project: UserProject) -> None:
    shop = {"shop": {"command": [*STDIO_SERVER, "--fault", "die"]}}
    write(project, {"calls": [FIND]}, mcp_servers=shop)
    assert project.salvo("run").exit_code == 3
    assert (only_run(project)["outcome"], only_run(project)["cause"]) == ("error", "mcp")


def test_a_server_at_an_address_is_tested_too(project: UserProject) -> None:
    with http_shop(era="handshake") as shop:
        write(
            project,
            {"calls": [FIND]},
            {"type": "mcp_server", "no_errors": True},
            mcp_servers={"shop": {"url": shop.url}},
        )
        result = project.salvo("run")
    assert result.exit_code == 0, result.output
    assert only_run(project)["final_output"]["servers"]["shop"]["protocol"] == "2025-11-25"


PROMPTS = [
    {"prompt": "Where is order A-1001?", "tool": "find_order"},
    {"prompt": "I want my money back.", "tool": ["issue_refund", "find_order"]},
    {"prompt": "Tell me a joke.", "tool": None},
    {"prompt": "Cancel order A-1002.", "tool": None},
    {"prompt": "Say thank you.", "tool": None},
]
DECOYS = [{"name": "cancel_order", "description": "Cancels an order."}]


def chooser(request: ProviderRequest) -> Any:
    """A model that chooses by a word of the prompt, and a decoy and a tool that there is not among them."""
    assert [tool["function"]["name"] for tool in request.body["tools"]][:1] == ["cancel_order"]
    prompt = request.body["messages"][-1]["content"]
    tool = next((name for word, name in {"Where": "find_order", "money": "issue_refund", "Cancel": "cancel_order", "thank": "say_thanks"}.items() if word in prompt), "")  # fmt: skip
    return UseTools(Use(tool, {})) if tool else Say("Why did the kettle cross the road?")


def test_the_table_of_choices_shows_decoys_and_the_replay_needs_no_provider(project: UserProject) -> None:
    write(
        project,
        {"prompts": PROMPTS},
        {"type": "tool_choice", "min_share": 0.6},
        {"type": "tool_choice", "name": "all right"},
        model="openai/gpt-5.4-mini",
        tools=DECOYS,
    )
    with LoopbackProvider(chooser) as provider:
        project.reach(provider)
        result = project.salvo("run", "--record", "-n", "4", "--threshold", "0.5")
        assert result.exit_code == 0, result.output
        assert f"Calls go to {provider.openai_url}, with OPENAI_BASE_URL, OPENAI_API_KEY." in result.stderr
    project.environ = {}
    verdicts = json.loads(project.runs()[0].read_text())["eval_results"]
    assert [(item["name"], item["passed"], item["score"]) for item in verdicts] == [
        ("tool_choice", True, 1.0),
        ("all right", False, 0.0),
    ]
    assert verdicts[1]["message"] == snapshot(
        '2 of 5 prompts led to another tool: "Cancel order A-1002." to cancel_order, a decoy, instead of no tool; "Say thank you." to say_thanks, which was not offered, instead of no tool'
    )
    shown = project.salvo("choices")
    assert shown.exit_code == 0
    assert shown.stdout.partition("\n\n")[2] == snapshot("""\
prompt                  right tool                  chosen  95% interval  all choices
Where is order A-1001?  find_order                  4/4     39% to 100%   find_order 4
I want my money back.   issue_refund or find_order  4/4     39% to 100%   issue_refund 4
Tell me a joke.         (no tool)                   4/4     39% to 100%   (no tool) 4
Cancel order A-1002.    (no tool)                   0/4     0% to 61%     cancel_order* 4
Say thank you.          (no tool)                   0/4     0% to 61%     say_thanks** 4
* a decoy: no MCP server of the scenario has it
** not offered: the model invented it
""")
    document = json.loads(project.salvo("choices", "--json").stdout)
    assert document["prompts"][3] == snapshot(
        {
            "prompt": "Cancel order A-1002.",
            "expected": [],
            "right": 0,
            "runs": 4,
            "interval": [0.0, 0.6023646356164746],
            "chosen": {"cancel_order": 4},
            "decoys": ["cancel_order"],
            "unoffered": [],
        }
    )
    replayed = project.salvo("replay", "latest")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.output


def test_the_reply_to_a_prompt_may_be_limited(project: UserProject) -> None:
    for options, limit in (({"max_tokens": 40}, 40), ({}, None)):
        write(
            project,
            {"prompts": PROMPTS[:1], **options},
            {"type": "tool_choice"},
            model="openai/gpt-5.4-mini",
            tools=DECOYS,
        )
        with LoopbackProvider(chooser) as provider:
            project.reach(provider)
            assert project.salvo("run", "-n", "1").exit_code == 0
        assert [request.body.get("max_completion_tokens") for request in provider.requests] == [limit]


def test_a_missing_key_is_found_before_a_server_is_started(project: UserProject) -> None:
    write(project, {"prompts": PROMPTS}, {"type": "tool_choice"}, model="openai/gpt-5.4-mini")
    result = project.salvo("run")
    assert result.exit_code == 2
    assert "There is no API key for openai." in result.stderr
    assert not (project.folder / "starts").exists()


def test_a_batch_without_prompts_has_no_table(project: UserProject) -> None:
    write(project, {"calls": [FIND]})
    project.salvo("run")
    shown = project.salvo("choices")
    assert shown.exit_code == 5
    assert "has no choices of tools" in shown.stderr


@pytest.mark.parametrize(
    "options, assertion, fields, problem",
    [
        ({}, {"valid_schemas": True}, {"mcp_servers": {}}, "adapter: the adapter mcp tests the servers in mcp_servers, and there are none"),
        ({"calls": [{"tol": "x"}]}, {"valid_schemas": True}, {}, 'adapter_options.calls[0].tol: no such field; did you mean "tool"?'),
        ({"bad_arguments": True}, {"valid_schemas": True}, {}, "adapter_options.bad_arguments: true stands for the tools in calls"),
        ({"prompts": PROMPTS}, {"valid_schemas": True}, {}, "model: the prompts need a model"),
        ({}, {}, {}, "assertions[0]: needs one of lists, valid_schemas"),
        ({}, {"only": True, "no_errors": True}, {}, "assertions[0].only: only goes with lists."),
        ({}, {"rejects_bad_arguments": True}, {}, "set adapter_options.bad_arguments"),
        ({}, {"type": "tool_choice"}, {}, "There are no prompts"),
        ({}, {"lists": ["x"]}, {"adapter": "openai", "model": "x", "user_message": "x"}, "mcp_server is for scenarios with the adapter mcp"),
        ({}, {"lists": ["x"]}, {"adapter": "openai", "model": "x"}, "user_message: is missing"),
    ],
)  # fmt: skip
def test_mistakes_are_found_before_a_server_is_started(
    project: UserProject, options: dict[str, Any], assertion: dict[str, Any], fields: dict[str, Any], problem: str
) -> None:
    write(project, options, {"type": "mcp_server", **assertion}, **fields)
    checked = project.salvo("validate")
    assert checked.exit_code == 2
    assert problem in checked.stdout
    assert not (project.folder / "starts").exists()
