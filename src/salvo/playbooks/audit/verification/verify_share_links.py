"""Compare the share links of a report with the audit log. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from salvo.engine.text.formatting import pluralize
from salvo.playbooks.audit.projection import LoggedEvaluation, LoggedRows
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState, join_first
from salvo.playbooks.audit.verification.verify_rows import row_changes
from salvo.playbooks.store.records import RawRows
from salvo.playbooks.store.tables import share_links

PART = "share links"


def check_share_links(rows: RawRows, log: LoggedRows) -> list[VerificationFinding]:
    """Name every link that was altered, removed or added; nothing for a report that nobody shared."""
    logged = log.evaluations.get(str((rows.evaluation or {}).get("id")), LoggedEvaluation())
    if not rows.share_links and not logged.share_links:
        return []
    if logged.unreadable:
        message = "The share links cannot be compared with the audit log: an entry about the report was altered."
        return [VerificationFinding(PART, VerificationState.UNKNOWN, message)]
    changes = [*_changes(rows, logged)]
    if changes:
        message = f"Share links were altered after they were stored: {join_first(changes)}."
        return [VerificationFinding(PART, VerificationState.ALTERED, message)]
    message = f"{pluralize(len(rows.share_links), 'share link is', 'share links are')} what the audit log says."
    return [VerificationFinding(PART, VerificationState.HOLDS, message)]


def _changes(rows: RawRows, logged: LoggedEvaluation) -> Iterator[str]:
    stored = {str(row["id"]): row for row in rows.share_links}
    for link_id, row in stored.items():
        expected = logged.share_links.get(link_id)
        if expected is None:
            yield f"the link {link_id!r} was added to {share_links.name}"
        else:
            yield from (f"of the link {link_id}, {change}" for change in row_changes(share_links, row, expected))
    yield from (
        f"the link {link_id} was removed from {share_links.name}"
        for link_id in logged.share_links
        if link_id not in stored
    )
