"""`salvo run --shard` and `salvo merge`: a batch that is made in parts is the batch that is made at once."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from salvo.cli.exit_codes import ExitCode
from tests.support.object_store import make_bucket, object_environment, object_store_server
from tests.support.processes import wait_until
from tests.support.project import UserProject
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say

SUITE = """
scenario: greet
adapter: openai
model: gpt-4o
seed: 100
runs: 7
min_pass_rate: 0.6
matrix:
  tone: [kind, short]
user_message: "{{ tone }}: say hello."
assertions:
  - type: text
    contains_all: [hello]
"""


def by_seed(request: ProviderRequest) -> Answer:
    """The third run of each cell fails, wherever and whenever it is made."""
    return Say("goodbye" if request.body["seed"] == 102 else "hello")


@pytest.fixture
def suite(project: UserProject) -> UserProject:
    shutil.rmtree(project.folder / "scenarios")
    project.write("scenarios/greet.yaml", SUITE)
    return project


def shard(project: UserProject, number: int, count: int, *options: str) -> Path:
    """Make a shard with a store of its own, as on a machine of its own, and return the store."""
    ran = project.salvo("run", "--shard", f"{number}/{count}", "--batch", "nightly", *options)
    assert ran.exit_code == 0, ran.output
    copy = project.folder / f"shard-{number}-of-{count}"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.move(project.store, copy)
    project.store.mkdir()
    return copy


def content(store: Path) -> dict[str, list[str]]:
    """Every file of a store, line by line, without times and durations; the index in the order of its runs."""
    files = {}
    for file in store.rglob("*"):
        if file.is_file() and file.name != ".lock" and "cache" not in file.parts:
            lines = [without_ids_and_times(line) for line in file.read_text().splitlines()]
            files[str(file.relative_to(store))] = sorted(lines) if file.name == "history.jsonl" else lines
    return files


def without_ids_and_times(text: str) -> str:
    text = re.sub(r"\b(req_|chatcmpl-|resp_)\w+", r"\1ID", text)  # the provider's, which numbers its answers
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)", "WHEN", text)
    text = re.sub(
        r'"(latency|seconds|created|[a-z_]*_at|average|p50|p95|max)": ?-?\d+(\.\d+)?(e-?\d+)?', r'"\1": 0', text
    )
    return re.sub(r'\b(time|value)="\d+\.\d+( s)?"', r'\1="0"', text)


def test_eight_shards_merged_are_the_batch_byte_for_byte(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        stores = [shard(suite, number, 8, "--record") for number in range(1, 9)]
        assert len(provider.requests) == 14
        merged = suite.salvo("merge", *map(str, stores), "-o", "merged.xml", "-o", "merged.jsonl", "-o", "merged.md")
        joined = content(suite.store)
        shutil.rmtree(suite.store)
        suite.store.mkdir()
        whole = suite.salvo(
            "run", "--batch", "nightly", "--record", "-o", "whole.xml", "-o", "whole.jsonl", "-o", "whole.md"
        )
    for name, lines in content(suite.store).items():
        assert joined.pop(name) == lines, name
    assert joined == {}
    assert merged.exit_code == whole.exit_code == 0
    assert without_ids_and_times(merged.stdout) == without_ids_and_times(whole.stdout)
    for kind in ("xml", "jsonl"):
        files = [(suite.folder / f"{name}.{kind}").read_text() for name in ("merged", "whole")]
        assert without_ids_and_times(files[0]) == without_ids_and_times(files[1])


def test_shards_differ_by_one_run_at_most_and_have_every_run_once(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        stores = [shard(suite, number, 4) for number in range(1, 5)]
    made = [[file.stem for file in (store / "runs").glob("*.json")] for store in stores]
    assert sorted(map(len, made)) == [3, 3, 4, 4]
    assert Counter(run_id for ids in made for run_id in ids).most_common(1)[0][1] == 1
    assert len(provider.requests) == 14


def test_a_shard_says_what_it_has_and_leaves_the_verdict_to_merge(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        ran = suite.salvo("run", "--shard", "1/2", "--batch", "nightly")
        assert ran.stdout == snapshot("""\
Shard 1/2: 7 of 14 runs stored, 6 passed, 1 failed.
The verdict is that of all shards: salvo merge STORE...
""")
        assert ran.exit_code == 0
        one = suite.folder / "one"
        shutil.move(suite.store, one)
        partial = suite.salvo("merge", str(one), "--json")
    assert partial.exit_code == 3  # the other shard could change the verdict
    assert [batch["missing"] for batch in json.loads(partial.stdout)["batches"]] == [3, 4]


def test_the_same_command_makes_only_what_is_missing(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        suite.salvo("run", "--shard", "1/2", "--batch", "nightly")
        suite.runs()[0].unlink()
        again = suite.salvo("run", "--shard", "1/2", "--batch", "nightly")
        assert len(provider.requests) == 8
        third = suite.salvo("run", "--shard", "1/2", "--batch", "nightly")
        assert len(provider.requests) == 8
        other = suite.salvo("run", "--shard", "1/2", "--batch", "tomorrow")
    assert again.exit_code == third.exit_code == other.exit_code == 0
    assert "Nothing is missing: every run was made." in third.stderr
    assert len(provider.requests) == 15


def test_without_a_name_the_content_of_the_files_is_the_name(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        suite.salvo("run", "--shard", "1/7")
        suite.salvo("run", "--shard", "1/7")
        assert len(provider.requests) == 2
        suite.write("scenarios/greet.yaml", SUITE.replace("say hello", "say hello to all"))
        suite.salvo("run", "--shard", "1/7")
    assert len(provider.requests) == 4


def test_a_batch_of_one_name_has_one_version_of_its_scenarios(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        one = shard(suite, 1, 2)
        suite.write("scenarios/greet.yaml", SUITE.replace("say hello", "say hello to all"))
        other = shard(suite, 2, 2)
        merged = suite.salvo("merge", str(one), str(other))
        shutil.copytree(one, suite.store, dirs_exist_ok=True)
        changed = suite.salvo("run", "--shard", "1/2", "--batch", "nightly")
    assert merged.exit_code == changed.exit_code == 2
    assert "has other content (its scenario) in" in merged.stderr
    assert str(one) in merged.stderr
    assert str(other) in merged.stderr
    assert "was started with another scenario" in changed.stderr


def test_merging_again_or_what_overlaps_changes_nothing(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        stores = [str(shard(suite, number, 2, "--record")) for number in (1, 2)]
    first = suite.salvo("merge", *stores)
    before = content(suite.store)
    again = suite.salvo("merge", *reversed(stores), stores[0])
    assert "14 runs added to" in first.stderr
    assert "0 runs added to" in again.stderr
    assert "14 already there" in again.stderr
    assert again.stdout == first.stdout
    assert content(suite.store) == before


def test_one_id_with_two_contents_is_an_error_that_names_both(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        one = shard(suite, 1, 2)
        other = suite.folder / "other"
        shutil.copytree(one, other)
        file = min((other / "runs").glob("*.json"))
        file.write_text(file.read_text().replace('"hello"', '"good morning"'))
    merged = suite.salvo("merge", str(one), str(other))
    assert merged.exit_code == 2
    assert f"The run {file.stem} has other content in {one} than in {other}." in merged.stderr
    assert suite.runs() == []


def test_merge_compares_with_a_baseline(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        stores = [str(shard(suite, number, 2)) for number in (1, 2)]
    assert suite.salvo("merge", *stores, "--into", "blessed/.salvo").exit_code == 0
    assert suite.salvo("merge", *stores).exit_code == 0
    assert suite.salvo("baseline", "bless", "latest").exit_code == 0
    compared = suite.salvo("merge", *stores, "--against-baseline")
    assert compared.exit_code == 0
    assert "Against the baseline (A):" in compared.stdout


@pytest.mark.parametrize(
    "options",
    [
        ("--shard", "1/2", "--until-sure", "--max-runs", "9"),
        ("--shard", "1/2", "--max-cost", "1"),
        ("--shard", "1/2", "--against-baseline"),
        ("--shard", "1/2", "--lf"),
        ("--shard", "3/2"),
        ("--shard", "0/2"),
        ("--shard", "two"),
        ("--shard", "1/2", "--resume", "latest"),
        ("--batch", " "),
    ],
)
def test_what_a_shard_cannot_decide_is_refused_before_anything_is_spent(
    suite: UserProject, options: tuple[str, ...]
) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        ran = suite.salvo("run", *options)
    assert ran.exit_code == 2, ran.output
    assert provider.requests == []


def test_the_printed_name_gives_the_verdict_of_shards_that_were_given_none(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        shards = [suite.salvo("run", "--shard", f"{number}/2", "--store", "shared") for number in (1, 2)]
        printed = r"the same command with --batch (\S+) and without --shard gives it"
        [name] = {match for ran in shards for match in re.findall(printed, ran.stdout)}
        whole = suite.salvo("run", "--batch", name, "--store", "shared")
    assert whole.exit_code == 0, whole.output
    assert "2 scenarios: 2 passed. 14 runs: 2 failed, 12 passed." in whole.stdout
    assert "Nothing is missing: every run was made." in whole.stderr
    assert len(provider.requests) == 14


def test_what_is_missing_of_a_named_batch_is_said_to_need_its_command(suite: UserProject) -> None:
    """Such a batch is not resumed, so no report may recommend it."""
    command = "the same salvo run --batch or --shard again"
    files = [suite.folder / f"report.{suffix}" for suffix in ("md", "html")]
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        store = str(shard(suite, 1, 2))
    merged = suite.salvo("merge", store, *(f"--output={file}" for file in files))
    quiet = suite.salvo("merge", store, "-q")
    shown = suite.salvo("report", "latest")
    for text in (merged.stdout, quiet.stdout, shown.stdout, *(file.read_text() for file in files)):
        assert command in text
        assert "--resume" not in text
    for run in suite.runs():
        run.unlink()
    batch_id = min((suite.store / "batches").glob("*.json")).stem
    nothing = suite.salvo("replay", batch_id, "--re-eval")
    assert nothing.exit_code == ExitCode.NOTHING
    assert command in nothing.stderr


def test_a_named_batch_is_continued_by_its_command_and_not_by_resume(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        suite.salvo("run", "--shard", "1/2", "--batch", "nightly")
        resumed = suite.salvo("run", "--resume", "latest")
    assert resumed.exit_code == 2
    assert "Call the command again that started it, with the same --batch or --shard" in resumed.stderr


def test_a_folder_without_a_store_is_named(suite: UserProject) -> None:
    merged = suite.salvo("merge", "nowhere")
    assert merged.exit_code == 2
    assert "There is no store in nowhere." in merged.stderr


def test_shards_share_an_object_store_and_none_makes_the_runs_of_another(suite: UserProject) -> None:
    with object_store_server() as endpoint, LoopbackProvider(lambda _: Say("hello")) as provider:
        make_bucket(endpoint, "shards")
        provider.hold()  # until the other command was refused, however slow the machine is
        suite.reach(provider)
        suite.environ |= {**object_environment(endpoint), "XDG_CACHE_HOME": str(suite.folder / "cached")}
        options = ("--batch", "nightly", "--store", "s3://shards/runs")
        first = suite.process("run", "--shard", "1/2", *options)
        wait_until(lambda: len(provider.requests) > 0)
        twice = suite.salvo("run", "--shard", "1/2", *options)
        provider.let_go()
        second = suite.salvo("run", "--shard", "2/2", *options)
        first.communicate(timeout=60)
        assert len(provider.requests) == 14
        whole = suite.salvo("run", *options)
    assert twice.exit_code == 2
    assert f"are being made by process {first.pid} on" in twice.stderr
    assert first.returncode == second.exit_code == 0, second.output
    assert "Nothing is missing: every run was made." in whole.stderr
    assert whole.exit_code == 0
    assert len(provider.requests) == 14
