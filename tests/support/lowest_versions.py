"""Print pip constraints that pin every dependency to the lowest version that pyproject.toml allows: `make test-lowest`.

genai-prices, which no program needs, gets its locked version: its data is what the bundled table is compared with.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "pyproject.toml"
LOCKED = ROOT / "requirements" / "dev.txt"


def lowest_versions() -> list[str]:
    """Return one `name==version` per dependency, with the optional ones and those of the tools that must be exact."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    optional = [line for lines in project["optional-dependencies"].values() for line in lines]
    return [*map(_pinned, (*project["dependencies"], *optional)), _locked("genai-prices")]


def _pinned(requirement: str) -> str:
    match = re.match(r"([\w.-]+)(?:\[[^\]]*\])?>=([\w.]+)", requirement)
    if match is None:
        raise SystemExit(f"{requirement} has no lower bound.")
    return f"{match[1]}=={match[2]}"


def _locked(name: str) -> str:
    match = re.search(rf"^{name}==[\w.]+", LOCKED.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        raise SystemExit(f"{name} is not in {LOCKED}.")
    return match[0]


if __name__ == "__main__":
    print("\n".join(lowest_versions()))
