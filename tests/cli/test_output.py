"""Foreign text on the terminal."""

import pytest

from tests.support.project import UserProject

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e"


@pytest.mark.parametrize(
    "command", [("validate",), ("run",), ("report", HOSTILE), ("replay", HOSTILE), ("run", HOSTILE)]
)
def test_no_escape_sequence_of_a_file_or_an_argument_reaches_the_terminal(
    project: UserProject, command: tuple[str, ...]
) -> None:
    quoted = HOSTILE.encode("unicode_escape").decode()
    project.write(
        "scenarios/hostile.yaml", f'scenario: "{quoted}"\n"{quoted}": 1\nadapter: "{quoted}"\nuser_message: hi\n'
    )
    ran = project.salvo(*command)
    assert ran.exit_code != 0
    assert not set(ran.output) & set("\x1b\x07\x9b\u202e"), ran.output
