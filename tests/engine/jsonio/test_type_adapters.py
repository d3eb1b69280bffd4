"""Our own models are made without pydantic's plugins; everybody else's have them."""

import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = """
made = []

class Plugin:
    def new_schema_validator(self, schema, schema_type, schema_type_path, *rest):
        made.append(schema_type_path.name)
        return None, None, None

plugin = Plugin()
"""


@pytest.fixture
def watched(tmp_path: Path) -> Path:
    """A folder with an installed package that wants to watch every model."""
    (tmp_path / "watcher.py").write_text(PLUGIN)
    metadata = tmp_path / "watcher-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: watcher\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[pydantic]\nwatcher = watcher:plugin\n")
    return tmp_path


def told(code: str, folder: Path) -> str:
    prelude = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    done = subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


READ = """
from salvo.engine.jsonio.type_adapters import reader
from salvo.scenarios.store.index import IndexEntry
from salvo.scenarios.spec.schema import Scenario, YamlTool
from salvo.engine.jsonio.pydantic_errors import validate as fit
reader(IndexEntry)
fit(Scenario, {})
YamlTool(name="x").model_dump()
"""


def test_nobody_is_asked_to_watch_our_models(watched: Path) -> None:
    assert told(f"{READ}\nprint('watcher' in sys.modules)", watched) == "False"


def test_a_users_model_is_watched_after_ours_were_made(watched: Path) -> None:
    code = f"{READ}\nimport pydantic\nclass Theirs(pydantic.BaseModel): ...\nimport watcher\nprint(watcher.made)"
    assert "Theirs" in told(code, watched)


def test_what_a_user_said_of_plugins_stands(watched: Path) -> None:
    code = (
        "import os; os.environ['PYDANTIC_DISABLE_PLUGINS'] = 'another'\n"
        f"{READ}\nprint(os.environ['PYDANTIC_DISABLE_PLUGINS'])"
    )
    assert told(code, watched) == "another"
