"""The words of stored texts, by which evaluations are found without reading their texts.

A word is what stands between white space, in lower case. A search looks for its words within these, so it finds the
same as reading every text would. The words that only an erased text had are erased with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, false, insert, or_, select

from salvo.engine.jsonio import json_codec
from salvo.playbooks.evaluate.inputs import NAMES
from salvo.playbooks.store.column_text import as_storable
from salvo.playbooks.store.damage import PARSE_ERRORS
from salvo.playbooks.store.tables import evaluations, indexed_texts, text_words, word_occurrences

MAX_WORDS = 20_000
"""Different words of one text that are indexed. A text with more is read whenever texts are searched."""
_MAX_LENGTH = 200
"""Characters of a word that is searched for. A longer one is searched in parts."""
_BATCH = 500


def add(connection: Connection, evaluation_id: str, texts: Mapping[str, str | None]) -> None:
    """Index the texts of an evaluation. Only in an exclusive transaction, so that nobody adds the same word."""
    insert_words(connection, evaluation_id, distinct_words(texts))


def insert_words(connection: Connection, evaluation_id: str, distinct: set[str]) -> None:
    words = sorted(distinct)
    is_complete = len(words) <= MAX_WORDS
    row = {"evaluation_id": evaluation_id, "complete": is_complete}
    number = connection.execute(insert(indexed_texts).values(row).returning(indexed_texts.c.number)).scalar_one()
    for start in range(0, len(words) if is_complete else 0, _BATCH):
        part = words[start : start + _BATCH]
        known = set(connection.scalars(select(text_words.c.word).where(text_words.c.word.in_(part))))
        if new := [{"word": word} for word in part if word not in known]:
            connection.execute(insert(text_words), new)
        ids = connection.scalars(select(text_words.c.id).where(text_words.c.word.in_(part)))
        connection.execute(insert(word_occurrences), [{"word_id": id_, "text_number": number} for id_ in ids])


def remove(connection: Connection, evaluation_id: str) -> None:
    """Forget the texts of an evaluation, and the words that no other text has."""
    number = connection.scalar(
        select(indexed_texts.c.number).where(indexed_texts.c.evaluation_id == evaluation_id).limit(1)
    )
    if number is None:
        return
    own, other = word_occurrences.alias("own"), word_occurrences.alias("other")
    connection.execute(
        delete(text_words).where(
            text_words.c.id.in_(select(own.c.word_id).where(own.c.text_number == number)),
            ~exists(other.c.word_id).where(other.c.word_id == text_words.c.id, other.c.text_number != number),
        )
    )
    connection.execute(delete(indexed_texts).where(indexed_texts.c.number == number))


def matches(connection: Connection, search: str) -> ColumnElement[bool]:
    """Return the condition that the texts of an evaluation have every word of the search."""
    words = [part for word in search.split() for part in _parts(as_storable(word.casefold()))]
    if not words:
        return false()
    texts_with = (
        # Not a join: SQLite would go through all occurrences to look up the word of each.
        select(word_occurrences.c.text_number).where(
            word_occurrences.c.word_id.in_(
                select(text_words.c.id).where(text_words.c.word.contains(word, autoescape=True))
            )
        )
        for word in words
    )
    indexed = select(indexed_texts.c.evaluation_id).where(
        and_(*(indexed_texts.c.number.in_(numbers) for numbers in texts_with))
    )
    return or_(evaluations.c.id.in_(indexed), evaluations.c.id.in_(list(_ids_by_reading(connection, words))))


def _ids_by_reading(connection: Connection, words: list[str]) -> Iterator[str]:
    """Yield the evaluations whose texts have too many words to be indexed, and all of these."""
    query = (
        select(evaluations.c.id, evaluations.c.inputs)
        .join(indexed_texts, indexed_texts.c.evaluation_id == evaluations.c.id)
        .where(indexed_texts.c.complete.is_(False))
    )
    for evaluation_id, inputs in connection.execute(query):
        try:
            document = json_codec.loads(inputs)
            text = "\n".join(as_storable((document.get(name) or "").casefold()) for name in NAMES)
        except PARSE_ERRORS:
            continue  # `byop verify` names what is damaged
        if all(word in text for word in words):
            yield evaluation_id


def distinct_words(texts: Mapping[str, str | None]) -> set[str]:
    words = {word for name in NAMES for word in (texts.get(name) or "").casefold().split()}
    return {piece for word in words for piece in _pieces(as_storable(word))}


def _pieces(word: str) -> Iterator[str]:
    """Yield overlapping pieces of a long word: each part of it that can be searched for is within one of them."""
    for start in range(0, max(len(word) - _MAX_LENGTH, 1), _MAX_LENGTH):
        yield word[start : start + 2 * _MAX_LENGTH]


def _parts(word: str) -> Iterator[str]:
    for start in range(0, len(word), _MAX_LENGTH):
        yield word[start : start + _MAX_LENGTH]
