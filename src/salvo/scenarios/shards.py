"""Named batches and their shards: the same ids and the same split on every machine, without talking to each other.

A batch that is made by several commands has a name. Its ids are derived from the name, the commit, the cell and the
number of the run, so that commands which know nothing of each other make parts of the same batch.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import TIME_DIGITS, base32, id_time
from salvo.engine.runtime.files import read_regular
from salvo.engine.runtime.git import commit_time
from salvo.errors import UsageError
from salvo.records import record
from salvo.scenarios.result import Batch
from salvo.scenarios.spec.project import Project

MOST_SHARDS = 10_000
_NAME_DIGITS = 11
_INDEX_DIGITS = 3
_CELL_DIGITS = 5
_NAMED_ID_DIGITS = TIME_DIGITS + _NAME_DIGITS + _INDEX_DIGITS + _CELL_DIGITS
_OWN_FIELDS = {"created_at", "mcp_servers", "settings", "lost_attempts"}
"""What each part of a batch has of its own. Settings and servers are compared with more care."""
_OWN_SETTINGS = {"at_once"}


@record
class Shard:
    """One of several equal parts of a command's runs."""

    index: int
    """From 1."""
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2/8`. Raise ValueError if it is no shard."""
        match = re.fullmatch(r"(\d{1,5})/(\d{1,5})", text)
        if not match or not 1 <= int(match[1]) <= int(match[2]) <= MOST_SHARDS:
            raise ValueError(f"{text} is not a shard, such as 2/8: the second of eight.")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def numbers(self, runs: Iterable[int], offset: int) -> list[int]:
        """Return the numbers of a cell's runs that belong to this shard.

        `offset` is the number of runs of all cells before. The runs of all cells are dealt out in turn, so that shards
        differ by one run at most.
        """
        return [number for number in runs if (offset + number - 1) % self.count == self.index - 1]


@record
class BatchName:
    """The name that all commands of a batch share, and the commit that they run."""

    name: str
    made_at: int | None = None
    """When the commit was made, in seconds since 1970: ids sort by time. None outside of a repository."""

    @classmethod
    def at_commit(cls, project: Project, name: str, commit: str | None) -> Self:
        made_at = commit_time(project.root, commit) if commit else None
        return cls(f"{name}@{commit}" if commit else name, made_at)

    @property
    def command_id(self) -> str:
        return id_time(self.made_at or 0) + _digits(self.name, _NAME_DIGITS)

    def batch_id(self, index: int, cell: str) -> str:
        """Return the id of a cell's batch. The batches of a command sort in the order of its cells."""
        return self.command_id + base32(index, _INDEX_DIGITS) + _digits(cell, _CELL_DIGITS)


def default_batch_name(project: Project, commit: str | None, files: Sequence[Path]) -> str:
    """Return the name of shards that were given none: the commit and the files' content."""
    return "-".join(filter(None, [commit, _content_hash(project, files)]))


def is_named(batch_id: str) -> bool:
    """Return whether the batch has a name, so that other commands may make runs of it, too."""
    return len(batch_id) == _NAMED_ID_DIGITS


def batch_difference(first: Batch, second: Batch) -> str | None:
    """Return the first field in which two parts of one batch differ although they must not."""
    one, other = json_codec.plain(first), json_codec.plain(second)
    for name in one:
        if name not in _OWN_FIELDS and one[name] != other[name]:
            return str(name)
    for name in sorted({*one["settings"], *other["settings"]} - _OWN_SETTINGS):
        if one["settings"].get(name) != other["settings"].get(name):
            return f"setting {name}"
    for name in sorted({*one["mcp_servers"]} & {*other["mcp_servers"]}):
        if one["mcp_servers"][name] != other["mcp_servers"][name]:
            return f"list of tools of the MCP server {name}"
    return None


def continue_batch(batch: Batch, stored: Batch) -> None:
    """Continue a batch as it was started. Raise UsageError if the command would make other runs than that one."""
    if stored.max_runs is not None:  # so many rounds were begun
        batch.runs, batch.rounds = stored.runs, stored.rounds
    if (field_name := batch_difference(batch, stored)) is not None:
        raise UsageError(
            f"The batch {batch.batch_id} of {batch.scenario_id} was started with another {field_name}.",
            hint="A batch has one version of everything that it runs: give this one another name with --batch.",
        )
    batch.created_at = stored.created_at
    batch.mcp_servers = stored.mcp_servers
    batch.settings = stored.settings
    batch.lost_attempts = stored.lost_attempts


def _digits(text: str, digits: int) -> str:
    return base32(int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()), digits)


def _content_hash(project: Project, files: Sequence[Path]) -> str:
    content = hashlib.sha256()
    for name, file in sorted((project.relative(file), file) for file in set(files)):
        for part in (name.encode("utf-8", "surrogateescape"), read_regular(file)):
            content.update(len(part).to_bytes(8) + part)
    return content.hexdigest()[:16]
