"""Every session in README, docs and examples is typed again, and prints what the document says it prints.

`SHOW=true pytest tests/docs/test_sessions.py` writes what is printed into the documents; the diff is reviewed like code.
"""

import os
from pathlib import Path

import pytest

from tests.docs.documents import WRITTEN, Block, blocks, name_of
from tests.docs.session import Shell, differences, exit_codes, with_outputs

FILES = {"yaml", "python", "json", "markdown"}


def test_a_block_says_what_it_is() -> None:
    """A session that is not called one would not be run."""
    known = FILES | {"console", "text", "mermaid"}
    found = {
        (name_of(document), block.line)
        for document in WRITTEN
        for block in blocks(document)
        if block.language not in known
    }
    assert not found


@pytest.mark.parametrize("document", WRITTEN, ids=name_of)
def test_the_sessions_of_a_document_are_true(document: Path, shell: Shell) -> None:
    printed: dict[int, str] = {}
    try:
        for block in blocks(document):
            if block.language in FILES and block.file:
                shell.write(block.file, block.content)
            if block.language == "console":
                _type_again(shell, block, printed)
    finally:
        if printed:
            document.write_text(with_outputs(document.read_text(encoding="utf-8"), printed), encoding="utf-8")


def _type_again(shell: Shell, block: Block, printed: dict[int, str]) -> None:
    """Adds what was printed where the document shows something else, by the line of the command."""
    for command, wanted in exit_codes(block):
        code, output = shell.run(command.command)
        assert code == wanted, f"line {command.line}: $ {command.command}\nexits {code}:\n{output}"
        if command.shown is not None and (wrong := differences(shell, command.shown, output)):
            assert os.environ.get("SHOW"), f"line {command.line}: $ {command.command}\n{wrong}"
            printed[command.line] = shell.as_shown(output)
            shell.remember(printed[command.line], output)
