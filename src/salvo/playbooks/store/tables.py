"""The tables. Their names begin with byop_, because DATABASE_URL may name a database with other tables.

JSON is stored as ASCII text: the output of models may contain characters that neither database can store (NUL, lone
surrogates), and a hash over a text needs the exact text. Short columns come before long ones, so that a list does not
read the long ones. Columns that were added later come last; an index has those that the queue of evaluations reads.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
    literal_column,
    text,
)

metadata = MetaData()

# Ids are compared by code points, independently of the server's locale.
_Name = Text().with_variant(Text(collation="C"), "postgresql")

playbooks = Table(
    "byop_playbooks",
    metadata,
    Column("logic_hash", _Name, primary_key=True),
    Column("id", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("document", Text, nullable=False),
)

playbook_versions = Table(
    "byop_playbook_versions",
    metadata,
    Column("playbook_id", _Name, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("version", Text, nullable=False),
    Column("logic_hash", _Name, nullable=False),
    Column("saved_at", Text, nullable=False),
    Column("saved_by", Text, nullable=False),
    Column("withdrawn_at", Text),
    Column("note", Text, nullable=False),
    Column("document", Text, nullable=False),
    Index("byop_playbook_versions_by_hash", "logic_hash"),
)
"""Playbooks that people saved to use them by their id. A version is never changed: the next one is another row."""

_LISTED = ("evaluator", "playbook_hash", "mode", "status", "incomplete", "state")

evaluations = Table(
    "byop_evaluations",
    metadata,
    Column("id", _Name, primary_key=True),
    Column("group_id", _Name),
    Column("created_at", Text, nullable=False),
    Column("touched_at", Text, nullable=False),
    Column("finished_at", Text),
    Column("owner", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("subject", _Name, nullable=False),
    Column("mode", Text, nullable=False),
    Column("runs", Integer, nullable=False),
    Column("evaluator", Text, nullable=False),
    Column("playbook_hash", _Name, ForeignKey("byop_playbooks.logic_hash"), nullable=False),
    Column("inputs_fingerprint", Text, nullable=False),
    Column("stored_in_full", Boolean, nullable=False),
    Column("status", Text),
    Column("consistency", Float),
    Column("incomplete", Boolean),
    Column("report_hash", Text),
    Column("outcomes", Text),
    Column("request", Text, nullable=False),
    Column("inputs", Text),
    Column("report", Text),
    Column("lease_until", Text),
    Column("began_at", Text),
    Column("turn", Integer),
    Column("client", _Name),
    Column("requirement", _Name),
    Column("client_token", _Name),
    Index("byop_evaluations_by_series", "playbook_hash", "subject", "id"),
    Index("byop_evaluations_by_token", "client_token", unique=True),
    Index("byop_evaluations_by_group", "group_id", "state", "id"),
    # With all that lists are searched, filtered and sorted by: otherwise the texts of every evaluation would be read.
    Index("byop_evaluations_listed", "id", "subject", *_LISTED),
    Index("byop_evaluations_by_subject", "subject", "id", *_LISTED),
)

batches = Table(
    "byop_batches",
    metadata,
    Column("id", _Name, primary_key=True),
    Column("created_at", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("subject", _Name, nullable=False),
    Column("planned", Integer, nullable=False),
    Column("unread", Text, nullable=False),
)
"""Documents that were given together. Their evaluations have the id in `group_id`."""

IS_RUNNING = evaluations.c.state == literal_column("'running'")
"""Written out, not as a parameter: otherwise neither database would use the index of running evaluations."""


@event.listens_for(evaluations, "after_create")
def _create_index_of_running(_table: Table, connection: Connection, **_options: object) -> None:
    # The options of an `Index` would load SQLAlchemy's code for PostgreSQL in every command, which takes half as long
    # as loading the rest of SQLAlchemy. Both databases understand this statement.
    columns = "turn, id, owner, lease_until, began_at, client, requirement, state"
    connection.execute(
        text(f"CREATE INDEX byop_evaluations_running ON byop_evaluations ({columns}) WHERE state = 'running'")
    )


# A table of its own, because a list must not read through the long columns of an evaluation to find a later one.
documents = Table(
    "byop_documents",
    metadata,
    Column("evaluation_id", _Name, ForeignKey("byop_evaluations.id", ondelete="CASCADE"), primary_key=True),
    Column("title", Text, nullable=False),
    Index("byop_documents_titles", "evaluation_id", "title"),
)

indexed_texts = Table(
    "byop_indexed_texts",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("evaluation_id", _Name, ForeignKey("byop_evaluations.id", ondelete="CASCADE"), nullable=False, unique=True),
    Column("complete", Boolean, nullable=False),
)
"""The evaluations whose texts can be searched. A text with too many words for the index is not `complete` in it."""

text_words = Table(
    "byop_text_words",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("word", _Name, nullable=False, unique=True),
)

word_occurrences = Table(
    "byop_word_occurrences",
    metadata,
    Column("word_id", Integer, ForeignKey("byop_text_words.id", ondelete="CASCADE"), primary_key=True),
    Column("text_number", Integer, ForeignKey("byop_indexed_texts.number", ondelete="CASCADE"), primary_key=True),
    Index("byop_word_occurrences_by_text", "text_number", "word_id"),
    sqlite_with_rowid=False,
)

texts_to_index = Table(
    "byop_texts_to_index",
    metadata,
    Column("evaluation_id", _Name, ForeignKey("byop_evaluations.id", ondelete="CASCADE"), primary_key=True),
)
"""The evaluations of earlier versions whose texts a server has still to index. Until then a search reads them."""

votes = Table(
    "byop_votes",
    metadata,
    Column("evaluation_id", _Name, ForeignKey("byop_evaluations.id", ondelete="CASCADE"), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("check_id", _Name, nullable=False),
    Column("run", Integer, nullable=False),
    Column("valid", Boolean, nullable=False),
    Column("result", Text, nullable=False),
    Column("vote_sha256", Text, nullable=False),
    Column("exchanges_sha256", Text, nullable=False),
    Column("vote", Text, nullable=False),
    Column("exchanges", Text, nullable=False),
    UniqueConstraint("evaluation_id", "check_id", "run", name="byop_votes_one_a_run"),
)

baselines = Table(
    "byop_baselines",
    metadata,
    Column("evaluation_id", _Name, ForeignKey("byop_evaluations.id", ondelete="CASCADE"), primary_key=True),
    Column("playbook_hash", _Name, nullable=False),
    Column("subject", _Name, nullable=False),
    Column("saved_at", Text, nullable=False),
    Index("byop_baselines_by_series", "playbook_hash", "subject", "saved_at"),
)

reviews = Table(
    "byop_reviews",
    metadata,
    Column("event_id", _Name, primary_key=True),
    Column("evaluation_id", _Name, ForeignKey("byop_evaluations.id", ondelete="CASCADE"), nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("at", Text, nullable=False),
    Column("actor", _Name, nullable=False),
    Column("authenticated", Boolean, nullable=False),
    Column("action", Text, nullable=False),
    Column("check_id", _Name),
    Column("finding", Integer),
    Column("result", Text),
    Column("assignee", _Name),
    Column("target", _Name),
    Column("blind", Boolean, nullable=False),
    Column("seen", Integer, nullable=False),
    Column("state_hash", Text),
    Column("reason_sha256", Text),
    UniqueConstraint("evaluation_id", "sequence", name="byop_reviews_in_order"),
)

review_texts = Table(
    "byop_review_texts",
    metadata,
    Column("event_id", _Name, ForeignKey("byop_reviews.event_id", ondelete="CASCADE"), primary_key=True),
    Column("salt", Text, nullable=False),
    Column("reason", Text, nullable=False),
)
"""What people wrote, apart from their decisions: a text can be erased, and the audit log stays as it is."""

audit = Table(
    "byop_audit",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("hash", Text, nullable=False),
    Column("evaluation_id", _Name, nullable=False),
    Column("entry", Text, nullable=False),
    Index("byop_audit_by_evaluation", "evaluation_id"),
)

audit_signatures = Table(
    "byop_audit_signatures",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("public_key", _Name, primary_key=True),
    Column("statement", Text, nullable=False),
    Column("value", Text, nullable=False),
)

users = Table(
    "byop_users",
    metadata,
    Column("name_key", _Name, primary_key=True),
    Column("name", _Name, nullable=False),
    Column("role", Text, nullable=False),
    Column("disabled", Boolean, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("password_set_at", Text),
    Column("password_hash", Text),
    Column("oidc_issuer", _Name),
    Column("oidc_subject", _Name),
    Index("byop_users_by_identity", "oidc_issuer", "oidc_subject", unique=True),
)

user_sessions = Table(
    "byop_user_sessions",
    metadata,
    Column("id_hash", _Name, primary_key=True),
    Column("name_key", _Name, ForeignKey("byop_users.name_key", ondelete="CASCADE"), nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
)

oidc_logins = Table(
    "byop_oidc_logins",
    metadata,
    Column("key", _Name, primary_key=True),
    Column("expires_at", Text, nullable=False),
    Column("nonce", Text, nullable=False),
    Column("code_verifier", Text, nullable=False),
    Column("redirect_url", Text, nullable=False),
    Column("return_to", Text, nullable=False),
)
"""Logins that a browser began and the OIDC provider has not answered yet."""

share_links = Table(
    "byop_share_links",
    metadata,
    Column("id", _Name, primary_key=True),
    Column("evaluation_id", _Name, ForeignKey("byop_evaluations.id", ondelete="CASCADE"), nullable=False),
    Column("token_hash", _Name, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("authenticated", Boolean, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("revoked_at", Text),
    Column("revoked_by", Text),
    Column("first_opened_at", Text),
    Column("last_opened_at", Text),
    Column("note", Text, nullable=False),
    Index("byop_share_links_by_token", "token_hash", unique=True),
    Index("byop_share_links_by_evaluation", "evaluation_id"),
)
"""Links that show one report to whoever has their token, of which only the hash is stored."""

login_attempts = Table(
    "byop_login_attempts",
    metadata,
    Column("key", _Name, primary_key=True),
    Column("attempts", Integer, nullable=False),
    Column("blocked_until", Text, nullable=False),
)

NOT_EVIDENCE: dict[str, dict[str, str]] = {
    "byop_evaluations": {
        "owner": "the process that runs the evaluation",
        "touched_at": "when that process last wrote or renewed its lease",
        "lease_until": "until when other processes leave the evaluation to it",
        "began_at": "when it began; until then the evaluation waits for its turn",
        "turn": "the order in which waiting evaluations begin",
        "client": "who asked for the evaluation; clients take turns",
        "requirement": "what a server must have to run it",
        "client_token": "makes two equal requests one evaluation",
    },
    "byop_users": {"password_hash": "by which a password is recognised"},
    "byop_user_sessions": {
        "id_hash": "by which a browser is recognised that is logged in",
        "name_key": "whose session it is",
        "created_at": "when they logged in",
        "expires_at": "when the session ends",
    },
    "byop_indexed_texts": {
        "number": "by which the index of words names a text",
        "evaluation_id": "whose texts can be searched",
        "complete": "whether the index has all of their words",
    },
    "byop_text_words": {"id": "by which the index names a word", "word": "a word of a stored text, to find it"},
    "byop_word_occurrences": {"word_id": "a word", "text_number": "a text that has it"},
    "byop_texts_to_index": {"evaluation_id": "whose texts have still to be indexed"},
    "byop_oidc_logins": {
        "key": "the hash by which a login is found that a browser began at the OIDC provider",
        "expires_at": "when it has to begin again",
        "nonce": "which answer of the provider it waits for",
        "code_verifier": "with which this server gets that answer",
        "redirect_url": "where the provider sends the browser back to",
        "return_to": "which page is shown then",
    },
    "byop_login_attempts": {
        "key": "the hash of a name for which a password was tried",
        "attempts": "how many were tried",
        "blocked_until": "until when no other one is accepted",
    },
    "byop_share_links": {
        "last_opened_at": "when the link was last used; the log has the first time, and every export",
    },
}
"""The columns that only coordinate processes, let people in, or find texts. `byop verify` compares all others with
the audit log."""
