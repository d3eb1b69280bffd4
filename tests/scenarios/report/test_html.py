"""The HTML file of a batch: what is in it, that it is safe to open, that it stays small, and how it is asked for."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import example, given, settings
from inline_snapshot import snapshot

from salvo.cli.exit_codes import ExitCode
from salvo.cli.salvo import salvo
from salvo.engine.text.unicode_escape import INVISIBLE, code_point
from salvo.scenarios.analysis.summary import BatchSummary, BatchVerdict, summarise
from salvo.scenarios.report import html, labels
from salvo.scenarios.result import AgentRunResult, Batch, Cause, EvalResult, Outcome, RunMetrics, ToolCall, TraceEvent
from salvo.scenarios.store.index import index_entry
from salvo.scenarios.store.store import RunStore
from tests.support.attacks import ATTACKS, attack_texts
from tests.support.parsed_html import ParsedHtml
from tests.support.runs import batch, judged, result, stored

SCENARIO: dict[str, Any] = {
    "scenario": "book_flight",
    "model": "gpt-4o",
    "runs": 3,
    "system_prompt": "You are a travel assistant.\n",
    "user_message": "Book the cheapest flight.\n",
    "assertions": [
        {"type": "tool_sequence", "expected": ["search", "book", "confirm"], "required": True},
        {"type": "jmespath", "path": "final_output.id", "operator": "exists"},
        {"type": "jmespath", "name": "cheapest", "path": "tool_calls[1].arguments.id", "value": "B6"},
        {"type": "latency_limit", "max_seconds": 5},
    ],
}


def flight(number: int, passed: bool = True, **changes: Any) -> AgentRunResult:
    """A failing one books the wrong flight, asks for no confirmation, and takes too long."""
    calls = [
        ToolCall("search", {"to": "JFK"}, ["B6", "UA"], seconds=0.12),
        ToolCall("book", {"id": "B6" if passed else "UA"}, "booked", seconds=0.03),
        *([ToolCall("confirm", {}, "QWERTZ", seconds=0.02)] if passed else []),
    ]
    trace = [TraceEvent("model", {"text": "Let me see.", "stop": "tool", "tools": ["search"], "tokens": 310}, 1.2)]
    trace += [TraceEvent("tool", {"name": of.name, "arguments": of.arguments, "result": of.result}) for of in calls]
    made: dict[str, Any] = {
        "weighted_score": 1.0 if passed else 0.2,
        "recorded": True,
        "final_output": {"id": "QWERTZ"} if passed else {"id": None},
        "tool_calls": calls,
        "trace": trace,
        "metrics": RunMetrics(latency=1.5 if passed else 6.5, cost=0.03, tool_count=len(calls), model_calls=1),
        "eval_results": [
            judged("tool_sequence", passed, "tool_sequence", required=True, message="" if passed else "no confirm"),
            judged("id", passed, message="" if passed else "final_output.id is null"),
            judged("cheapest", passed, expected="B6", actual="B6" if passed else "UA"),
            judged("latency_limit", passed, "latency_limit", message="" if passed else "took 6.5s"),
        ],
    }
    return result(number, Outcome.PASSED if passed else Outcome.FAILED, **{**made, **changes})


def three() -> tuple[Batch, list[AgentRunResult]]:
    """One that passes, one that fails, one that could not be judged."""
    made = batch(runs=3, scenario=SCENARIO, source="scenarios/book_flight.yaml", salvo_version="0.1.0", seed=7)
    broken = result(3, Outcome.ERROR, cause=Cause.PROVIDER, error="overloaded")
    return made, [flight(1), flight(2, passed=False), broken]


def page(made: Batch, runs: list[AgentRunResult], unread: int = 0) -> str:
    return html.render(summary_of(made, runs), made, runs, unread)


def summary_of(made: Batch, runs: list[AgentRunResult]) -> BatchSummary:
    return summarise(made, [index_entry(run) for run in runs])


def lines(rendered: str) -> str:
    """What a reader reads, cells and names beside each other as they are on the page."""
    body = re.sub(r"</?(span|bdi|strong|code|a)\b[^>]*>", "", rendered[rendered.index("<body>") :])
    body = re.sub(r"</(td|th|dt)>", "  ", body)
    body = re.sub(r"(<[^>]*>)+", "\n", re.sub(r"<(td|th|dd)\b[^>]*>", "", body))
    return unescape(re.sub(r"\s*\n(\s*\n)*", "\n", body)).strip()


def part(rendered: str, start: str, end: str) -> str:
    return rendered.split(start, 1)[1].split(end, 1)[0]


def test_a_small_batch_reads_like_this() -> None:
    assert lines(page(*three())) == snapshot("""\
Salvo: repeated runs of one scenario
book_flight
✗ FAILED
1 of 2 completed runs passed (shown with 95% confidence: at most 99%); min_pass_rate is 100%.
1 run could not be judged (errors, not failures).
Model  openai/gpt-4o
Started  2026-11-15 12:00
Runs completed  2 of 3
Average score  0.60
Batch  01k9batch
Scenario file  scenarios/book_flight.yaml
Results
min_pass_rate 100%
Pass rate  50%, 95% interval 1% to 99%: 1 of 2 shows at least 1%
Pass^k  1: 50% (1% to 99%)  (the chance that k runs all pass)
Cost  $0.092, $0.030 per run
Latency  p50 4.0s  p95 6.2s  max 6.5s
Assertions
Over all runs in which they were judged
Assertion  Type  Required  Runs passed  Share  Note
tool_sequence  tool_sequence  yes  ✗ 1 of 2  50%
id  jmespath  no  ✗ 1 of 2  50%
cheapest  jmespath  no  ✗ 1 of 2  50%
latency_limit  latency_limit  no  ✗ 1 of 2  50%  avg: 4.0s
Where failing and passing runs diverge
Failing and passing runs diverge at step 3. A step here is a tool call, or the end.
1 of 1 failing runs answer
1 of 1 passing runs call confirm
Run 2 (failed) and run 1 (passed), side by side
Step  Run 2, failed  Run 1, passed
same
1. System prompt
1. System prompt
same
2. User message
2. User message
same
3. The model asks for search
3. The model asks for search
same
4. search
4. search
first difference
5. book
{"id":"UA"}
5. book
{"id":"B6"}
different  no such step
6. confirm
QWERTZ
different
6. Final output
{"id":null}
7. Final output
{"id":"QWERTZ"}
Failed runs
Run 2
✗ FAILED
Score  0.20
Latency  6.5s
Cost  $0.030; judge: $0
Calls  1 model call, 2 tool calls, 0 tool errors, 0 retries
Started  2026-11-15 12:00
Run  01k9batch-0002
Failing assertions
cheapest at step 5
tool_sequence at step 6
id at step 6
About the whole run
✗ FAILED latency_limit, weight 1
took 6.5s
Steps (6)
1 input System prompt, see the scenario
2 input User message, see the scenario
3 model The model asks for search 1.2s · 310 tokens
says
Let me see.
4 tool search 120ms
arguments
{"to":"JFK"}
result
["B6","UA"]
5 tool book 30ms
arguments
{"id":"UA"}
result
booked
✗ FAILED cheapest (jmespath), weight 1
expected
B6
actual
UA
6 end Final output
output
{"id":null}
✗ FAILED tool_sequence, required, weight 1
no confirm
✗ FAILED id (jmespath), weight 1
final_output.id is null
Replay: salvo replay 01k9batch-0002
Errors (not failures)
These runs could not be judged. No rate counts them.
By reason
Runs  Reason  Run ids
1  the provider failed: overloaded  01k9batch-0003
Resolved scenario
scenario  book_flight
model  gpt-4o
runs  3
system_prompt
You are a travel assistant.
user_message
Book the cheapest flight.
assertions
[
  {
    "type": "tool_sequence",
    "expected": [
      "search",
      "book",
      "confirm"
    ],
    "required": true
  },
  {
    "type": "jmespath",
    "path": "final_output.id",
    "operator": "exists"
  },
  {
    "type": "jmespath",
    "name": "cheapest",
    "path": "tool_calls[1].arguments.id",
    "value": "B6"
  },
  {
    "type": "latency_limit",
    "max_seconds": 5
  }
]
Settings
Batch  01k9batch
Salvo  0.1.0
Adapter  openai
Model  openai/gpt-4o
Seed  7
Score threshold of a run  0.8
min_pass_rate  1.0
Recorded  yes
Inspect and replay
In the project folder, or in a clone that has its recordings:
show the table of this batch  salvo report 01k9batch
replay a failed run without calling a provider  salvo replay 01k9batch-0002
judge the recorded runs again  salvo replay --re-eval 01k9batch
Made with Salvo 0.1.0.\
""")


def test_the_words_are_those_of_the_terminal() -> None:
    made, runs = three()
    read = " ".join(ParsedHtml(page(made, runs)).text.split())
    for row in labels.figures(summary_of(made, runs)):
        assert " ".join(row.value.split()) in read


def test_the_verdict_comes_before_every_number() -> None:
    read = ParsedHtml(page(*three())).text
    read = read[read.index("repeated runs") :]
    assert read.index("FAILED") < read.index("1 of 2 completed runs passed") < read.index("95% interval")


@pytest.mark.parametrize("verdict", BatchVerdict)
def test_every_verdict_is_told_by_a_word_and_a_sign(verdict: BatchVerdict) -> None:
    made, runs = three()
    rendered = html.render(replace(summary_of(made, runs), verdict=verdict), made, runs)
    sign, word = ParsedHtml(part(rendered, 'aria-label="Verdict">', "<div>")).text.split()
    assert (len(sign), word) == (1, verdict.upper())


def test_a_failing_assertion_stands_beside_the_step_that_it_concerns() -> None:
    rendered = page(*three())
    booked = part(rendered, 'id="run-2-step-5"', "</li>")
    assert all(words in booked for words in ("book", "&#34;UA&#34;", "cheapest", "FAILED"))
    end = part(rendered, 'id="run-2-step-6"', "</li>")
    assert all(words in end for words in ("final_output.id is null", "no confirm"))
    whole = part(rendered, "About the whole run", "<details")
    assert "took 6.5s" in whole
    assert '<a href="#run-2-step-5"><bdi>cheapest</bdi></a> at step 5' in rendered


def test_every_link_leads_somewhere_on_the_page() -> None:
    outline = ParsedHtml(page(*three()))
    ids = outline.values("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in outline.values("href")} <= set(ids)


def test_tables_say_what_their_columns_and_rows_are() -> None:
    outline = ParsedHtml(page(*three()))
    assert set(outline.values("scope")) == {"col", "row"}
    assert len(outline.by_element["caption"]) == len(outline.by_element["table"])


def test_without_a_divergence_two_runs_are_shown_beside_each_other_all_the_same() -> None:
    made, _ = three()
    alike = flight(2)
    alike.outcome, alike.passed = Outcome.FAILED, False
    rendered = page(made, [flight(1), alike])
    assert "Their steps do not show a difference." in rendered
    assert "Run 2 (failed) and run 1 (passed), side by side" in rendered


def test_a_batch_without_failures_says_so_and_shows_no_divergence() -> None:
    made, _ = three()
    outline = ParsedHtml(page(made, [flight(1), flight(2), flight(3)]))
    assert "No failures." in outline.text
    assert "Where failing and passing runs diverge" not in outline.by_element["h2"]
    assert "article" not in outline.by_element


def test_a_batch_in_which_nothing_was_completed_claims_nothing() -> None:
    made, _ = three()
    errors = [result(number, Outcome.ERROR, cause=Cause.PROVIDER, error="overloaded") for number in (1, 2, 3)]
    outline = ParsedHtml(page(made, errors))
    assert "No run was completed, so nothing is known about the agent." in outline.text
    assert "svg" not in outline.by_element
    assert "the provider failed: overloaded" in outline.text


def test_many_reasons_are_told_in_groups_the_largest_first_and_the_rest_counted() -> None:
    errors = [result(n, Outcome.ERROR, cause=Cause.PROVIDER, error=f"fault {max(n, 8)}") for n in range(1, 41)]
    read = ParsedHtml(page(batch(runs=40), errors)).text
    assert "8the provider failed: fault 8" in read
    assert "13other reasons" in read


def test_runs_that_were_not_made_are_told_with_how_to_make_them() -> None:
    made, runs = three()
    read = ParsedHtml(page(made, runs[:2])).text
    assert "Of 3 runs: 1 without a result. To run them: salvo run --resume 01k9batch" in read


def test_what_was_not_kept_is_said_not_to_have_been() -> None:
    made, _ = three()
    made.scenario, made.salvo_version = {}, ""
    read = ParsedHtml(page(made, [flight(1, passed=False, recorded=False)])).text
    assert "The scenario was not stored." in read
    assert "Made with Salvo (unknown version)." in read
    assert "The failed runs were not recorded. To replay runs, record them with salvo run --record." in read
    assert "System prompt" not in read


def test_runs_that_could_not_be_read_are_told() -> None:
    assert "1 run could not be read from the store" in page(*three(), unread=1)
    assert "could not be read" not in page(*three())


def test_the_first_fifty_failures_are_shown_and_the_others_counted() -> None:
    made = batch(runs=60, scenario=SCENARIO)
    runs = [flight(number, passed=number > 55) for number in range(1, 61)]
    outline = ParsedHtml(page(made, runs))
    assert len(outline.by_element["article"]) == html.MOST_FAILURES == 50
    assert "50 of 55 failed runs are shown here." in outline.text
    assert "salvo report 01k9batch --failures" in outline.text
    assert sum(("open", "") in attrs for tag, attrs in outline.elements if ("class", "way") in attrs) == 3


def test_two_thousand_runs_with_long_outputs_make_a_file_that_can_be_sent() -> None:
    made = batch(runs=2000, scenario=SCENARIO)
    runs = [flight(number, passed=False, final_output="words " * 50_000) for number in range(1, 101)]
    runs += [flight(number) for number in range(101, 201)]
    every = runs + [flight(number, passed=number % 2 == 0) for number in range(201, 2001)]
    rendered = html.render(summary_of(made, every), made, runs)
    assert len(rendered) < 4_000_000
    assert "50 of 1000 failed runs are shown here." in rendered


def test_a_long_value_is_folded_and_a_huge_one_cut_with_a_sentence() -> None:
    made, _ = three()
    rendered = page(made, [flight(1, passed=False, final_output="x" * 300_000)])
    assert (
        "Truncated here: 300,000 characters in full, shown by <code>salvo report 01k9batch-0001 --json</code>"
        in rendered
    )
    assert re.search(r'<details class="value"><summary><span class="name">output</span> ', rendered)
    assert len(rendered) < 100_000


def test_of_a_very_long_run_the_middle_is_left_out_but_no_step_that_failed() -> None:
    made, _ = three()
    calls = [ToolCall("poll", {"at": number}, number) for number in range(500)]
    made.scenario = {"assertions": [{"type": "jmespath", "path": "tool_calls[250].result", "value": 1}]}
    run = flight(1, passed=False, trace=[], tool_calls=calls, eval_results=[judged("result", False)])
    outline = ParsedHtml(page(made, [run]))
    assert "run-1-step-251" in outline.values("id")
    left_out = [text for text in outline.by_element["p"] if text.endswith("left out here.")]
    assert left_out == ["170 steps left out here.", "230 steps left out here."]


def everywhere(text: str) -> str:
    """A page with the text in every place that an agent, a tool, a judge or a scenario can fill."""
    about: dict[str, Any] = {"name": text, "message": text, "expected": {text: text}, "actual": text}
    made = batch(
        runs=5,
        scenario_id=text,
        model=text,
        provider=text,
        source=text,
        salvo_version=text,
        created_at=text,
        scenario={**SCENARIO, "system_prompt": f"x\n{text}", "tools": [{"name": text}], f"key {text}": f"x\n{text}"},
        tools={text: text},
        settings={f"set {text}": f"x{text}"},
    )
    wrong: dict[str, Any] = {
        "error": text,
        "replay_note": text,
        "final_output": {text: text},
        "timestamp": text,
        "tool_calls": [ToolCall(text, {text: text}, text), ToolCall("book", text, error=text)],
        "trace": [TraceEvent("model", {"text": text, "tools": [text]}), TraceEvent(f"odd{text}", {text: text})],
        "eval_results": [
            EvalResult(passed=False, score=0.0, type=kind, **about)
            for kind in ("tool_sequence", "jmespath", "jmespath", "latency_limit")
        ],
    }
    runs = [
        flight(1, passed=False, **wrong),
        flight(2, passed=False, **{**wrong, "cause": Cause.TIMEOUT}),
        flight(3, **{**wrong, "final_output": "another"}),
        result(4, Outcome.ERROR, cause=Cause.JUDGE, error=text),
        result(5, Outcome.NOT_RUN, cause=Cause.BUDGET, error=text),
    ]
    return page(made, runs)


_HARMLESS = ParsedHtml(everywhere("x"))


@settings(max_examples=40)
@example(" ".join(ATTACKS)[:250])
@example("</style></pre><script>alert(1)</script>")
@given(text=attack_texts)
def test_a_hostile_text_is_only_ever_text(text: str) -> None:
    hostile = ParsedHtml(everywhere(f"x{text}"))
    assert hostile.structure() == _HARMLESS.structure()
    assert re.sub(INVISIBLE, lambda found: code_point(found.group()), f"x{text}") in hostile.text


def test_the_file_asks_nothing_of_anyone_and_holds_no_script() -> None:
    for rendered in (page(*three()), everywhere("<img src=http://evil.example/x.png>")):
        markup = re.sub(r"&lt;.*?&gt;", "", rendered)
        assert not re.search(r"url\(|src=|@import|<(script|link|iframe|object|embed|base|form|img)\b|\son\w+=", markup)
        assert all(link.startswith("#") for link in ParsedHtml(rendered).values("href"))
        assert ParsedHtml(rendered).values("style") == []
        assert ParsedHtml(rendered).values("content")[0].startswith("default-src 'none'; style-src 'sha256-")


@pytest.mark.parametrize("character", ["\x00", "\u202e", "\ud800", "\u200b", "\U000e0041"])
def test_a_character_that_cannot_be_seen_is_spelled_out(character: str) -> None:
    rendered = everywhere(f"a{character}b")
    assert f'a<span class="odd">U+{ord(character):04X}</span>b' in rendered
    assert character not in rendered
    rendered.encode()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    """Two batches, in the folder that is current."""
    later = batch("01k9later", 1, scenario_id="refund"), [result(1, batch_id="01k9later")]
    monkeypatch.chdir(tmp_path)
    return stored(tmp_path, three(), later)


def report(*arguments: str) -> Result:
    return CliRunner().invoke(salvo, ["report", *arguments])


def test_the_newest_batch_is_written_unless_one_is_named(store: RunStore) -> None:
    shown = report("--html", "new.html")
    assert (shown.exit_code, shown.stderr) == (ExitCode.OK, "")
    assert shown.stdout == snapshot(
        "new.html: refund, passed: 1 of 1 completed runs passed (observed; not shown: the runs are compatible with 2%); min_pass_rate is 100%\n"
    )
    assert "<bdi>refund</bdi>" in Path("new.html").read_text()
    assert report("01k9b", "--html", "old.html").exit_code == ExitCode.OK
    assert Path("old.html").read_text() == page(*three())


def test_a_file_is_replaced_and_its_folder_made(store: RunStore) -> None:
    for _ in range(2):
        assert report("--html", "reports/new/batch.html").exit_code == ExitCode.OK
    assert [path.name for path in Path("reports/new").iterdir()] == ["batch.html"]


def test_a_dash_is_standard_output(store: RunStore) -> None:
    shown = report("01k9batch", "--html", "-")
    assert shown.stdout == page(*three())
    assert not Path("-").exists()


def test_a_damaged_run_is_told_on_the_page_and_beside_it(store: RunStore) -> None:
    (store.folder / "runs" / "01k9batch-0001.json").write_bytes(b"{")
    shown = report("01k9batch", "--html", "old.html")
    assert shown.stderr.startswith("Some runs may be missing in the file, 1 could not be read.")
    assert "1 run could not be read from the store" in Path("old.html").read_text()


@pytest.mark.parametrize(
    "arguments, code, told",
    [
        (["--html", "folder"], ExitCode.NOT_JUDGED, "folder cannot be written: "),
        (["--html", "file/inside.html"], ExitCode.NOT_JUDGED, "file/inside.html cannot be written: "),
        (["--html", "a.html", "--json"], ExitCode.USAGE, "leave out --failures and --json"),
        (["--html", "a.html", "--failures"], ExitCode.USAGE, "leave out --failures and --json"),
        (["nobody", "--html", "a.html"], ExitCode.USAGE, "No batch has an id that begins with 'nobody'"),
    ],
)
def test_what_cannot_be_written_is_said_in_a_sentence(
    store: RunStore, arguments: list[str], code: ExitCode, told: str
) -> None:
    Path("folder").mkdir()
    Path("file").touch()
    shown = report(*arguments)
    assert told in shown.stderr
    assert (shown.exit_code, shown.stdout) == (code, "")
    assert not Path("a.html").exists()


def test_an_empty_store_says_how_to_fill_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".salvo").mkdir()
    monkeypatch.chdir(tmp_path)
    assert "Create one with `salvo run`." in report("--html", "a.html").stderr
