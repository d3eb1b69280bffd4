"""`salvo init`."""

import os
from pathlib import Path

import pytest

from tests.support.project import UserProject


def test_init_never_overwrites_and_leaves_a_project_that_validates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = UserProject(tmp_path, monkeypatch)
    made.write("tools.py", "# mine\n")
    first = made.salvo("init")
    assert "kept     tools.py" in first.stdout
    assert (tmp_path / "tools.py").read_text() == "# mine\n"
    (tmp_path / "tools.py").unlink()
    made.salvo("init")
    assert made.salvo("validate").exit_code == 0
    assert "recordings" not in (tmp_path / ".salvo" / ".gitignore").read_text().split("\n", 1)[1]
    assert "All files exist already." in made.salvo("init").stdout


def test_a_name_that_no_encoding_has_is_still_shown(project: UserProject) -> None:
    folder = project.folder / os.fsdecode(b"caf\xe9")
    made = project.salvo("init", str(folder))
    assert (made.exit_code, r"caf\udce9" in made.stdout) == (0, True), made.output
