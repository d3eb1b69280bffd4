"""Heads of the audit log that are kept outside of the database: a witness file, and a file in a git repository.

A log that was rebuilt or truncated no longer has the heads that were kept. Each kept head is a line of JSON.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from salvo.engine.jsonio.strict_json import loads_strict
from salvo.engine.runtime.files import read_regular
from salvo.engine.runtime.git import SECONDS, run_git
from salvo.errors import InputError
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.integrity import canonical
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState

PART = "anchor"

_LOG_OPTIONS = ("--first-parent", "-m", "--no-show-signature", "--no-ext-diff", "--no-textconv")


class KeptHead(NamedTuple):
    sequence: int
    hash: str
    at: str


def append_head(path: Path, log: Sequence[AuditEntry], *, at: str) -> KeptHead:
    """Append the newest entry of the log to a file. InputError if the file has heads that the log does not have."""
    if path.exists():
        problem = _problem(_parse(_read(path), str(path)), log)
        if problem is not None:
            raise InputError(f"{path} does not belong to this audit log: {problem}", hint="Name another file.")
    head = KeptHead(log[-1].sequence, log[-1].hash, at)
    line = canonical(head._asdict()) + b"\n"
    try:
        with path.open("ab") as file:
            file.write(line)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.", hint="Name another file.") from error
    return head


def commit(path: Path, head: KeptHead) -> str:
    """Commit the file in its git repository, and return the commit."""
    _git(path, "add", "--", path.name)
    _git(path, "commit", "--quiet", "-m", f"byop: entry {head.sequence} of the audit log", "--", path.name)
    return _git(path, "rev-parse", "HEAD").decode().strip()


def check_file(path: Path, log: Sequence[AuditEntry]) -> VerificationFinding:
    """Verify that the log has every head in a witness file."""
    heads = _parse(_read(path), str(path))
    if problem := _problem(heads, log):
        return VerificationFinding(PART, VerificationState.ALTERED, f"{path}: {problem}")
    newest = heads[-1]
    message = (
        f"Anchored in {path}: entry {newest.sequence}, on {newest.at} as the file says. The log has all "
        f"{len(heads)} of its heads. Whoever can write that file and the database could have changed both."
    )
    return VerificationFinding(PART, VerificationState.HOLDS, message)


def check_git(path: Path, log: Sequence[AuditEntry]) -> VerificationFinding:
    """Verify that the log has every head in the committed file, and that no commit removed one."""
    history = _git(path, "log", *_LOG_OPTIONS, "--format=%x00%H %cI", "--numstat", "--", path.name).decode()
    commits = [part.split() for part in history.split("\0")[1:]]
    if not commits:
        raise InputError(f"{path} is in no commit.", hint="`byop audit --git FILE` commits it.")
    for commit_hash, when, *counts in commits:
        if len(counts) > 1 and counts[1] != "0":
            message = f"{path}: the commit {commit_hash[:12]} ({when}) removed or changed heads that were committed."
            return VerificationFinding(PART, VerificationState.ALTERED, message)
    newest_commit, when = commits[0][:2]
    prefix = _git(path, "rev-parse", "--show-prefix").decode().strip()
    heads = _parse(_git(path, "cat-file", "blob", f"{newest_commit}:{prefix}{path.name}"), str(path))
    if problem := _problem(heads, log):
        return VerificationFinding(PART, VerificationState.ALTERED, f"{path}, commit {newest_commit[:12]}: {problem}")
    message = (
        f"Anchored in the git commit {newest_commit[:12]} on {when}, as it says: entry {heads[-1].sequence}. The "
        f"log has all {len(heads)} heads that were committed. A copy of the repository elsewhere makes this evidence."
    )
    return VerificationFinding(PART, VerificationState.HOLDS, message)


def _problem(heads: Sequence[KeptHead], log: Sequence[AuditEntry]) -> str | None:
    hashes = {entry.sequence: entry.hash for entry in log}
    for head in heads:
        if head.sequence not in hashes:
            return f"The audit log was truncated: entry {head.sequence} was kept on {head.at}, and it is not there."
        if hashes[head.sequence] != head.hash:
            return (
                f"The audit log was rebuilt: entry {head.sequence} was kept on {head.at} as {head.hash}, and it is now "
                f"{hashes[head.sequence]}."
            )
    return None


def _parse(content: bytes, name: str) -> list[KeptHead]:
    heads = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            value = loads_strict(line)
            head = KeptHead(**value)
        except (ValueError, TypeError) as error:
            raise InputError(f"Line {number} of {name} is not a head of an audit log.") from error
        if [type(part) for part in head] != [int, str, str]:
            raise InputError(f"Line {number} of {name} is not a head of an audit log.")
        heads.append(head)
    if not heads:
        raise InputError(f"{name} has no heads of an audit log.", hint="`byop audit --witness FILE` appends one.")
    return heads


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        hint = "`byop audit --witness FILE` makes it."
        raise InputError(f"{path} cannot be read: {error.strerror}.", hint=hint) from error


def _git(path: Path, *arguments: str) -> bytes:
    """Run git in the folder of the file."""
    try:
        result = run_git(path.absolute().parent, *arguments)
    except FileNotFoundError as error:
        raise InputError(
            "git is not installed, or the folder does not exist.", hint="Use --witness instead."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise InputError(f"git {arguments[0]} did not end within {SECONDS} s.") from error
    if result.returncode:
        reason = result.stderr.decode(errors="replace").strip() or result.stdout.decode(errors="replace").strip()
        raise InputError(f"git {arguments[0]} failed for {path}: {reason}")
    return result.stdout
