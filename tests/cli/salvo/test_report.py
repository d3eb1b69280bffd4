"""`salvo report` as a person types it, on a store in the current folder."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from inline_snapshot import snapshot

from salvo.cli.exit_codes import ExitCode
from salvo.cli.salvo import salvo
from salvo.scenarios.result import Cause, Outcome
from salvo.scenarios.store.store import RunStore
from tests.support.runs import batch, book_flight, failing_run, result, stored


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    """Two batches, in the folder that is current."""
    overloaded = result(2, Outcome.ERROR, batch_id="01k9later", cause=Cause.PROVIDER, error="overloaded")
    later = batch("01k9later", 2, scenario_id="refund"), [result(1, batch_id="01k9later"), overloaded]
    monkeypatch.chdir(tmp_path)
    return stored(tmp_path, book_flight(), later)


def report(*arguments: str) -> Result:
    return CliRunner().invoke(salvo, ["report", *arguments])


def test_without_an_id_the_newest_batches_are_listed(store: RunStore) -> None:
    shown = report()
    assert (shown.exit_code, shown.stderr) == (ExitCode.OK, "")
    assert shown.stdout == snapshot("""\
BATCH      SCENARIO     MODEL   WHEN              RUNS   PASS-RATE  95%         SCORE  ERRORS  COST    VERDICT
01k9later  refund       gpt-4o  2026-11-15 12:00  1/2    100%       2% to 100%  1.00   1       $0.064  passed
01k9batch  book_flight  gpt-4o  2026-11-15 12:00  10/10  80%        44% to 98%  0.84           $0.320  failed
""")
    assert "01k9batch" not in report("--last", "1").stdout


def test_a_batch_shows_its_table(store: RunStore) -> None:
    shown = report("01k9b").stdout
    assert shown.startswith("book_flight  10/10 runs  pass-rate: 80%  avg-score: 0.84\n")
    assert "salvo replay 01k9batch-0003" in shown


def test_latest_is_the_newest_batch(store: RunStore) -> None:
    assert report("latest").stdout.startswith("refund  1/2 runs")


def test_a_run_is_shown_in_full(store: RunStore) -> None:
    store.storage.delete("runs/01k9batch-0003.json")
    store.save_run(failing_run())
    assert report("01k9batch-0003").stdout.startswith("book_flight  run 3  failed (assertion)  score: 0.60\n")
    assert json.loads(report("01k9batch-0003", "--json").stdout)["tool_calls"][0]["name"] == "search_flights"


def test_failures_alone(store: RunStore) -> None:
    assert report("--failures").stdout == snapshot("""\
RUN             SCENARIO     MODEL   SCORE  REPLAY  FAILED
01k9batch-0003  book_flight  gpt-4o  0.20   yes     confirmation_id
01k9batch-0007  book_flight  gpt-4o  0.20   yes     confirmation_id, latency_limit

1 run could not be judged (errors, not listed here).
""")
    assert "01k9batch-0003" in report("01k9batch", "--failures").stdout
    assert report("latest", "--failures").stdout.startswith("No failures.")


def test_json_goes_to_stdout_alone(store: RunStore) -> None:
    with (store.folder / "history.jsonl").open("ab") as history:
        history.write(b"garbage\n")
    shown = report("--json")
    assert [of["batch_id"] for of in json.loads(shown.stdout)["batches"]] == ["01k9later", "01k9batch"]
    assert shown.stderr == snapshot(
        "Some runs may be missing below, 1 could not be read. Rebuild the index with `salvo report --rebuild`.\n"
    )
    assert [of["failed"] for of in json.loads(report("--json", "--failures").stdout)["batches"]] == [2]
    assert json.loads(report("01k9b", "--json").stdout)["batches"][0]["passed"] == 8


def test_the_index_is_made_again_on_request(store: RunStore) -> None:
    before = report().stdout
    (store.folder / "history.jsonl").unlink()
    shown = report("--rebuild")
    assert (shown.stdout, shown.stderr) == (before, "Index rebuilt: 12 runs.\n")
    assert store.last(2).skipped == 0


def test_one_damaged_batch_hides_no_other(store: RunStore) -> None:
    (store.folder / "batches" / "01k9later.json").write_bytes(b"{")
    shown = report()
    assert "01k9batch" in shown.stdout
    assert "Left out: " in shown.stderr
    assert "01k9later.json is damaged" in shown.stderr


def test_a_damaged_run_is_counted_and_its_batch_is_shown(store: RunStore) -> None:
    (store.folder / "runs" / "01k9batch-0001.json").write_bytes(b"{")
    shown = report("01k9batch")
    assert shown.stdout.startswith("book_flight  9/10 runs")
    assert "1 could not be read" in shown.stderr
    damaged = report("01k9batch-0001")
    assert damaged.exit_code == ExitCode.NOT_JUDGED
    assert "01k9batch-0001.json is damaged" in damaged.stderr


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--failures"], ["--rebuild"]])
def test_an_empty_history_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    shown = report(*arguments)
    assert shown.exit_code == ExitCode.NOTHING
    assert shown.stderr.endswith(f"No runs are stored in {tmp_path / '.salvo'}. Make some with `salvo run`.\n")
    assert shown.stdout in ("", '{\n  "salvo_report": 1,\n  "batches": []\n}\n')
    assert not (tmp_path / ".salvo").exists()


@pytest.mark.parametrize(
    "text, says",
    [
        ("01k9", "2 of the stored ids begin with '01k9'"),
        ("01k9batch-00", "10 of the stored ids begin with"),
        ("../../etc/passwd", "No run has an id that begins with"),
        ("zzz", "The nearest: 01k9later-0002"),
    ],
)
def test_an_id_that_is_not_one_is_a_usage_error(store: RunStore, text: str, says: str) -> None:
    shown = report(text)
    assert (shown.exit_code, shown.stdout) == (ExitCode.USAGE, "")
    assert says in shown.stderr


@pytest.mark.parametrize("options", [["--html", "report.html"], ["--grid"]])
def test_an_option_that_shows_a_whole_batch_names_the_batch_of_a_run(store: RunStore, options: list[str]) -> None:
    shown = report("01k9batch-0003", *options)
    assert (shown.exit_code, shown.stdout) == (ExitCode.USAGE, "")
    assert f"01k9batch-0003 is the id of a run, and {options[0]} shows a whole batch." in shown.stderr
    assert f"Its batch is 01k9batch: `salvo report 01k9batch {options[0]}" in shown.stderr
    assert "No batch has an id that begins with 'zzz'" in report("zzz", *options).stderr


def test_no_color_is_honoured_and_colours_never_reach_a_file(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" in CliRunner().invoke(salvo, ["report"], color=True).stdout
    assert "\x1b" not in report().stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in CliRunner().invoke(salvo, ["report"], color=True).stdout
