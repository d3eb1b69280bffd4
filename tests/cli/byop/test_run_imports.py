"""What `byop run` loads. SQLAlchemy takes longer to import than the rest, so it is loaded while the judge answers."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, sys
from salvo.cli.byop import byop
try:
    byop()
except SystemExit as error:
    print(json.dumps({"exit_code": error.code, "modules": sorted(sys.modules)}), file=sys.stderr)
"""


def test_an_evaluation_that_is_not_stored_loads_no_database(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("We assume that Swiss law applies. Ask a lawyer to review clause 4.")
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, "run", "note.txt", "--evaluator", "rules", "--no-store"],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    ended = json.loads(process.stderr.splitlines()[-1])
    assert ended["exit_code"] in (0, 1), process.stderr
    assert not {"sqlalchemy", "alembic", "fastapi"} & set(ended["modules"])
