"""`byop keys`."""

from pathlib import Path

from inline_snapshot import snapshot

from tests.support.stored_evaluations import Byop


def test_keys_are_never_overwritten(run: Byop, folder: Path) -> None:
    assert run("keys", "new", "key.pem").exit_code == 0
    refused = run("keys", "new", "key.pem")
    assert (refused.exit_code, refused.stderr) == (
        2,
        snapshot("""\
Error: key.pem already exists, and a key is never overwritten.
Name another file, or move that one away.
"""),
    )
