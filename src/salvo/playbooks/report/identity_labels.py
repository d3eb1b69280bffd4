"""The identity of a document, for the head of every view of a report: title, file, producer, reviewer and time."""

from __future__ import annotations

from datetime import datetime

from salvo.engine.text.formatting import NamedValue
from salvo.playbooks.report.report import DocumentIdentity, Report

GENERAL_TITLE = "BYOP observability report"
UNKNOWN = "unknown"
NOT_RECORDED = "not recorded"


def identity(report: Report) -> list[NamedValue]:
    """Return which document this is about, and who had it evaluated when. It stands in the head of every view."""
    document = report.document_identity or DocumentIdentity()
    file = [
        *([NamedValue("File sha256", document.file_sha256, code=True)] if document.file_sha256 else []),
        *([NamedValue("Pages", str(document.pages))] if document.pages is not None else []),
    ]
    return [
        NamedValue("Document", document.title or NOT_RECORDED),
        NamedValue("File", document.file_name or NOT_RECORDED),
        *file,
        NamedValue("Producer (as declared)", declared_producer(report)),
        NamedValue(
            "Reviewer (authenticated)" if document.reviewer_authenticated else "Reviewer (as declared)",
            document.reviewer or NOT_RECORDED,
        ),
        NamedValue("Time", date_with_zone(report.timestamp)),
    ]


def title(report: Report) -> str:
    """Return what to call the report: the title of its document, else the name of its file, else a general name."""
    document = report.document_identity or DocumentIdentity()
    return document.title or document.file_name or GENERAL_TITLE


def declared_producer(report: Report) -> str:
    """Return the AI that wrote the text, as the requester named it."""
    producer = report.model_fingerprints.producer
    name = producer.declared_model_name or UNKNOWN
    return f"{producer.provider}/{name}" if producer.provider not in (None, UNKNOWN) else name


def date_with_zone(timestamp: str) -> str:
    """Return the time as people write it, with its time zone; a text that is not a time stays as it is."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return timestamp
    zone = moment.strftime("%Z") or "time zone not recorded"
    return f"{moment.day} {moment:%B %Y, %H:%M:%S} {zone}"
