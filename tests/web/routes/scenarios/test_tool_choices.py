"""/api/batches/{id}/choices: which tools a model chose for which prompt, with decoys; and the same in HTML."""

from pathlib import Path
from typing import Any

from salvo.scenarios.report import html
from salvo.scenarios.result import AgentRunResult, Outcome
from tests.support.runs import batch, result, stored
from tests.support.web import Client

SCENARIO = {
    "scenario": "pick",
    "adapter": "mcp",
    "adapter_options": {"prompts": [{"prompt": "How many <b>kettles</b>?", "tool": "find_product"}]},
}
BATCH = batch("1m7choices", 3, scenario_id="pick", scenario=SCENARIO)


def run(number: int, *chosen: str, is_decoy: bool = False, is_offered: bool = True) -> AgentRunResult:
    choice: dict[str, Any] = {
        "prompt": "How many <b>kettles</b>?",
        "expected": ["find_product"],
        "chosen": list(chosen),
        "right": chosen[:1] == ("find_product",),
        "is_decoy": is_decoy,
        "is_offered": is_offered,
    }
    made = result(number, Outcome.PASSED, "1m7choices")
    return made.model_copy(update={"final_output": {"choices": [choice]}})


async def test_each_prompt_has_its_right_tool_and_all_that_were_chosen(api: Client, tmp_path: Path) -> None:
    runs = [run(1, "find_product"), run(2, "find_supplier", is_decoy=True), run(3)]
    runs.append(run(4, "look_up", is_offered=False))
    store = stored(tmp_path, (BATCH, runs))
    found = await api.get("/api/batches/1m7choices/choices")
    [row] = found["rows"]
    assert (row["prompt"], row["expected"], row["right"], row["runs"], row["interval_label"], found["hidden_rows"]) == (
        "How many <b>kettles</b>?", "find_product", 1, 4, "0% to 81%", 0
    )  # fmt: skip
    assert [(tool["name"], tool["is_right"], tool["is_decoy"], tool["is_offered"]) for tool in row["chosen"]] == [
        ("(no tool)", False, False, True),
        ("find_product", True, False, True),
        ("find_supplier", False, True, True),
        ("look_up", False, False, False),
    ]
    page = html.export(store, "1m7choices").html
    assert "Which tools were chosen" in page
    assert "How many &lt;b&gt;kettles&lt;/b&gt;?" in page
    assert "find_supplier* 1, look_up** 1" in page
    assert "** not offered: the model invented it" in page


async def test_a_batch_without_prompts_has_no_choices_and_its_runs_are_not_read(api: Client, tmp_path: Path) -> None:
    store = stored(tmp_path, (batch("1m7plain", 1), [result(1, Outcome.PASSED, "1m7plain")]))
    next((store.folder / "runs").glob("*.json")).write_text("{}")
    assert await api.get("/api/batches/1m7plain/choices") == {"rows": [], "hidden_rows": 0}
    assert "Which tools were chosen" not in html.export(store, "1m7plain").html
