"""The names of a recording's files, and the notes that say how far a recording can be replayed."""

from __future__ import annotations

from collections.abc import Iterable

from salvo.errors import TapeCorruptError

HASHES_ONLY = "Only hashes were recorded, so it cannot be replayed."
PROGRAM_RUNS_AGAIN = (
    "A replay starts the program again, with its own tools and whatever else it reaches; "
    "only the answers of its models come from the recording."
)
SERVED_PROGRAM_RUNS_AGAIN = (
    "A replay starts the program again; the answers of its models and of its MCP tools come from the recording."
)

OWN_CONNECTIONS = "The adapter opened connections of its own"
"""How a note begins that says that a recording may not replay."""

REQUEST, RESPONSE, JUDGE = "request.json", "response.json", "judge.json"


def check_file_names(names: Iterable[str], name: str) -> None:
    """Raise TapeCorruptError if the recording `name` has other files than Salvo writes. Someone else put them there."""
    if unknown := sorted({*names} - {REQUEST, RESPONSE, JUDGE}):
        raise TapeCorruptError(
            f"The recording {name} has files that Salvo does not write: {', '.join(unknown)}.",
            hint="A recording is data in three files of JSON. Find out who added the others, and remove them.",
        )
