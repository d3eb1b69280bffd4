"""Each evaluator may have its own server, key and time limit; keys and texts go nowhere else."""

import json

import pytest

from tests.support.byop_project import CERTAIN, ByopProject, ScriptedJudge
from tests.support.provider import Fault, LoopbackProvider, always


def test_each_evaluator_has_its_own_address_and_key(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as one, LoopbackProvider(ScriptedJudge(certainty_language="fail")) as two:
        project.environ |= {"OPENAI_API_KEY": "sk-not-for-strangers", "ONE": "sk-one", "TWO": "sk-two"}
        command = (
            *("run", "output.md", "-o", "report.json"),
            *("--evaluator", f"openai/my-model@{one.openai_url}", "--evaluator", f"openai/my-model@{two.url}"),
            *("--key-variable", f"ONE@{one.url}", "--key-variable", f"TWO@{two.openai_url}/"),
        )
        shown = project.byop(*command)
        printed = project.byop(*command, "--json")
    assert {asked.key for asked in one.requests} == {"sk-one"}
    assert {asked.key for asked in two.requests} == {"sk-two"}
    places = [provider.url.removeprefix("http://") for provider in (one, two)]
    for place in places:
        assert f"The text is sent to {place} (openai/my-model)" in shown.stderr
        assert f"openai/my-model@{place}" in shown.stdout
        assert (project.folder / f"report-openai-my-model-{place.replace(':', '-')}.json").exists()
    rows = {row["check_id"]: row for row in json.loads(printed.stdout)["agreement"]}
    assert rows["certainty_language"]["results"] == {
        f"openai/my-model@{places[0]}": "pass",
        f"openai/my-model@{places[1]}": "fail",
    }
    assert rows["certainty_language"]["agree"] is False


@pytest.mark.parametrize(
    "options, said",
    [
        (("openai/x@localhost:8080",), "What follows the @ in 'openai/x@localhost:8080' is not an address."),
        (("openai/x@llm.internal",), "is not an address"),
        (("openai/x@http://",), "is not an address"),
        (("openai/x@http://:1",), "The base URL of openai/x is not valid."),
        (("rules@http://127.0.0.1:1",), "take no base URL"),
        (
            ("openai/x@http://127.0.0.1:1", "--evaluator", "openai/y@http://127.0.0.1:2", "--key-variable", "MINE"),
            "a key that no evaluator would get",
        ),
        (("openai/x", "--evaluator", "claude-haiku-4-5", "--key-variable", "MINE"), "would send one key to"),
        (("openai/x@http://127.0.0.1:1", "--timeout", "0"), "--timeout"),
    ],
)
def test_an_address_or_a_key_that_could_go_wrong_is_refused(
    project: ByopProject, options: tuple[str, ...], said: str
) -> None:
    project.environ |= {"MINE": "sk-mine", "OPENAI_API_KEY": "sk-own", "ANTHROPIC_API_KEY": "sk-ant-own"}
    refused = project.byop("run", "output.md", "--evaluator", *options)
    assert (refused.exit_code, said in refused.stderr) == (2, True), refused.stderr
    assert project.stored("SELECT * FROM byop_evaluations") == []


def test_v1_may_be_given_or_not_or_twice(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.environ |= {"MINE": "sk-mine", "OPENAI_API_KEY": "sk-own", "ANTHROPIC_API_KEY": "sk-ant-own"}
        for end in ("", "/", "/v1", "/v1/", "/v1/v1"):
            for evaluator in ("openai/my-model", "anthropic/my-model"):
                named = ("--no-store", "--mode", "screening", "--key-variable", "MINE", "--evaluator", evaluator)
                project.evaluate(*named, "--base-url", f"{provider.url}{end}", exit_code=0)
            # The variables of the environment are read in the same way.
            project.environ |= dict.fromkeys(("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"), f"{provider.url}{end}")
            project.evaluate("--no-store", "--mode", "screening", "--evaluator", "openai/my-model", exit_code=0)
            project.evaluate("--no-store", "--mode", "screening", "--evaluator", "anthropic/my-model", exit_code=0)
    assert len(provider.requests) == 5 * 4 * 4, "each of them was answered"


def test_who_names_the_address_of_the_environment_means_its_key(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.environ |= {"OPENAI_API_KEY": "sk-own", "OPENAI_BASE_URL": provider.openai_url}
        project.evaluate("--no-store", "--evaluator", f"openai/my-model@{provider.url}", exit_code=0)
    assert {asked.key for asked in provider.requests} == {"sk-own"}


def test_a_resumed_or_repeated_evaluation_goes_where_it_went_before(project: ByopProject) -> None:
    """Not to the provider's own address, though there is a key for that now."""
    with LoopbackProvider(always(Fault.context_too_long())) as provider:
        project.environ |= {"MINE": "sk-mine"}
        server = f"openai/my-model@{provider.url}"
        first = project.evaluate("--evaluator", server, "--key-variable", "MINE", "--timeout", "50", exit_code=3)
        provider.play(ScriptedJudge(certainty_language="fail"))
        project.environ |= {"OPENAI_API_KEY": "sk-own", "OPENAI_BASE_URL": "http://127.0.0.1:9"}
        resumed = project.byop("run", "--resume", first["report_id"], "--key-variable", "MINE")
        assert (resumed.exit_code, CERTAIN in resumed.stdout) == (1, True), resumed.output
        judged = project.byop("judge", "latest", "--times", "1", "--key-variable", f"MINE@{provider.openai_url}")
        assert judged.exit_code == 0, judged.output
    assert {asked.key for asked in provider.requests} == {"sk-mine"}
    [(settings,)] = set(project.stored("SELECT request ->> 'settings' FROM byop_evaluations"))
    assert json.loads(settings) == {"base_url": provider.url, "timeout": 50.0}


def test_a_call_that_takes_longer_than_its_time_limit_is_named_and_not_repeated(project: ByopProject) -> None:
    with LoopbackProvider(always(Fault.hang())) as provider:
        project.reach(provider)
        shown = project.byop("run", "output.md", "--no-store", "--evaluator", "openai/my-model", "--timeout", "0.2")
    assert shown.exit_code == 3
    assert "accepted the request but sent no complete reply within 0.2 s." in " ".join(shown.stdout.split())
    assert len(provider.requests) == 12
