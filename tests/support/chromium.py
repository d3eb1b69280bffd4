"""A Chromium for the tests of the page: the one that is here, or else one that is installed.

`python -m tests.support.chromium` makes sure that there is one; `make test-browser` and `make test-load` call it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Playwright, sync_playwright

VARIABLE = "SALVO_CHROMIUM"
_COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")

HOW = (
    "There is no Chromium for the tests of the page. Install one (`.venv/bin/playwright install chromium`, or your "
    f"system's package), or name one that is not on the PATH: {VARIABLE}=/path/to/chromium"
)


def find(playwright: Playwright) -> str | None:
    """The one that is named, or on the PATH, or Playwright's own."""
    if named := os.environ.get(VARIABLE):
        return named
    found = next((path for path in map(shutil.which, _COMMANDS) if path), None)
    own = playwright.chromium.executable_path
    return found or (own if Path(own).exists() else None)


def in_ci() -> bool:
    return bool(os.environ.get("CI"))


def main() -> int:
    """Not an error outside of CI: everything else can be tested without a browser."""
    for install in (None, *_installers()):
        if install:
            print("Installing a Chromium:", *install)
            subprocess.run(install, check=False)
        with sync_playwright() as playwright:
            if find(playwright):
                return 0
    print(HOW, file=sys.stderr)
    return int(in_ci())


def _installers() -> list[list[str]]:
    own = [sys.executable, "-m", "playwright", "install", "chromium"]
    if not (sys.platform == "linux" and os.geteuid() == 0 and shutil.which("apt-get")):
        return [own]
    return [[*own, "--with-deps"], ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]]


if __name__ == "__main__":
    sys.exit(main())
