"""Builds the page into the package, so that a wheel and an sdist hold it; git does not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageBuildHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatch calls it so
        frontend = Path(self.root) / "frontend"
        if version == "editable" or not (frontend / "package.json").is_file():
            return  # a checkout builds it with make; an sdist has it built already
        npm = shutil.which("npm")
        if npm is None:
            self.app.display_warning(
                "Node is not here, so the page is not built: what is in src/salvo/web/static goes in as it is. "
                "Install Node 20.19 or newer, and build again."
            )
            return
        # Not "npm ci": it insists on the binaries of every other platform, which not every registry has.
        for command in (["install", "--no-save", "--no-audit", "--no-fund"], ["run", "build"]):
            subprocess.run([npm, *command], cwd=frontend, check=True)  # noqa: S603 - npm, with words of ours
