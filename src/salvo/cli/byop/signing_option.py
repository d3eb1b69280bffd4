"""The key that a report's files are signed with, where one is named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey
    from salvo.playbooks.report.report import Report, ReportFile

sign_option = click.option(
    "--sign",
    "signing_key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Sign the report's files with this key (byop keys new).",
)


def read_key(path: Path | None) -> SigningKey | None:
    """Before anything else is done, so that a key which cannot be read costs nothing."""
    if path is None:
        return None
    from salvo.playbooks.audit import signing

    return signing.read_key(path)


def sealed(report: Report, key: SigningKey | None) -> ReportFile:
    from salvo.playbooks.report.report import ReportFile

    return ReportFile(report, None if key is None else key.sign(report))
