"""Builds the page into the package, so that a wheel and an sdist hold it; git does not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Not "npm ci": it insists on the binaries of every other platform, which not every registry has.
COMMANDS = (["install", "--no-save", "--no-audit", "--no-fund"], ["run", "build"])


class PageBuildHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatch calls it so
        frontend = Path(self.root) / "frontend"
        if version == "editable" or not (frontend / "package.json").is_file():
            return  # a checkout builds it with make; an sdist has it built already
        npm = shutil.which("npm")
        if npm is None:
            self._without("Node is not here")
        elif not all(_succeeds([npm, *command], frontend) for command in COMMANDS):
            self._without("npm could not build it")

    def _without(self, why: str) -> None:
        """Both commands work without the page, so an installation must not fail for want of it."""
        held = (Path(self.root) / "src/salvo/web/static/index.html").is_file()
        page = "is the one built earlier" if held else "is left out"
        self.app.display_warning(f"{why}: the page {page}. Install Node 20.19 or newer for it, and build again.")


def _succeeds(command: list[str], folder: Path) -> bool:
    return subprocess.run(command, cwd=folder, check=False).returncode == 0  # noqa: S603 - npm, with words of ours
