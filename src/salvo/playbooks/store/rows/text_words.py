"""The words of stored texts, by which evaluations are found without reading their texts.

A word is what stands between white space, in lower case. A search looks for its words within these, so it finds the
same as reading every text would. The words that only an erased text had are erased with it.

Texts that were stored before there was an index are indexed a few at a time while a server runs. Until then a search
reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, exists, false, func, insert, or_, select

from salvo.engine.jsonio import json_codec
from salvo.playbooks.evaluate.inputs import NAMES
from salvo.playbooks.store.column_text import as_storable
from salvo.playbooks.store.damage import PARSE_ERRORS
from salvo.playbooks.store.tables import evaluations, indexed_texts, text_words, texts_to_index, word_occurrences

MAX_WORDS = 20_000
"""Different words of one text that are indexed. A text with more is read whenever texts are searched."""
_MAX_LENGTH = 200
"""Characters of a word that is searched for. A longer one is searched in parts."""


def add(connection: Connection, evaluation_id: str, texts: Mapping[str, str | None]) -> None:
    """Index the texts of an evaluation. Only in an exclusive transaction, so that nobody adds the same word."""
    insert_words(connection, evaluation_id, distinct_words(texts))


def insert_words(connection: Connection, evaluation_id: str, distinct: set[str]) -> None:
    is_complete = len(distinct) <= MAX_WORDS
    row = {"evaluation_id": evaluation_id, "complete": is_complete}
    number = connection.execute(insert(indexed_texts).values(row).returning(indexed_texts.c.number)).scalar_one()
    if is_complete and distinct:
        occurrences = [{"new_word": word, "number": number} for word in sorted(distinct)]
        connection.execute(_INSERT_WORD, occurrences)
        connection.execute(_INSERT_OCCURRENCE, occurrences)


_NEW_WORD = bindparam("new_word", type_=text_words.c.word.type)
# Not ON CONFLICT DO NOTHING: on PostgreSQL, each word that is known would use up an id.
_INSERT_WORD = insert(text_words).from_select(
    ["word"], select(_NEW_WORD).where(~exists().where(text_words.c.word == _NEW_WORD))
)
_INSERT_OCCURRENCE = insert(word_occurrences).from_select(
    ["word_id", "text_number"],
    select(text_words.c.id, bindparam("number", type_=indexed_texts.c.number.type)).where(
        text_words.c.word == _NEW_WORD
    ),
)


def waiting(connection: Connection) -> int:
    """Return how many evaluations have texts that are not indexed yet."""
    return connection.scalar(select(func.count()).select_from(texts_to_index)) or 0


def read_next(connection: Connection, count: int) -> dict[str, set[str]]:
    """Return the words of the texts that are to be indexed next, by evaluation. Those that are damaged have none."""
    query = (
        select(texts_to_index.c.evaluation_id, evaluations.c.inputs)
        .join(evaluations, evaluations.c.id == texts_to_index.c.evaluation_id)
        .order_by(texts_to_index.c.evaluation_id.desc())
        .limit(count)
    )
    return {evaluation_id: distinct_words(_texts(inputs)) for evaluation_id, inputs in connection.execute(query)}


def index(connection: Connection, words: Mapping[str, set[str]]) -> None:
    """Index evaluations, unless they were erased or indexed meanwhile. Only in an exclusive transaction."""
    for evaluation_id, distinct in words.items():
        removal = delete(texts_to_index).where(texts_to_index.c.evaluation_id == evaluation_id)
        if connection.execute(removal).rowcount:
            insert_words(connection, evaluation_id, distinct)


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
    """Yield the evaluations that are not indexed, or not with all of their words, and whose texts have all of these."""
    incomplete = select(indexed_texts.c.evaluation_id).where(indexed_texts.c.complete.is_(False))
    unindexed = incomplete.union_all(select(texts_to_index.c.evaluation_id))
    query = select(evaluations.c.id, evaluations.c.inputs).where(evaluations.c.id.in_(unindexed))
    for evaluation_id, inputs in connection.execute(query):
        text = "\n".join(as_storable((text or "").casefold()) for text in _texts(inputs).values())
        if all(word in text for word in words):
            yield evaluation_id


def _texts(inputs: str) -> dict[str, str | None]:
    """Return the stored texts by name; none if they are damaged, which `byop verify` reports."""
    try:
        document = json_codec.loads(inputs)
        texts = {name: document.get(name) for name in NAMES}
    except PARSE_ERRORS:
        return {}
    return texts if all(text is None or isinstance(text, str) for text in texts.values()) else {}


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
