"""What is installed is locked: every dependency of the project, with the hashes of its files."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.package.conftest import CHECKOUT

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
GROUPS = PROJECT["dependency-groups"]
RUNTIME = PROJECT["project"]["dependencies"]
LOCKED = {
    "build.txt": PROJECT["build-system"]["requires"],
    "runtime.txt": RUNTIME,
    "dev.txt": [*RUNTIME, *PROJECT["project"]["optional-dependencies"]["postgresql"], *GROUPS["dev"]],
    "ray.txt": [*RUNTIME, *PROJECT["project"]["optional-dependencies"]["ray"]],
    "site.txt": GROUPS["site"],
    "pictures.txt": GROUPS["pictures"],
    "audit.txt": GROUPS["audit"],
    "mcp.txt": GROUPS["mcp"],
    "frameworks.txt": GROUPS["frameworks"],
}


def locked_versions(file: Path) -> dict[str, list[str]]:
    """The versions of each package: several where they differ by platform or Python."""
    versions: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([a-z0-9.-]+)==([^ ;\\]+)", file.read_text(), re.MULTILINE):
        versions.setdefault(name, []).append(version)
    return versions


@pytest.mark.parametrize("file", LOCKED)
def test_every_dependency_is_locked_within_its_range(file: str) -> None:
    versions = locked_versions(CHECKOUT / "requirements" / file)
    for requirement in map(Requirement, LOCKED[file]):
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        assert versions.get(name), f"{name} is not in {file}: run `make lock`"
        assert all(requirement.specifier.contains(version) for version in versions[name]), name


@pytest.mark.parametrize("file", LOCKED)
def test_every_locked_package_has_hashes(file: str) -> None:
    text = (CHECKOUT / "requirements" / file).read_text()
    packages = re.split(r"^(?=[a-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)[1:]
    assert packages
    assert [package for package in packages if "--hash=sha256:" not in package] == []


def test_the_page_locks_the_packages_of_every_platform() -> None:
    packages = json.loads((CHECKOUT / "frontend" / "package-lock.json").read_text())["packages"]
    packages.pop("")
    assert [name for name, package in packages.items() if "integrity" not in package] == []
    optional = {name for package in packages.values() for name in package.get("optionalDependencies", {})}
    assert optional
    assert [name for name in optional if not any(path.endswith(f"node_modules/{name}") for path in packages)] == []
