"""The entries of very many runs, in little memory: they are those that were added, in the order of their numbers."""

import random
import tracemalloc
from dataclasses import replace

import pytest

from salvo.scenarios.analysis.summary import summarise
from salvo.scenarios.result import Outcome
from salvo.scenarios.store.index import IndexEntry, Judged
from salvo.scenarios.store.run_entries import RunEntries
from tests.support.runs import batch

OUTCOMES = [Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.PENDING]


def entry(number: int) -> IndexEntry:
    return IndexEntry(
        f"01k9batch-{number:04d}",
        "01k9batch",
        "refund",
        number,
        "openai",
        "gpt-5.4-mini",
        "2026-11-18T15:00:00+00:00",
        OUTCOMES[number % 7 % 4],
        score=number / 10_000,
        latency=number * 0.1,
        cost=None if number % 11 == 0 else number * 1e-5,
        assertions=[Judged("polite", "text", number % 7 == 0, required=True)],
        content_hash=f"{number % 900:016x}",
    )


def shuffled(count: int) -> list[IndexEntry]:
    entries = [entry(number) for number in range(1, count + 1)]
    random.Random(7).shuffle(entries)
    return entries


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 3500])
def test_they_come_in_the_order_of_their_numbers_again_and_again(count: int) -> None:
    entries = RunEntries(shuffled(count))
    assert len(entries) == count
    assert list(entries) == list(entries) == [entry(number) for number in range(1, count + 1)]


def test_the_last_entry_of_a_run_counts_also_where_all_runs_around_it_are_there() -> None:
    entries = RunEntries(shuffled(2500))
    again = replace(entry(700), error="made again")
    entries.append(again)
    assert len(entries) == 2500
    assert again in entries
    assert entry(700) not in entries
    assert [item.number for item in entries] == list(range(1, 2501))


def test_a_summary_is_that_of_a_plain_list() -> None:
    entries, many = shuffled(2500), batch(runs=2500)
    assert summarise(many, RunEntries(entries)) == summarise(many, entries)


@pytest.mark.parametrize("count", [10, 1_000, 2_500])
def test_the_entries_of_two_parts_are_those_of_the_whole_and_the_second_part_counts(count: int) -> None:
    entries = shuffled(count)
    earlier, later = RunEntries(entries[: count // 2]), RunEntries(entries[count // 2 :])
    assert list(earlier | later) == list(RunEntries(entries))
    assert list(RunEntries() | RunEntries(entries)) == list(RunEntries(entries) | RunEntries())
    assert (len(earlier), len(later)) == (count // 2, count - count // 2)  # neither part is changed
    again = replace(entry(1), score=0.25)
    assert next(iter(RunEntries(entries) | RunEntries([again]))) == again


def test_the_runs_of_a_shard_are_kept_as_small_as_those_of_a_whole_batch() -> None:
    """A shard has every eighth run, so that no thousand consecutive ones are ever complete."""
    entries = [entry(number) for number in range(1, 80_001, 8)]
    assert list(RunEntries(entries)) == entries
    tracemalloc.start()
    packed = RunEntries(entry(number) for number in range(1, 80_001, 8))
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(packed) == 10_000
    assert kept < 10_000 * 300
