"""Every file in the documents is used by a session there, and every piece of a file is what its product takes."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.documents import ROOT, WRITTEN, Block, blocks, name_of
from tests.docs.session import Shell

SMALLEST: dict[str, Any] = {
    "scenario": "piece",
    "adapter": "openai",
    "model": "gpt-5.4-mini",
    "user_message": "Hello.",
    "assertions": [{"type": "latency_limit", "max_seconds": 1}],
}
MADE = (ROOT / "src/salvo/scenarios/spec/templates/book_flight.yaml").read_text(encoding="utf-8")
"""The scenario that `salvo init` makes, whose agent a document may replace."""
PIECES = [
    pytest.param(block, id=f"{name_of(document)}:{block.line}")
    for document in WRITTEN
    for block in blocks(document)
    if block.language == "yaml" and not block.file
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_piece_of_a_scenario_makes_a_scenario(piece: Block, shell: Shell) -> None:
    whole = {**SMALLEST, **yaml.safe_load(piece.content)}
    if "turns" in whole or "user" in whole:  # a conversation
        del whole["user_message"]
    if whole["adapter"] != SMALLEST["adapter"] and "model" not in yaml.safe_load(piece.content):
        del whole["model"]
    shell.write("piece.yaml", yaml.safe_dump(whole))
    code, output = shell.run("salvo validate piece.yaml")
    first, *destinations = output.splitlines()
    assert code == 0, output
    assert re.fullmatch(r"1 scenario (with \d+ cells )?is valid\.", first)
    assert all(line.startswith(("Calls go to ", "The agent of ", "The MCP server ")) for line in destinations)


@pytest.mark.parametrize("document", WRITTEN, ids=name_of)
def test_a_file_is_used_by_the_session_it_stands_in(document: Path) -> None:
    """Python and JSON are always whole files: nothing that is shown goes without being run."""
    written = blocks(document)
    commands = "\n".join(block.content for block in written if block.language == "console")
    for block in written:
        if block.language in ("python", "json"):
            assert block.file, f"line {block.line}: which file is this?"
            named = Path(block.file)
            uses = [commands, MADE, *(other.content for other in written if other is not block)]
            assert any(named.name in use or f"{named.stem}:" in use for use in uses), block.file


def test_the_table_of_inputs_is_the_actions() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == list(action["inputs"])


def test_every_example_is_in_the_index_and_says_what_it_shows() -> None:
    index = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    for file in sorted((ROOT / "examples").glob("*/*")):
        if file.suffix in (".yaml", ".md", ".py", ".json") and file.parent.name != "tools":
            assert f"]({file.parent.name}/{file.name})" in index
        if file.parent.name == "scenarios":
            assert file.read_text(encoding="utf-8").startswith("# ")
        if file.suffix == ".py":
            assert file.read_text(encoding="utf-8").startswith('"""')
