"""`salvo validate`: every problem of every file, and what a scenario may name."""

from pathlib import Path

from inline_snapshot import snapshot

from tests.support.project import BOOK_FLIGHT, UserProject

LEAST = "scenario: least\nadapter: openai\nmodel: gpt-5.4-mini\nuser_message: hi\n"
EXISTS = "assertions:\n  - {type: jmespath, path: final_output, operator: exists}\n"


def test_validate_says_that_all_is_well_or_lists_every_problem_of_every_file(project: UserProject) -> None:
    good = project.salvo("validate")
    assert (good.exit_code, good.stdout) == (0, "1 scenario is valid.\nCalls go to https://api.openai.com/v1.\n")
    project.write("scenarios/mine.py", "def answer(request):\n    return 1\n")
    project.write("scenarios/a.yaml", LEAST.replace("gpt-5.4-mini", "''") + "tools: [nowhere]\n" + EXISTS)
    project.write("scenarios/b.yaml", LEAST.replace("adapter: openai", "adapter: not_there:Nothing") + EXISTS)
    project.write("scenarios/c.yaml", LEAST.replace("adapter: openai", "adapter: function:mine.answr") + EXISTS)
    project.write("scenarios/d.yaml", LEAST.replace("adapter: openai", "adapter: collections.OrderedDict") + EXISTS)
    project.write("scenarios/e.yaml", LEAST.replace("adapter: openai", "adapter: function:math.pi") + EXISTS)
    bad = project.salvo("validate")
    assert bad.exit_code == 2
    assert bad.stdout.replace(str(project.folder), "HERE") == snapshot("""\
scenarios/a.yaml:2:1: adapter: the adapter openai needs a model
scenarios/a.yaml:5:9: tools[0]: there is no tool 'nowhere'; looked in the scenario, HERE/scenarios/tools.py, HERE/tools.py, HERE/scenarios/tools/nowhere.yaml, HERE/tools/nowhere.yaml
scenarios/b.yaml:2:1: adapter: There is no module "not_there". Looked in scenarios, the current folder, and among the installed packages.
scenarios/c.yaml:2:1: adapter: "mine.answr": there is no "answr" in scenarios/mine.py. Did you mean "answer"?
scenarios/d.yaml:2:1: adapter: collections.OrderedDict is not a class derived from salvo.BaseAdapter
scenarios/e.yaml:2:1: adapter: function:math.pi is not callable
6 files, 6 problems
""")


def test_a_yaml_tool_must_have_its_files_name(project: UserProject) -> None:
    project.write("tools/one.yaml", "name: two\nresponse: 1\n")
    project.write("scenarios/s.yaml", LEAST + "tools: [one, search_flights, search_flights]\n" + EXISTS)
    shown = project.salvo("validate", "scenarios/s.yaml").stdout
    assert "defines 'two', not 'one'" in shown
    assert "the tool search_flights is listed twice" in shown


def test_all_examples_are_valid(project: UserProject) -> None:
    examples = UserProject(Path(__file__).parents[3] / "examples", project.monkeypatch)
    count = len(list(examples.folder.glob("scenarios/*.yaml")))
    assert examples.salvo("validate").stdout == (
        f"{count} scenarios with 12 cells are valid.\n"
        "Calls go to https://api.openai.com/v1.\n"
        "Calls go to https://api.anthropic.com.\n"
    )


def test_a_model_that_the_catalog_does_not_know_is_a_warning_with_its_place(project: UserProject) -> None:
    judge = "  - {type: llm_judge, model: anthropic/claude-sonnet-4-7, rubric: It is polite.}\n"
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT.replace("gpt-4o", "gtp-5.4-mini") + judge)
    ran = project.salvo("validate")
    assert ran.exit_code == 0
    first, second, *_ = ran.stdout.splitlines()
    assert first.startswith(
        "scenarios/book_flight.yaml:3:1: model: warning: Salvo does not know the model gtp-5.4-mini of OpenAI; "
        "it may be misspelt, or newer. Did you mean gpt-5.4-mini?"
    ), first
    assert "assertions[4].model: warning: Salvo does not know the model claude-sonnet-4-7 of Anthropic" in second
    assert "1 scenario is valid." in ran.stdout


def test_a_server_of_one_s_own_may_have_any_model(project: UserProject) -> None:
    text = BOOK_FLIGHT.replace("gpt-4o", "llama")
    project.write("scenarios/book_flight.yaml", text)
    project.environ = {"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"}
    assert "warning" not in project.salvo("validate").stdout
    project.environ = {}
    project.write("scenarios/book_flight.yaml", text + "adapter_options: {base_url: 'http://127.0.0.1:8080'}\n")
    assert "warning" not in project.salvo("validate").stdout
