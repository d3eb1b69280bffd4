"""Print pip constraints that pin every dependency to the lowest version that pyproject.toml allows: `make test-lowest`."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def lowest_versions() -> list[str]:
    """Return one `name==version` per dependency, with the optional ones."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    optional = [line for lines in project["optional-dependencies"].values() for line in lines]
    return [_pinned(line) for line in (*project["dependencies"], *optional)]


def _pinned(requirement: str) -> str:
    match = re.match(r"([\w.-]+)(?:\[[^\]]*\])?>=([\w.]+)", requirement)
    if match is None:
        raise SystemExit(f"{requirement} has no lower bound.")
    return f"{match[1]}=={match[2]}"


if __name__ == "__main__":
    print("\n".join(lowest_versions()))
