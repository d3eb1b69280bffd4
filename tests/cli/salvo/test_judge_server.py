"""A judge with its own server, key and token limit, under the rules for credentials."""

import json

import pytest

from tests.support.project import UserProject
from tests.support.provider import Answer, Fault, LoopbackProvider, ProviderRequest, Say

KEY = "sk-judge-1234567890"
GREET = """
scenario: greet
adapter: openai
model: gpt-5.4-mini
user_message: Greet the customer.
assertions:
  - type: llm_judge
    name: polite
    rubric: The greeting is polite.
    model: openai/local-judge
    votes: 1
    max_tokens: 123
    base_url: http://${JUDGE_HOST}/v1
    api_key: ${JUDGE_CREDENTIAL}
"""


def grade(_: ProviderRequest) -> Answer:
    return Say(json.dumps({"passed": True, "reason": "so it seems"}))


def variables(judge: LoopbackProvider) -> dict[str, str]:
    return {"JUDGE_HOST": judge.url.removeprefix("http://"), "JUDGE_CREDENTIAL": KEY}


@pytest.fixture
def greeted(project: UserProject) -> UserProject:
    project.write("scenarios/book_flight.yaml", GREET)
    return project


def test_the_judge_is_asked_at_its_own_server_with_its_own_key_and_limit(greeted: UserProject) -> None:
    with LoopbackProvider(lambda _: Say("Good morning!")) as agent, LoopbackProvider(grade) as judge:
        greeted.reach(agent)
        greeted.environ |= variables(judge)
        shown = greeted.salvo("run", "--record")
        assert shown.exit_code == 0, shown.output
        assert len(agent.requests) == len(judge.requests) == 1
        [request] = judge.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert 123 in (request.body.get("max_tokens"), request.body.get("max_completion_tokens"))
    host = greeted.environ["JUDGE_HOST"]
    assert f"Calls go to http://{host}/v1, with JUDGE_HOST, JUDGE_CREDENTIAL." in shown.stderr
    assert KEY not in greeted.everything_stored()
    assert greeted.salvo("replay").exit_code == 0, "a replay needs neither"
    again = greeted.salvo("replay", "--re-eval")
    assert again.exit_code == 0, again.output


def test_no_key_of_the_environment_goes_to_the_judges_server(greeted: UserProject) -> None:
    greeted.write("scenarios/book_flight.yaml", GREET.replace("    api_key: ${JUDGE_CREDENTIAL}\n", ""))
    with LoopbackProvider(lambda _: Say("Good morning!")) as agent, LoopbackProvider(grade) as judge:
        greeted.reach(agent)
        greeted.environ |= variables(judge)
        greeted.salvo("run")
        [request] = judge.requests
    assert "authorization" not in request.headers


@pytest.mark.parametrize("field", ["api_key", "base_url"])
def test_a_credential_goes_to_a_judges_server_only_if_the_user_grants_it(greeted: UserProject, field: str) -> None:
    text = {
        "api_key": GREET.replace("JUDGE_CREDENTIAL", "OPENAI_API_KEY"),
        "base_url": GREET.replace("/v1\n", "/${OPENAI_API_KEY}/v1\n"),
    }[field]
    greeted.write("scenarios/book_flight.yaml", text)
    with LoopbackProvider(lambda _: Say("Good morning!")) as agent, LoopbackProvider(grade) as judge:
        greeted.reach(agent)
        greeted.environ |= variables(judge)
        for command in ("validate", "run"):
            refused = greeted.salvo(command)
            assert refused.exit_code == 2
            assert f"assertions[0].{field}: OPENAI_API_KEY is a credential" in refused.output
        assert not judge.requests
        assert not agent.requests
        if field == "api_key":
            granted = greeted.salvo("run", "--allow-env", "OPENAI_API_KEY")
            assert granted.exit_code == 0, granted.output
            assert judge.requests[0].headers["authorization"].endswith(greeted.environ["OPENAI_API_KEY"])


def test_a_variable_that_is_not_set_is_a_problem_of_the_file_with_its_line(greeted: UserProject) -> None:
    shown = greeted.salvo("validate")
    assert shown.exit_code == 2
    assert "assertions[0].base_url: the environment variable JUDGE_HOST is not set" in shown.output
    assert "book_flight.yaml:12:" in shown.output


def test_a_literal_key_is_redacted_from_everything_that_is_stored(greeted: UserProject) -> None:
    greeted.write("scenarios/book_flight.yaml", GREET.replace("${JUDGE_CREDENTIAL}", KEY))
    with LoopbackProvider(lambda _: Say(f"I know {KEY}")) as agent, LoopbackProvider(grade) as judge:
        greeted.reach(agent)
        greeted.environ |= variables(judge)
        assert greeted.salvo("run", "--record").exit_code == 0
        assert judge.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in greeted.everything_stored()
    assert greeted.salvo("replay", "--re-eval").exit_code == 0


@pytest.mark.parametrize("base_url", ["localhost:8000", "ftp://localhost", "https://"])
def test_an_address_that_is_none_is_refused(greeted: UserProject, base_url: str) -> None:
    greeted.write("scenarios/book_flight.yaml", GREET.replace("http://${JUDGE_HOST}/v1", base_url))
    greeted.environ = {"JUDGE_CREDENTIAL": KEY}
    shown = greeted.salvo("validate")
    assert shown.exit_code == 2
    assert "assertions[0].base_url: must be an address that begins with http:// or https://" in shown.output


def test_an_address_that_is_none_with_its_variables_is_refused_before_the_first_call(greeted: UserProject) -> None:
    greeted.environ = {"JUDGE_CREDENTIAL": KEY, "JUDGE_HOST": "", "OPENAI_API_KEY": "sk-agent-123456789"}
    shown = greeted.salvo("run")
    assert shown.exit_code == 2
    assert "the base_url of a judge is no address" in shown.output


def test_judging_again_uses_the_server_of_the_present_file_and_never_one_that_only_the_store_names(
    greeted: UserProject,
) -> None:
    with LoopbackProvider(lambda _: Say("Good morning!")) as agent, LoopbackProvider(grade) as judge:
        greeted.reach(agent)
        greeted.environ |= variables(judge)
        greeted.salvo("run")
        again = greeted.salvo("judge", "--times", "2")
        assert again.exit_code == 0, again.output
        assert f"Calls go to http://{greeted.environ['JUDGE_HOST']}/v1" in again.stderr
        assert [request.headers["authorization"] for request in judge.requests] == [f"Bearer {KEY}"] * 3
        greeted.write("scenarios/book_flight.yaml", GREET.replace("is polite", "is rude"))
        changed = greeted.salvo("judge", "--times", "3")
        assert changed.exit_code == 2
        assert "has changed since the batch" in changed.output
        (greeted.folder / "scenarios/book_flight.yaml").unlink()
        gone = greeted.salvo("judge", "--times", "3")
        assert gone.exit_code == 2
        assert "A store does not choose where a judge is." in gone.output
        assert len(judge.requests) == 3
        assert greeted.salvo("judge", "--stored").exit_code == 0


def test_a_judge_with_a_server_needs_no_key_of_its_provider_and_shares_no_faults_with_it(greeted: UserProject) -> None:
    local = GREET.replace("    api_key: ${JUDGE_CREDENTIAL}\n", "    api_key: local-token-123\n")
    greeted.write("agent.py", "def agent(request):\n    return 'Good morning!'\n")
    local = local.replace("adapter: openai\nmodel: gpt-5.4-mini", "adapter: function:agent.agent")
    greeted.write("scenarios/book_flight.yaml", local)
    with LoopbackProvider(grade) as judge:
        greeted.environ = variables(judge)
        shown = greeted.salvo("run", "-n", "2")
        assert shown.exit_code == 0, shown.output
        judge.play(lambda _: Fault.unauthorized())
        broken = greeted.salvo("run", "-n", "4", "-j", "1")
        assert len(judge.requests) == 1, "the first run says that the key is wrong"
    assert broken.exit_code == 3


NESTED = (
    GREET[: GREET.index("  - type: llm_judge")]
    + """
  - type: any_of
    name: greets
    assertions:
      - {type: jmespath, path: final_text, operator: eq, value: nothing}
      - type: llm_judge
        rubric: The greeting is polite.
        model: openai/local-judge
        votes: 1
        base_url: http://${JUDGE_HOST}/v1
        api_key: ${JUDGE_CREDENTIAL}
"""
)


def test_a_judge_inside_another_assertion_has_its_own_server_too(greeted: UserProject) -> None:
    greeted.write("scenarios/book_flight.yaml", NESTED)
    with LoopbackProvider(lambda _: Say("Good morning!")) as agent, LoopbackProvider(grade) as judge:
        greeted.reach(agent)
        greeted.environ |= variables(judge)
        shown = greeted.salvo("run", "-n", "2", "--record")
        assert shown.exit_code == 0, shown.output
        assert [request.headers["authorization"] for request in judge.requests] == [f"Bearer {KEY}"] * 2
        assert len(agent.requests) == 2
        assert (
            f"Calls go to http://{greeted.environ['JUDGE_HOST']}/v1, with JUDGE_HOST, JUDGE_CREDENTIAL." in shown.stderr
        )
        greeted.write("scenarios/book_flight.yaml", NESTED.replace("JUDGE_CREDENTIAL", "OPENAI_API_KEY"))
        refused = greeted.salvo("run")
    assert refused.exit_code == 2
    assert "assertions[0].assertions[1].api_key: OPENAI_API_KEY is a credential" in refused.output
    assert KEY not in greeted.everything_stored()
    greeted.write("scenarios/book_flight.yaml", NESTED)
    assert greeted.salvo("replay", "--re-eval").exit_code == 0


def test_a_wrong_key_of_a_judge_inside_another_assertion_stops_the_batch(greeted: UserProject) -> None:
    greeted.write("scenarios/book_flight.yaml", NESTED)
    with LoopbackProvider(lambda _: Say("Good morning!")) as agent:
        with LoopbackProvider(lambda _: Fault.unauthorized()) as judge:
            greeted.reach(agent)
            greeted.environ |= variables(judge)
            shown = greeted.salvo("run", "-n", "5", "-j", "1")
        assert len(agent.requests) == 1
    assert shown.exit_code == 3


def test_scoring_asks_the_judge_of_the_new_file_at_its_server(greeted: UserProject) -> None:
    with LoopbackProvider(lambda _: Say("Good morning!")) as agent, LoopbackProvider(grade) as judge:
        greeted.reach(agent)
        greeted.environ |= variables(judge)
        greeted.salvo("run")
        greeted.write("other.yaml", GREET.replace("is polite", "is short").replace("${JUDGE_CREDENTIAL}", KEY))
        scored = greeted.salvo("score", "latest", "other.yaml")
        assert scored.exit_code == 0, scored.output
        assert len(judge.requests) == 2
        assert "is short" in str(judge.requests[-1].body)
    assert KEY not in greeted.everything_stored()
