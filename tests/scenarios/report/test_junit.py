"""The JUnit file."""

from xml.etree import ElementTree as ET

from inline_snapshot import snapshot

from salvo.scenarios.analysis.summary import summarise
from salvo.scenarios.report.junit import as_xml
from salvo.scenarios.store.index import index_entry
from tests.support.runs import book_flight, run_of_every_outcome


def test_junit_tells_failure_error_and_skipped_apart() -> None:
    assert as_xml(*run_of_every_outcome()).decode() == snapshot("""\
<?xml version='1.0' encoding='utf-8'?>
<testsuites name="salvo" tests="6" failures="1" errors="1" skipped="3">
  <testsuite name="book_flight" id="01k9batch" timestamp="2026-11-15T12:00:00+00:00" tests="6" failures="1" errors="1" skipped="3" time="41.000">
    <properties>
      <property name="verdict" value="open" />
      <property name="model" value="openai/gpt-4o" />
      <property name="completed" value="2" />
      <property name="pass_rate" value="0.5" />
      <property name="pass_rate_95_low" value="0.0125791" />
      <property name="pass_rate_95_high" value="0.987421" />
      <property name="min_pass_rate" value="0.5" />
      <property name="average_score" value="0.8" />
      <property name="cost_usd" value="0.128" />
      <property name="judge_cost_usd" value="0.0004" />
    </properties>
    <testcase classname="book_flight" name="run 1" time="8.200">
      <properties>
        <property name="run_id" value="01k9batch-0001" />
        <property name="score" value="1" />
      </properties>
    </testcase>
    <testcase classname="book_flight" name="run 2" time="8.200">
      <properties>
        <property name="run_id" value="01k9batch-0002" />
        <property name="score" value="0.6" />
      </properties>
      <failure type="assertion" message="1 assertion failed">confirmation_id: final_output.confirmation_id is null
  expected "^[A-Z]{6}$"
  actual   null</failure>
    </testcase>
    <testcase classname="book_flight" name="run 3" time="8.200">
      <properties>
        <property name="run_id" value="01k9batch-0003" />
        <property name="score" value="unknown" />
      </properties>
      <error type="judge" message="No votes &amp; no &lt;verdict&gt;.⟦U+0000⟧⟦U+001B⟧⟦U+D83D⟧⟦U+FFFE⟧">polite: no votes</error>
    </testcase>
    <testcase classname="book_flight" name="run 4" time="8.200">
      <properties>
        <property name="run_id" value="01k9batch-0004" />
        <property name="score" value="unknown" />
      </properties>
      <skipped message="not run: budget" />
    </testcase>
    <testcase classname="book_flight" name="run 5" time="8.200">
      <properties>
        <property name="run_id" value="01k9batch-0005" />
        <property name="score" value="unknown" />
      </properties>
      <skipped message="interrupted: Ctrl-C" />
    </testcase>
    <testcase classname="book_flight" name="run 6">
      <skipped message="This run has no result: it is still running, or was stopped." />
    </testcase>
  </testsuite>
</testsuites>\
""")


def test_junit_can_be_read_again_and_its_totals_are_right() -> None:
    summaries, results = run_of_every_outcome()
    other, flights = book_flight()
    other.batch_id = "another"
    for run in flights:
        run.batch_id = "another"
    summaries.append(summarise(other, [index_entry(run) for run in flights]))
    root = ET.fromstring(as_xml(summaries, [*results, *flights]))  # noqa: S314 - our own
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "16",
        "failures": "3",
        "errors": "1",
        "skipped": "3",
    }
    for suite in root:
        cases = suite.findall("testcase")
        assert suite.get("tests") == str(len(cases))
        for tag, total in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert suite.get(total) == str(len([case for case in cases if case.find(tag) is not None]))
