"""Evaluations are found by the words of their texts, and an erased text leaves no word behind."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, text

from salvo.playbooks.store.history import HistoryFilters
from salvo.playbooks.store.rows import text_words
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.playbooks import some_inputs
from tests.support.stored_evaluations import begin_evaluation, finish_evaluation


def search(store: EvaluationStore, words: str) -> list[str]:
    return [row.id for row in store.history(HistoryFilters(search=words, in_texts=True), descending=False).rows]


def test_every_word_of_a_search_must_be_in_the_texts_whole_or_in_part(store: EvaluationStore) -> None:
    begin_evaluation(
        store, "id-0001", inputs=some_inputs("Die Produkthaftung.\nStraße 7, (b)-(d).", prompt="Bitte prüfen")
    )
    begin_evaluation(store, "id-0002", inputs=some_inputs("Die HAFTUNG ist\x00 beschränkt.", source_document="Ärger"))
    assert search(store, "haftung") == ["id-0001", "id-0002"]
    assert search(store, "haftung die") == ["id-0001", "id-0002"]
    assert search(store, "STRASSE haftung") == ["id-0001"]
    assert search(store, "(b)-(d)") == ["id-0001"]
    assert search(store, "ÄRGER") == ["id-0002"]
    assert search(store, "prüfen") == ["id-0001"]
    assert search(store, "haftung fehlt") == []
    assert search(store, "h_ftung") == []
    assert search(store, "%") == []


def test_only_the_texts_are_searched_not_the_names_of_their_fields(store: EvaluationStore) -> None:
    begin_evaluation(store, inputs=some_inputs("First line.\nThe second line."))
    for not_in_the_text in ("ai_output", "raw_hashes", "nThe", "null"):
        assert search(store, not_in_the_text) == []


@pytest.mark.parametrize("length", [199, 400, 401, 1234])
def test_a_word_is_found_by_any_part_of_it_however_long_it_is(store: EvaluationStore, length: int) -> None:
    word = "".join(chr(0x4E00 + number) for number in range(length))
    begin_evaluation(store, inputs=some_inputs(f"A {word} word."))
    begin_evaluation(store, "id-0002")
    for start in range(0, length, 67):
        assert search(store, word[start : start + 200]) == ["id-0001"]
    assert search(store, word) == ["id-0001"]


def test_a_text_with_too_many_words_for_the_index_is_found_all_the_same(
    store: EvaluationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_words, "MAX_WORDS", 100)
    begin_evaluation(store, "id-0001", inputs=some_inputs(" ".join(f"Word-{number}" for number in range(101))))
    begin_evaluation(store, "id-0002", inputs=some_inputs("word-99"))
    assert search(store, "WORD-99") == ["id-0001", "id-0002"]
    assert search(store, "word-99 d-100") == ["id-0001"]
    assert search(store, "word-101") == []
    store.cancel("id-0001")
    store.delete("id-0001")
    assert search(store, "word-99") == ["id-0002"]


def test_an_erased_text_is_not_found_and_leaves_no_word_in_the_index(store: EvaluationStore) -> None:
    finish_evaluation(store, "id-0001", inputs=some_inputs("Shared words, and Abendrot."))
    finish_evaluation(store, "id-0002", inputs=some_inputs("Shared words, and others."))
    assert search(store, "abendrot") == ["id-0001"]
    store.delete("id-0001")
    assert search(store, "abendrot") == []
    assert search(store, "shared") == ["id-0002"]
    assert _index(store) == ["and", "others.", "shared", "words,"]
    store.delete("id-0002")
    assert _index(store) == []


def _index(store: EvaluationStore) -> list[str]:
    with store._database.reading() as connection:
        occurrences = set(connection.scalars(text("SELECT word_id FROM byop_word_occurrences")))
        words = list(connection.execute(text("SELECT id, word FROM byop_text_words")))
    assert {id_ for id_, _ in words} == occurrences
    return sorted(word for _, word in words)


def test_an_erased_word_is_gone_from_the_file(tmp_path: Path, clock: HeldClock) -> None:
    with EvaluationStore.open(f"sqlite:///{tmp_path / 'runs.db'}", clock) as store:
        finish_evaluation(store, inputs=some_inputs("About Abendrot."))
        finish_evaluation(store, "id-0002", inputs=some_inputs("About nothing."))
        assert b"abendrot" in _files(tmp_path)
        store.delete("id-0001")
        assert b"abendrot" not in _files(tmp_path)
        assert b"about" in _files(tmp_path)


def _files(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir()).lower()


def test_no_text_is_read_to_search_in_texts(store: EvaluationStore) -> None:
    finish_evaluation(store, inputs=some_inputs("About Abendrot."))
    with store._database.writing() as connection:
        connection.execute(text("UPDATE byop_evaluations SET inputs = 'unreadable'"))
    assert search(store, "abendrot") == ["id-0001"]
    assert search(store, "unreadable") == []


def test_only_the_occurrences_of_matching_words_are_read(tmp_path: Path, clock: HeldClock) -> None:
    statements: list[tuple[str, Any]] = []
    with EvaluationStore.open(f"sqlite:///{tmp_path / 'runs.db'}", clock) as store:
        event.listen(
            store._database._engine,
            "before_cursor_execute",
            lambda *arguments: statements.append((arguments[2], arguments[3])),
        )
        search(store, "two words")
    with closing(sqlite3.connect(tmp_path / "runs.db")) as database:
        plans = [
            str(database.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall())
            for statement, values in statements
            if "byop_word_occurrences" in statement
        ]
    assert plans
    for plan in plans:
        assert plan.count("SEARCH byop_word_occurrences USING PRIMARY KEY (word_id=?)") == 2, plan


def test_texts_of_which_only_hashes_are_stored_are_not_indexed(store: EvaluationStore) -> None:
    finish_evaluation(store, inputs=some_inputs("About Abendrot."), in_full=False)
    assert search(store, "abendrot") == []
    assert _index(store) == []


def test_texts_of_earlier_versions_are_read_by_a_search_until_they_are_indexed(url: str, clock: HeldClock) -> None:
    with EvaluationStore.open(url, clock) as store:
        finish_evaluation(store, "id-0001", inputs=some_inputs("About Abendrot."))
        finish_evaluation(store, "id-0002", in_full=False)
        finish_evaluation(store, "id-0003", inputs=some_inputs("Damaged."))
        with store._database.writing() as connection:
            _make_older(connection)
            connection.execute(text("UPDATE byop_evaluations SET inputs = '[' WHERE id = 'id-0003'"))
    with EvaluationStore.open(url, clock) as store:
        assert _index(store) == []
        begin_evaluation(store, "id-0004", inputs=some_inputs("Abendrot again."))
        finish_evaluation(store, "id-0005", inputs=some_inputs("Erased."))
        for left in (2, 1, 0):
            assert search(store, "abendrot") == ["id-0001", "id-0004"]
            assert store.history(HistoryFilters(search="abendrot", in_texts=True)).unindexed == left
            assert store.history(HistoryFilters(search="abendrot")).unindexed == 0
            assert store.index_texts(1) == max(left - 1, 0)
        assert _index(store) == ["abendrot", "abendrot.", "about", "again.", "erased."]


def test_a_text_that_is_erased_before_it_is_indexed_does_not_come_back(url: str, clock: HeldClock) -> None:
    with EvaluationStore.open(url, clock) as store:
        finish_evaluation(store, "id-0001", inputs=some_inputs("About Abendrot."))
        with store._database.writing() as connection:
            _make_older(connection)
    with EvaluationStore.open(url, clock) as store:
        with store._database.reading() as connection:
            words = text_words.read_next(connection, 1)
        store.delete("id-0001")
        with store._database.writing(alone=True) as connection:
            text_words.index(connection, words)
        assert (_index(store), store.index_texts(1)) == ([], 0)


def _make_older(connection: Connection) -> None:
    """Make the database as it was before texts were indexed: without all that was added since."""
    connection.execute(text("DROP INDEX byop_users_by_identity"))
    for column in ("oidc_issuer", "oidc_subject"):
        connection.execute(text(f"ALTER TABLE byop_users DROP COLUMN {column}"))
    added = (
        "byop_oidc_logins",
        "byop_texts_to_index",
        "byop_word_occurrences",
        "byop_text_words",
        "byop_indexed_texts",
    )
    for table in added:
        connection.execute(text(f"DROP TABLE {table}"))
    connection.execute(text("UPDATE byop_version SET version_num = '0009'"))
