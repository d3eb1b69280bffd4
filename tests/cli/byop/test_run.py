"""`byop run` as a person types it: what is shown, written, sent and returned."""

import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import jsonschema
import pytest
from inline_snapshot import snapshot

from salvo.playbooks.enums import DISCLAIMERS
from tests.support.byop_project import (
    ASSUMED,
    CERTAIN,
    CLAUDE,
    GPT,
    JUDGED,
    TEXT,
    ByopProject,
    ScriptedJudge,
    ScriptedVote,
    UnusableAnswer,
    check,
    masked,
    results,
    verdict,
)
from tests.support.provider import Fault, LoopbackProvider, Say

MIXED: dict[str, list[ScriptedVote]] = {
    "assumption_disclosure": [Say(verdict("pass", ASSUMED, notes="Law and role are stated."))],
    "certainty_language": [
        Say(verdict("fail", CERTAIN, "It is entirely lawful.", notes="Absolute, without a qualifier.")),
        Say(verdict("pass", ASSUMED, notes="Qualified by the assumptions.")),
        Say(verdict("fail", CERTAIN, confidence=0.7, notes="Absolute, without a qualifier.")),
    ],
    "escalation_signal": [UnusableAnswer("I cannot say.")],
    "unchecked_areas_disclosure": ["pass"],
}
"""Something of everything: a dissent, a quote that stands nowhere, answers that cannot be read."""


def test_the_whole_report_in_the_terminal(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge(MIXED)) as provider:
        project.reach(provider)
        shown = project.byop("run", "output.md", "-j", "1", "--subject", "DPA reviews", "--producer", "acme/lawbot")
    assert shown.exit_code == 3
    assert masked(shown.stdout) == snapshot("""\
INCOMPLETE  Votes are missing: some calls gave no usable answer. That says nothing about the text.
  - escalation_signal: 0 of 3 votes.
  - Evaluator returned unparseable response.
  - certainty_language (high severity) failed, whatever the missing votes will be.

This is an observability report, not legal advice.
Pass ≠ safe. Fail ≠ wrong. Indeterminate is expected.
Report describes behavior under this playbook and inputs.

Document                output
File                    output.md
File sha256             sha256:…
Producer (as declared)  acme/lawbot
Reviewer (as declared)  not recorded
Time                    TIME
Playbook                ai_plugin_observability_v1 1.1.0
Report                  ID
Subject                 DPA reviews
Evaluator               anthropic/claude-sonnet-4-6
Mode                    full: Auditable (variance-aware)

Checks
PASS           high    assumption_disclosure       3 of 3  confidence not calibrated  consistency 1.00
    paragraph 2, line 3: “We assume that German law governs the agreement and that the customer is
    the controller.”
    Law and role are stated.
FAIL           high    certainty_language          2 of 3  confidence not calibrated  consistency 0.50
    paragraph 3, line 5: “Clause 7 is fully compliant with the GDPR.”
    Absolute, without a qualifier.
    dissent, run 2 (pass): Qualified by the assumptions.
      paragraph 2, line 3: “We assume that German law governs the agreement and that the customer is
      the controller.”
    rejected, not a passage of the text that can be evidence: “It is entirely lawful.”
    pattern compliant: line 5
INDETERMINATE  medium  escalation_signal           0 valid of 3  confidence –  consistency –
    Incomplete: fewer than a majority of its runs gave a valid vote.
    No verdict: 0 of 3 runs gave a vote. Evaluator returned unparseable response.
    run 1: no vote: Evaluator returned unparseable response.
    run 2: no vote: Evaluator returned unparseable response.
    run 3: no vote: Evaluator returned unparseable response.
PASS           medium  unchecked_areas_disclosure  3 of 3  confidence not calibrated  consistency 1.00
    paragraph 4, line 7: “We did not check annex 2, which was not provided to us.”
    The passage shows a pass.
INDETERMINATE  medium  run_variance
    Derived from the other results, without the evaluator.
    The evaluator's votes have a consistency of 0.80, between 0.7 and 0.85. This measures the
    evaluator.
INDETERMINATE  medium  drift_over_time_support
    Derived from the other results, without the evaluator.
    There is no earlier report of the subject “DPA reviews” to compare with: a full and complete one
    under this playbook.

Variance
  Runs per judged check             3
  Overall consistency               0.80 – some findings diverge
  Stable at or above                0.85
  Not reliable for decisions below  0.70
  Aggregation                       decided by a strict majority of the runs
  Agreement in 3 of 3 runs shows only that this evaluator gives the same vote in at least 29% of
  runs (exact 95% interval), not that the vote is right.
  Variance in results may reflect evaluator model behavior, not only the AI output being tested.
  BYOP reports describe observable signals, not ground truth.
  - certainty_language

Drift
  Not compared with a baseline.
  - There is no earlier report of the subject “DPA reviews” to compare with: a full and complete one
    under this playbook.

Key risks
  - certainty_language (high severity) failed: Absolute, without a qualifier.

Next steps
  - Have a lawyer confirm, qualify or strike “Clause 7 is fully compliant with the GDPR.” (line 5)
    before anyone relies on it.
  - Correct what kept calls from giving a usable answer, then resume the evaluation, which requests
    only the missing votes, or start it again.

Limitations
  - The evaluator is a language model: it can be wrong, and its provider can change it at any time.
  - Incomplete: for some checks, fewer than a majority of the runs gave a valid vote.

Integrity
  Playbook logic hash  sha256:…
  Inputs fingerprint   sha256:…
  Report hash          sha256:…
  Computed as          SHA-256 of RFC 8785, report_hash empty, lone surrogates escaped (version 2)
  Runner               salvo-byop/0.1.0
  Specification        BYOP 0.1
  Hash of ai_output    sha256:…

Tokens and cost
  Calls          15
  Tokens         15,888 in, 480 out
  Cost           $0.055
  Duration  …
  Time in calls  …

1 failed, 2 passed, 3 indeterminate: INCOMPLETE
""")


def test_what_is_said_on_stderr_meanwhile(project: ByopProject) -> None:
    shown = project.byop("run", "output.md", "--mode", "screening", "--no-store", "-j", "1")
    assert shown.stderr == snapshot("""\
Evaluating with rules: nothing leaves this machine.
Running check 1/6, run 1/1
Running check 2/6, run 1/1
Running check 3/6, run 1/1
Running check 4/6, run 1/1
Judged 4 checks
""")


def test_json_is_alone_on_stdout_and_fits_the_published_schema(project: ByopProject) -> None:
    schema = json.loads(project.byop("schema", "report").stdout)
    with LoopbackProvider(ScriptedJudge(MIXED)) as provider:
        project.reach(provider)
        judged = project.byop("run", "output.md", "--json")
    project.environ.clear()
    ruled = project.byop("run", "output.md", "--json", "--mode", "screening", "--hashes-only")
    for printed in (judged, ruled, project.byop("show", "latest", "--json")):
        document = json.loads(printed.stdout)
        jsonschema.validate(document, schema)
        assert document.keys() == {"byop_report", "signature"}


@pytest.mark.parametrize("storing", [(), ("--no-store",), ("--hashes-only",)])
def test_files_are_written_in_three_forms_also_where_nothing_is_stored(
    project: ByopProject, storing: tuple[str, ...]
) -> None:
    names = ("out/r.json", "r.html", "r.md")
    shown = project.byop("run", "output.md", *storing, *(part for name in names for part in ("-o", name)))
    assert [line for line in shown.stderr.splitlines() if line.startswith("Written")] == [
        f"Written: {name}" for name in names
    ]
    written = {name: (project.folder / name).read_text() for name in names}
    assert json.loads(written["out/r.json"])["byop_report"]["summary"]["overall_status"] == "ALERT"
    for name in names[1:]:
        assert all(disclaimer in written[name] for disclaimer in DISCLAIMERS)
        assert "Auditable (variance-aware)" in written[name]
        assert "Clause 7 is fully" in written[name]
    assert ("Stored in" in shown.stderr) == (storing != ("--no-store",))


def test_a_form_that_nobody_knows_is_said_before_anything_is_sent(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        refused = project.byop("run", "output.md", "-o", "r.pdf")
    assert (refused.exit_code, provider.requests) == (2, [])
    assert "r.pdf" in refused.stderr


@pytest.mark.parametrize(
    "votes, codes",
    [
        ({"certainty_language": "fail"}, [1, 1, 1]),
        ({"certainty_language": "indeterminate"}, [0, 1, 1]),
        ({"escalation_signal": "fail"}, [0, 0, 1]),
        ({}, [0, 0, 0]),
    ],
)
def test_fail_on_chooses_from_which_status_the_command_fails(
    project: ByopProject, votes: dict[str, Any], codes: list[int]
) -> None:
    with LoopbackProvider(ScriptedJudge(votes)) as provider:
        project.reach(provider)
        found = [
            project.byop("run", "output.md", "--no-store", "--fail-on", status).exit_code
            for status in ("alert", "review", "observe")
        ]
    assert found == codes


def test_both_modes_carry_their_label_and_the_disclaimers(project: ByopProject) -> None:
    full = project.byop("run", "output.md", "--no-store").stdout
    screening = project.byop("run", "output.md", "--no-store", "--mode", "screening").stdout
    assert "full: Auditable (variance-aware)" in full
    assert "screening: Non-auditable quick check (not comparable over time)" in screening
    assert "Save the report as a baseline" not in screening  # for it can be none
    for shown in (full, screening):
        assert all(disclaimer in shown for disclaimer in DISCLAIMERS)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--runs", "2"], "at least 3 times, not 2"),
        (["--runs", "2", "--mode", "screening"], "once, not 2 times"),
        (["--no-store", "--save-baseline"], "--no-store cannot be combined"),
        (["--no-store", "--hashes-only"], "--no-store cannot be combined"),
        (["--mode", "screening", "--save-baseline"], "cannot be a baseline"),
        (["--resume", "latest"], "Give the file"),
        (["--base-url", "http://127.0.0.1:1"], "take no base URL"),
        (["--key-variable", "NOWHERE"], "NOWHERE is not set"),
        (["--evaluator", "anthropic/claude-sonnet-4-6"], "no API key"),
        (["--evaluator", "palantir/x"], "palantir"),
        (["--playbook", "ai_plugin"], "There is no playbook"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is(project: ByopProject, arguments: list[str], said: str) -> None:
    refused = project.byop("run", "output.md", *arguments)
    assert said in refused.stderr
    assert refused.exit_code in (2, 3)
    assert project.stored("SELECT * FROM byop_evaluations") == []


def test_the_text_may_come_on_standard_input(project: ByopProject) -> None:
    shown = project.byop("run", "-", "--no-store", "--json", stdin=TEXT)
    named = project.evaluate("--no-store")
    assert json.loads(shown.stdout)["byop_report"]["integrity"] == {
        **named["integrity"],
        "report_hash": json.loads(shown.stdout)["byop_report"]["integrity"]["report_hash"],
    }


def test_source_prompt_and_system_instructions_are_shown_to_the_judge(project: ByopProject) -> None:
    for name in ("source", "prompt", "system"):
        project.write(name, f"The {name} as it was.")
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        report = project.evaluate("--no-store", "--source", "source", "--prompt", "prompt", "--system", "system")
    asked = provider.requests[0].last_user
    assert all(f"The {name} as it was." in asked for name in ("source", "prompt", "system"))
    assert [area["area"][:12] for area in report["unchecked_areas"] if area["stated_by"] == "runner"] == [
        "Whether the "
    ]


def test_a_rate_limit_is_waited_for_and_told_on_the_progress_line(project: ByopProject) -> None:
    judge = ScriptedJudge(certainty_language=[Fault.rate_limited(retry_after=4), "pass"])
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        shown = project.byop("run", "output.md", "-j", "1")
    assert shown.exit_code == 0
    assert re.search(r"^Running check \d/6, run \d/3 \(rate limited, retrying in 4 s\)$", shown.stderr, re.MULTILINE)
    assert len(provider.requests) == 13
    assert 4 <= project.waited[0] <= 4.5


@pytest.mark.parametrize("evaluator", [CLAUDE, GPT])
def test_for_a_long_text_one_call_goes_first_and_the_others_read_its_cache(
    project: ByopProject, evaluator: str
) -> None:
    project.write("output.md", TEXT + "The supplier shall keep records of all processing. " * 400)
    most_at_once: list[int] = []

    def judge(asked: Any) -> Any:
        most_at_once.append(provider._under_way)
        return ScriptedJudge()(asked)

    with LoopbackProvider(judge, latency=0.02) as provider:
        project.reach(provider)
        report = project.evaluate("--no-store", "--evaluator", evaluator)
    assert most_at_once[0] == 1
    assert provider.requests[1].arrived - provider.requests[0].arrived >= 0.02  # not before the first was answered
    tokens = [run["tokens"] for each in report["check_results"] for run in each["raw_runs"]]
    assert len(tokens) == 12
    reading = [used for used in tokens if used["cache_read"] > 5_000]
    assert len(reading) == 11
    assert all(used["input"] + used["cache_write"] < 1_000 for used in reading)
    assert report["spent"]["calls"] == 12
    assert report["spent"]["cost_usd"] == pytest.approx(
        sum(run["cost_usd"] for each in report["check_results"] for run in each["raw_runs"])
    )


def test_a_short_text_goes_out_all_at_once_within_the_limit(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge(), latency=0.05) as provider:
        project.reach(provider)
        project.evaluate("--no-store")
        assert provider.most_at_once == 12
        provider.most_at_once = 0
        project.evaluate("--no-store", "-j", "5")
        assert provider.most_at_once == 5


@pytest.mark.parametrize("evaluator", [CLAUDE, GPT])
def test_a_malformed_answer_is_asked_for_once_more_and_then_it_is_no_vote(project: ByopProject, evaluator: str) -> None:
    judge = ScriptedJudge(
        assumption_disclosure=[UnusableAnswer("Sure!", then=Say(verdict("pass", ASSUMED))), "pass"],
        certainty_language=[UnusableAnswer("It is fine."), "pass"],
    )
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        report = project.evaluate("--no-store", "--evaluator", evaluator, "-j", "1")
    assert len(provider.requests) == 14
    assert all(run["valid"] for run in check(report, "assumption_disclosure")["raw_runs"])
    first = check(report, "certainty_language")["raw_runs"][0]
    assert (first["valid"], first["result"], first["raw_answer"]) == (False, "indeterminate", "It is fine.")
    assert first["problem"] == "Evaluator returned unparseable response."
    assert (check(report, "certainty_language")["result"], report["incomplete"]) == ("pass", False)
    assert report["spent"]["calls"] == 14


def test_several_evaluators_judge_the_same_text_and_a_table_shows_where_they_split(project: ByopProject) -> None:
    judge = ScriptedJudge(escalation_signal="fail")
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        named = [part for name in (CLAUDE, "rules", GPT, "rules") for part in ("--evaluator", name)]
        shown = project.byop("run", "output.md", *named, "-o", "r.json", "-o", "r.md")
        printed = project.byop("run", "output.md", "--no-store", "--json", *named)
    table = masked(shown.stdout).rpartition("\n\n")[2]
    assert table[table.index("CHECK") :] == snapshot("""\
CHECK                       SEVERITY  anthropic/claude-sonnet-4-6  rules  openai/gpt-5.4-mini  AGREEMENT
assumption_disclosure       high      PASS (3 of 3)                PASS   PASS (3 of 3)        agree
certainty_language          high      PASS (3 of 3)                FAIL   PASS (3 of 3)        split
escalation_signal           medium    FAIL (3 of 3)                PASS   FAIL (3 of 3)        split
unchecked_areas_disclosure  medium    PASS (3 of 3)                PASS   PASS (3 of 3)        agree
The evaluators agree on 2 of 4 checks that all of them judged.
""")
    assert sorted(file.name for file in project.folder.glob("r*")) == [
        "r-anthropic-claude-sonnet-4-6.json",
        "r-anthropic-claude-sonnet-4-6.md",
        "r-openai-gpt-5.4-mini.json",
        "r-openai-gpt-5.4-mini.md",
        "r-rules.json",
        "r-rules.md",
    ]
    document = json.loads(printed.stdout)
    assert [each["byop_report"]["evaluator"] for each in document["byop_reports"]] == [CLAUDE, "rules", GPT]
    agreement = {row["check_id"]: row["agree"] for row in document["agreement"]}
    assert agreement.keys() == set(JUDGED)
    assert (agreement["assumption_disclosure"], agreement["escalation_signal"]) == (True, False)
    assert f"{GPT}: Running check 1/6, run 1/3" in printed.stderr
    assert len(json.loads(project.byop("history", "--json").stdout)) == 3


def test_a_judge_that_could_not_judge_neither_agrees_nor_splits(project: ByopProject) -> None:
    def judge(asked: Any) -> Any:
        return Fault.unauthorized() if asked.protocol == "openai" else ScriptedJudge()(asked)

    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        named = ("run", "output.md", "--no-store", "--evaluator", CLAUDE, "--evaluator", GPT)
        shown = project.byop(*named)
        printed = project.byop(*named, "--json")
    assert shown.exit_code == printed.exit_code == 3
    assert "not judged by all" in shown.stdout
    assert "The evaluators agree on 0 of 0 checks that all of them judged." in shown.stdout
    assert {row["agree"] for row in json.loads(printed.stdout)["agreement"]} == {None}


def test_a_compatible_server_is_reached_by_its_address_without_the_keys_of_others(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.environ |= {"OPENAI_API_KEY": "sk-not-for-strangers", "MINE": "sk-mine"}
        ours = ("--no-store", "--evaluator", "openai/my-model", "--base-url", provider.openai_url)
        project.evaluate(*ours, exit_code=3)
        report = project.evaluate(*ours, "--key-variable", "MINE", exit_code=0)
    assert [asked.key for asked in provider.requests] == [None] * 12 + ["sk-mine"] * 12
    assert {asked.model for asked in provider.requests} == {"my-model"}
    assert (report["evaluator"], report["spent"]["cost_usd"]) == ("openai/my-model", None)


def test_the_evaluator_may_be_named_by_its_model_alone(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        report = project.evaluate("--no-store", "--mode", "screening", "--evaluator", "claude-haiku-4-5")
    assert report["evaluator"] == "anthropic/claude-haiku-4-5"
    assert {asked.model for asked in provider.requests} == {"claude-haiku-4-5"}


def test_keys_are_written_nowhere(project: ByopProject) -> None:
    echo = Say(verdict("pass", ASSUMED, notes="The key is sk-ant-loopback-0123456789."))
    with LoopbackProvider(ScriptedJudge(assumption_disclosure=echo)) as provider:
        project.reach(provider)
        shown = project.byop("run", "output.md", "-o", "r.json", "-o", "r.html", "-o", "r.md")
    files = "".join((project.folder / f"r.{suffix}").read_text() for suffix in ("json", "html", "md"))
    assert "loopback-0123456789" not in shown.output + files
    assert b"loopback-0123456789" not in project.everything_stored()


def test_hashes_only_stores_none_of_the_texts(project: ByopProject) -> None:
    for name in ("source", "prompt", "system"):
        project.write(name, f"Nobody else may read the {name}.")
    judge = ScriptedJudge(certainty_language=Say(verdict("fail", CERTAIN, notes="A telling note.", context="near it")))
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        given = ("--source", "source", "--prompt", "prompt", "--system", "system")
        printed = project.byop("run", "output.md", "--hashes-only", "--json", *given)
    assert CERTAIN in printed.stdout, "who asks is told"
    stored = project.everything_stored()
    for text in ("fully compliant", "German law", "Nobody else", "A telling note", "near it", "annex 2"):
        assert text.encode() not in stored
        assert json.dumps(text)[1:-1].encode() not in stored
    shown = project.byop("show", "latest")
    assert (shown.exit_code, "ALERT" in shown.stdout) == (0, True)
    for command in (("replay", "latest"), ("run", "--resume", "latest")):
        refused = project.byop(*command)
        assert (refused.exit_code, "Only hashes of the evaluation" in refused.stderr) == (3, True)
    assert project.byop("verify", "latest").exit_code == 0


def test_no_store_makes_no_database(project: ByopProject) -> None:
    project.database.unlink()
    project.evaluate("--no-store")
    assert list(project.folder.iterdir()) == [project.folder / "output.md"]


def test_the_first_evaluation_makes_the_database(project: ByopProject) -> None:
    project.database.unlink()
    report = project.evaluate()
    with closing(sqlite3.connect(project.database)) as database:
        assert database.execute("SELECT id FROM byop_evaluations").fetchall() == [(report["report_id"],)]


def test_a_report_is_signed_in_its_files(project: ByopProject) -> None:
    assert project.byop("keys", "new", "mine.key").exit_code == 0
    project.byop("run", "output.md", "--no-store", "--sign", "mine.key", "-o", "r.json")
    assert json.loads((project.folder / "r.json").read_text())["signature"]["algorithm"] == "ed25519"
    verified = project.byop("verify", "r.json")
    assert (verified.exit_code, "signature" in verified.stdout) == (0, True)


def test_next_steps_and_the_mending_prompt_follow_from_what_failed(project: ByopProject) -> None:
    judge = ScriptedJudge(certainty_language="fail", escalation_signal="indeterminate")
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        summary = project.evaluate("--no-store")["summary"]
    assert summary["recommended_next_steps"] == snapshot(
        [
            "Have a lawyer confirm, qualify or strike “Clause 7 is fully compliant with the GDPR.” (line 5) before anyone relies on it.",
            "Review the text yourself on what this evaluation could not decide: escalation_signal.",
        ]
    )
    assert summary["mending_prompt"] == snapshot("""\
Please revise the text you wrote. Change only what the points below ask for, keep everything else word for word, and do not invent facts: if you do not know something, say so.

1. Qualify every legal conclusion: under which law, on which facts and with what uncertainty. Remove absolute statements that you cannot support.
   This concerns:
   > Clause 7 is fully compliant with the GDPR.

Return the complete revised text, followed by a list of the changes you made.\
""")


def test_a_question_with_braces_is_put_into_words_as_it_is(project: ByopProject) -> None:
    own = {
        "metadata": {"id": "own", "version": "1"},
        "checks": [
            {
                "id": "braces",
                "severity": "medium",
                "question": "Does it name {party} and {}?",
                "detection_method": {"type": "pattern", "patterns": ["fully"], "on_match": "fail"},
            }
        ],
    }
    report = project.evaluate("--no-store", "--playbook", project.write_playbook(own))
    assert results(report) == {"braces": "fail"}
    [step] = report["summary"]["recommended_next_steps"]
    assert step.endswith("with this question in mind: Does it name {party} and {}?")


def test_a_later_export_and_the_baseline_are_in_the_audit_log(project: ByopProject) -> None:
    project.byop("run", "output.md", "-o", "r.html", "--save-baseline")
    actions = [entry["action"] for entry in json.loads(project.byop("audit", "--json").stdout)]
    assert actions == ["created", "evaluation", "export", "baseline_set"]


def test_after_a_command_the_database_is_one_file_that_can_be_copied(project: ByopProject) -> None:
    def files() -> list[str]:
        return sorted(path.name for path in project.folder.glob("*.db*"))

    assert project.byop("run", "output.md").exit_code == 1
    assert files() == ["byop_runs.db"]
    assert project.byop("judge", "latest", "--times", "2").exit_code == 0
    assert files() == ["byop_runs.db"]
    assert project.process("run", "output.md").communicate()[0]
    assert files() == ["byop_runs.db"]
