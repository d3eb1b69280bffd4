"""Mutated files of labels, of judges that wait, and of processes that share a store: no traceback, and no hang."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.hostile.checks import check, parts
from tests.hostile.mutations import mutated_bytes, mutated_json
from tests.support.greeting import GREET, JUDGE_POLITENESS, agent_and_judge, by_the_text
from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider

pytestmark = [pytest.mark.load, pytest.mark.timeout(600)]

EACH = 40


def restore(folder: Path, files: Mapping[Path, bytes]) -> None:
    """Make a folder what it was."""
    shutil.rmtree(folder)
    for file, content in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def mutated(content: bytes, seed: str) -> list[bytes]:
    """Return the file with other values, and with other bytes."""
    try:
        structures = list(mutated_json(json.loads(content), EACH // 2, seed))
    except ValueError:  # one document per line
        first, *others = content.splitlines()
        structures = [b"\n".join([line, *others]) for line in mutated_json(json.loads(first), EACH // 2, seed)]
    return [*structures, *mutated_bytes(content, EACH // 2, seed)]


@parts
def test_mutated_runs_that_wait_for_judges_are_collected_or_refused(project: UserProject, part: int) -> None:
    project.write("scenarios/book_flight.yaml", GREET + JUDGE_POLITENESS)
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "2", "--judges", "batch")
        [batch] = provider.batch_api.batches
        provider.end_batch(batch)
        original = contents(project.store)
        files = [file for file in original if {"pending", "question-batches"} & set(file.parts)]
        assert len(files) >= 3
        for file in files:
            for number, content in enumerate(mutated(original[file], f"{file.parent.name} {part}")):
                file.write_bytes(content)
                check(project.salvo, *(("report",) if number % 4 == 0 else ("collect",)))
                restore(project.store, original)
        project.salvo("collect")
        answered = {**original, **contents(project.store / "question-batches")}
        [answers] = answered.keys() - original.keys()
        for content in mutated(answered[answers], f"answers {part}"):
            restore(project.store, {**answered, answers: content})
            check(project.salvo, "collect")


@parts
def test_mutated_scores_and_judgings_that_wait_are_collected_or_refused(project: UserProject, part: int) -> None:
    project.write("scenarios/book_flight.yaml", GREET + JUDGE_POLITENESS)
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1")
        project.salvo("score", "--judges", "batch")
        project.salvo("judge", "--times", "1", "--judges", "batch")
        for batch in provider.batch_api.batches:
            provider.end_batch(batch)
        original = contents(project.store)
        files = [file for file in original if {"pending-scores", "pending-judgings"} & set(file.parts)]
        [score] = (project.store / "scores").iterdir()
        assert len(files) == 2
        for file in files:
            for number, content in enumerate(mutated(original[file], f"{file.parent.parent.name} {part}")):
                file.write_bytes(content)
                check(project.salvo, *(("report", score.name) if number % 4 == 0 else ("collect",)))
                restore(project.store, original)


@parts
def test_mutated_labels_are_read_or_refused(project: UserProject, part: int) -> None:
    project.write("scenarios/book_flight.yaml", GREET + JUDGE_POLITENESS + "labels: {}\n")
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "4", "-j", "1")
    project.salvo("label", "latest", "-n", "3", "--export", "labels.jsonl")
    table = (project.folder / "labels.jsonl").read_bytes()
    rows = [{**json.loads(line), "label": "pass"} for line in table.splitlines()]
    filled = "".join(json.dumps(row) + "\n" for row in rows).encode()
    for content in mutated(filled, f"import {part}"):
        (project.folder / "labels.jsonl").write_bytes(content)
        check(project.salvo, "label", "latest", "--import", "labels.jsonl")
    shutil.rmtree(project.store / "labels", ignore_errors=True)
    (project.folder / "labels.jsonl").write_bytes(filled)
    check(project.salvo, "label", "latest", "--import", "labels.jsonl")
    original = contents(project.store / "labels")
    assert original
    for file, stored in original.items():
        for number, content in enumerate(mutated(stored, f"{file.parent.name} {part}")):
            file.write_bytes(content)
            check(project.salvo, *(("report",) if number % 2 else ("label", "latest", "--export", "again.jsonl")))
        file.write_bytes(stored)


@parts
def test_mutated_files_of_shards_are_read_or_refused(project: UserProject, part: int) -> None:
    shared = project.folder / "shared"
    project.write("scenarios/book_flight.yaml", GREET)
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        project.reach(provider)
        command = ("run", "-n", "2", "--batch", "night", "--max-cost", "1", "-j", "auto", "--store", "shared")
        project.salvo(*command, "--shard", "1/2")
        original = contents(shared)
        folders = {"leases", "sessions", "rates", "budgets", "spending"}
        files = [file for file in original if folders & set(file.parts) and original[file]]
        assert {file.parent.name for file in files} >= {"leases", "budgets"}
        for file in files:
            for content in mutated(original[file], f"{file.parent.name} {part}"):
                file.write_bytes(content)
                check(project.salvo, *command, "--shard", "2/2")
                restore(shared, original)
