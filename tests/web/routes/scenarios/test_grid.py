"""/api/batches/{id}/grid: the cells of cases and matrix that a batch is one of."""

from pathlib import Path

from salvo.scenarios.result import AgentRunResult, Batch, Outcome
from tests.support.runs import batch, result, stored
from tests.support.web import Client


def cells() -> list[tuple[Batch, list[AgentRunResult]]]:
    """Return two cases with two models, of which one fails everything."""
    made = []
    for case in ("late", "early"):
        for model in ("gpt", "haiku"):
            batch_id = f"1m7{case}{model}"
            names = {"scenario_id": f"refund[{case}-{model}]", "model": model}
            outcome = Outcome.PASSED if model == "gpt" else Outcome.FAILED
            parameters = {"case": case, "model": model}
            one = batch(batch_id, 8, suite="refund", parameters=parameters, command="1m7", **names)
            made.append((one, [result(number, outcome, batch_id, **names) for number in range(1, 9)]))
    return made


async def test_a_cell_has_the_grid_of_its_command(api: Client, tmp_path: Path) -> None:
    stored(tmp_path, *cells())
    detail = await api.get("/api/batches/1m7lategpt/grid")
    assert detail["headline"] == "refund, 2 cases × 2 variants, 4 cells: 2 failed, 2 passed"
    assert [(item["name"], item["standing"]) for item in detail["grid"]["variants"]] == [
        ("gpt", "best"),
        ("haiku", "worse than the best"),
    ]
    assert [cell["verdict"] for cell in detail["grid"]["cells"]] == ["failed", "failed", "passed", "passed"]
    assert "standard error" in detail["notes"][0]
    assert (detail["hidden_cells"], detail["skipped"]) == (0, 0)


async def test_a_batch_that_is_no_cell_has_no_grid(api: Client, tmp_path: Path) -> None:
    stored(tmp_path, (batch("1m7plain"), []))
    asked = await api.ask("GET", "/api/batches/1m7plain/grid")
    assert (asked.status, asked.code) == (400, "bad_usage")
