"""Prices of one's own: cost_limit and --max-cost for aliases and local models."""

import json
from typing import Any

import pytest

from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, Say

GREET = """
scenario: greet
adapter: openai
model: my-alias
user_message: Greet the customer.
assertions:
  - {type: cost_limit, max_usd: 0.001}
"""
GREETING = Say("Good morning!", usage={"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100})


@pytest.fixture
def greeted(project: UserProject) -> UserProject:
    project.write("scenarios/book_flight.yaml", GREET)
    return project


def run(project: UserProject, *arguments: str) -> Any:
    with LoopbackProvider(lambda _: GREETING) as provider:
        project.reach(provider)
        return project.salvo("run", *arguments)


def stored(project: UserProject) -> dict[str, Any]:
    """The newest run."""
    result: dict[str, Any] = json.loads(project.runs()[-1].read_bytes())
    return result


def test_without_a_price_the_cost_of_an_alias_is_not_known_and_the_message_says_where_to_set_it(
    greeted: UserProject,
) -> None:
    shown = run(greeted)
    assert shown.exit_code == 3
    assert "[tool.salvo.prices]" in shown.stdout
    assert "prices" not in stored(greeted)["details"]


def test_a_price_of_the_project_decides_cost_limit_and_is_stored_with_the_run(greeted: UserProject) -> None:
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/my-alias" = {input = 0.5, output = 2}')
    shown = run(greeted)
    assert shown.exit_code == 0, shown.output
    assert "openai/my-alias costs $0.5 / $2 per million tokens, by pyproject.toml." in shown.stderr
    result = stored(greeted)
    assert result["metrics"]["cost"] == pytest.approx((1000 * 0.5 + 100 * 2) / 1e6)
    price = result["details"]["prices"]["openai/my-alias"]
    assert (price["source"], price["tiers"][0]["input"], price["tiers"][0]["output"]) == ("pyproject.toml", 0.5, 2)
    assert "(with prices of pyproject.toml)" in greeted.salvo("report", result["run_id"]).stdout


def test_a_higher_price_fails_the_same_run(greeted: UserProject) -> None:
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/my-alias" = {input = 500, output = 2}')
    assert run(greeted).exit_code == 1


def test_an_alias_can_have_the_list_prices_of_another_model(greeted: UserProject) -> None:
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/my-alias" = "openai/gpt-5.4-mini"')
    run(greeted)
    by_alias = stored(greeted)["metrics"]["cost"]
    run(greeted, "--model", "gpt-5.4-mini")
    assert by_alias == stored(greeted)["metrics"]["cost"] > 0


def test_a_local_model_that_costs_nothing_is_within_every_limit(greeted: UserProject) -> None:
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/my-alias" = {input = 0, output = 0}')
    shown = run(greeted, "--max-cost", "0.01", "-n", "3")
    assert shown.exit_code == 0
    assert "--max-cost does not count" not in shown.stderr
    assert stored(greeted)["metrics"]["cost"] == 0


def test_max_cost_counts_a_price_of_ones_own(greeted: UserProject) -> None:
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/my-alias" = {input = 1000, output = 0}')
    shown = run(greeted, "-n", "5", "-j", "1", "--max-cost", "1.5")
    assert "3 not run" in shown.stdout, shown.output


def test_a_file_that_the_command_names_takes_precedence_over_the_project(greeted: UserProject) -> None:
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/my-alias" = {input = 500, output = 2}')
    greeted.write("mine.toml", '["openai/my-alias"]\ninput = 0.25\noutput = 0')
    assert run(greeted, "--prices", "mine.toml").exit_code == 0
    assert stored(greeted)["details"]["prices"]["openai/my-alias"]["source"] == "mine.toml"


def test_a_project_cannot_make_a_budget_useless(greeted: UserProject) -> None:
    """A stranger's project may say that an expensive model is free; --max-cost counts the list price then."""
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/gpt-5.4-mini" = {input = 0, output = 0}')
    shown = run(greeted, "--model", "gpt-5.4-mini", "-n", "5", "-j", "1", "--max-cost", "0.000001")
    assert "4 not run" in shown.stdout, shown.output
    assert "--max-cost counts the higher price" in shown.stderr
    greeted.write("mine.toml", '"openai/gpt-5.4-mini" = {input = 0, output = 0}')
    shown = run(greeted, "--model", "gpt-5.4-mini", "-n", "5", "--max-cost", "0.000001", "--prices", "mine.toml")
    assert shown.exit_code == 0, "the user's own file is believed"


def test_nor_by_an_alias_of_a_model_with_a_list_price(greeted: UserProject) -> None:
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/my-alias" = {input = 0, output = 0}')
    with LoopbackProvider(lambda _: Say("Hello", model="gpt-5.4-mini")) as provider:
        greeted.reach(provider)
        shown = greeted.salvo("run", "-n", "5", "-j", "1", "--max-cost", "0.0000001")
    assert "4 not run" in shown.stdout, shown.output


@pytest.mark.parametrize(
    "content, message",
    [
        ('"openai/x" = {input = -1, output = 2}', 'tool.salvo.prices."openai/x".input: must be at least 0'),
        ('"openai/x" = {input = "1", output = 2}', 'tool.salvo.prices."openai/x".input: must be a number'),
        ('"openai/x" = {input = inf, output = 2}', 'tool.salvo.prices."openai/x".input: '),
        ('"openai/x" = {inputs = 1, output = 2}', 'tool.salvo.prices."openai/x".inputs: '),
        ('"openai/x" = {input = 1}', 'tool.salvo.prices."openai/x".output: '),
        ('"openai/x" = 3', 'tool.salvo.prices."openai/x": must be a table'),
        ('"x" = {input = 1, output = 2}', 'tool.salvo.prices."x": must be provider/model'),
        ('"openai/x" = "openai/none-such"', 'tool.salvo.prices."openai/x": names a model without list prices'),
        ('"openai/x" = "x"', 'tool.salvo.prices."openai/x": names a model without list prices'),
        ('"openai/x" = {input = }', "(at line 2, column "),
    ],
)
def test_a_price_that_is_not_valid_is_refused_with_its_file_and_key_before_anything_is_run(
    greeted: UserProject, content: str, message: str
) -> None:
    greeted.write("pyproject.toml", f"[tool.salvo.prices]\n{content}")
    for command in ("run", "validate", "models"):
        shown = greeted.salvo(command)
        assert shown.exit_code == 2, shown.output
        assert "pyproject.toml" in shown.output
        assert message in shown.output
    assert not (greeted.store / "batches").exists()


def test_a_pyproject_without_prices_is_not_read_closely(greeted: UserProject) -> None:
    greeted.write("pyproject.toml", "this is = no [toml")
    assert run(greeted).exit_code == 3


def test_a_price_of_the_model_that_answers_counts_too(greeted: UserProject) -> None:
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/answering" = {input = 1, output = 1}')
    with LoopbackProvider(lambda _: Say("Hello", model="answering")) as provider:
        greeted.reach(provider)
        assert greeted.salvo("run").exit_code == 0


def test_a_recorded_run_is_replayed_with_the_price_that_was_used(greeted: UserProject) -> None:
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/my-alias" = {input = 0.5, output = 2}')
    run(greeted, "--record")
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/my-alias" = {input = 5000, output = 2}')
    replayed = greeted.salvo("replay")
    assert replayed.exit_code == 0, replayed.output
    assert greeted.salvo("replay", "--re-eval").exit_code == 0


def test_models_lists_prices_of_ones_own(greeted: UserProject) -> None:
    greeted.write("pyproject.toml", '[tool.salvo.prices]\n"openai/my-alias" = {input = 0.5, output = 2}')
    assert "$0.5 / $2 (pyproject.toml)" in greeted.salvo("models", "openai/my-alias").stdout
    assert "openai/my-alias" in greeted.salvo("models").stdout
