"""Makes the pictures of the documentation anew, from the program itself: `make pictures`.

run.gif        a real `salvo run` and `salvo replay`, as they came
report.png     the page of a real report
dashboard.png  the page of `salvo dashboard`, for the runs of a demo project
guide-*.png    the steps of the guide for counsel, clicked through on the page
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from terminal import Terminal

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
BIN = Path(sys.executable).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LARGEST = {".gif": 600_000, ".png": 200_000}
"""Bytes. Everyone who clones the repository has them."""


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        project = Path(made) / "demo"
        _run("salvo", "init", str(project), folder=Path(made))
        _run_and_replay(project)
        with _browser() as page:
            _report(project, page)
            _guide(project, page)
            _dashboard(project, page)
    for path in sorted([*HERE.glob("*.png"), *HERE.glob("*.gif")]):
        size = path.stat().st_size
        print(f"{path.name}: {size:,} bytes")
        if size > LARGEST[path.suffix]:
            sys.exit(f"{path.name} is too large.")


def _run_and_replay(project: Path) -> None:
    terminal = Terminal(_environment())
    printed = terminal.run(["salvo", "run", "--record"], project, hold=5)
    failures = re.findall(r"salvo replay (\S+)", printed)
    terminal.run(["salvo", "replay", failures[-1]], project, hold=8)
    terminal.save(HERE / "run.gif")


def _report(project: Path, page: Page) -> None:
    """Of a text that is worse than its baseline."""
    for name in ("dpa_review.md", "dpa_review_degraded.md"):
        shutil.copy(EXAMPLES / "outputs" / name, project)
    _run("byop", "run", "dpa_review.md", "--subject", "DPA review", "--save-baseline", folder=project)
    _run("byop", "run", "dpa_review_degraded.md", "--subject", "DPA review", folder=project, exits=1)
    with _serving("byop", "serve", folder=project) as address:
        page.goto(address)
        page.goto(f"{_origin(address)}/history")
        page.get_by_role("link", name="ALERT").or_(page.locator("a[href*='/reports/']")).first.click()
        page.get_by_role("heading", level=1).wait_for()
        _shoot(page, "report.png")


def _guide(project: Path, page: Page) -> None:
    """What in-house counsel clicks: the report of the step before is the newest one in the history."""
    with _serving("byop", "serve", folder=project) as address:
        page.goto(address)
        page.get_by_role("navigation").get_by_role("link", name="Evaluate").click()
        page.locator("input[type=file]").first.set_input_files(EXAMPLES / "outputs" / "dpa_review_degraded.md")
        page.get_by_text("From dpa_review_degraded.md").wait_for()
        page.get_by_label("Title").fill("DPA review, second draft")
        page.get_by_label("Reviewer").fill("Ada Brown")
        _shoot(page, "guide-evaluate.png", height=860)
        page.get_by_role("button", name="Run Full Evaluation").click()
        page.wait_for_url("**/reports/*")
        card = page.get_by_role("group", name="Review of Certainty language")
        card.get_by_role("button", name="Change the result").click()
        card.get_by_label("Reason").fill("These are the contract's own words; the memo quotes them.")
        card.scroll_into_view_if_needed()
        _shoot(page, "guide-change.png", height=860)
        card.get_by_role("button", name="Record the change").click()
        card.get_by_text("changed to PASS").wait_for()
        review = page.locator("#review")
        page.get_by_role("button", name="Review and sign off").click()
        review.get_by_role("button", name="Sign off …").click()
        review.get_by_role("button", name="Sign off", exact=True).click()
        review.get_by_role("list", name="Sign-offs").wait_for()
        review.evaluate("section => window.scrollBy(0, section.getBoundingClientRect().top - 110)")
        _shoot(page, "guide-sign.png", height=860)
        page.emulate_media(media="print")
        page.evaluate("window.scrollTo(0, 0)")
        _shoot(page, "guide-print.png", height=1100, width=800)
        page.emulate_media(media="screen")
        page.goto(f"{_origin(address)}/review/blind")
        page.get_by_role("button", name="Start").click()
        page.get_by_role("group", name="What is the result of this check?").wait_for()
        _shoot(page, "guide-blind.png", height=760)
        page.goto(f"{_origin(address)}/documents")
        page.get_by_label("Folder").set_input_files(EXAMPLES / "outputs")
        page.get_by_role("button", name=re.compile("^Evaluate")).click()
        page.wait_for_url("**/documents/*")
        page.get_by_role("table").get_by_text("dpa_review_degraded").wait_for()
        page.get_by_text("ALERT").first.wait_for()
        _shoot(page, "guide-documents.png", height=860)
        page.goto(f"{_origin(address)}/playbooks/new")
        page.get_by_role("heading", level=1).wait_for()
        _shoot(page, "guide-editor.png", height=860)


def _dashboard(project: Path, page: Page) -> None:
    """Of two scenarios, in batches of several sizes, so that there is something to see over time."""
    shutil.copytree(EXAMPLES / "agents", project / "agents")
    shutil.copy(EXAMPLES / "scenarios" / "no_key.yaml", project / "scenarios")
    for runs in ("10", "20", "40"):
        _run("salvo", "run", "--record", "--runs", runs, folder=project, exits=1)
    with _serving("salvo", "dashboard", folder=project) as address:
        page.goto(address)
        page.get_by_role("table").last.wait_for()
        _shoot(page, "dashboard.png")


def _shoot(page: Page, name: str, *, width: int = 1280, height: int = 1000) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_timeout(500)  # fonts and charts are drawn by then
    path = HERE / name
    page.screenshot(path=path, animations="disabled")
    page.set_viewport_size({"width": 1280, "height": 1000})
    Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


@contextmanager
def _browser() -> Iterator[Page]:
    executable = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1280, "height": 1000}, color_scheme="light")
        browser.close()


@contextmanager
def _serving(*command: str, folder: Path) -> Iterator[str]:
    """The address that logs in to a server, for as long as it is needed."""
    words = [BIN / command[0], *command[1:], "--port", "0", "--no-open"]
    with subprocess.Popen(words, cwd=folder, env=_environment(), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def _origin(address: str) -> str:
    return address.partition("/login?")[0]


def _run(*command: str, folder: Path, exits: int = 0) -> None:
    ran = subprocess.run(
        [BIN / command[0], *command[1:]], cwd=folder, env=_environment(), capture_output=True, check=False
    )
    if ran.returncode != exits:
        sys.exit(f"{' '.join(command)} exited {ran.returncode}: {ran.stderr.decode()}")


def _environment() -> dict[str, str]:
    """Without keys: nobody pays for a picture."""
    return {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": os.environ.get("HOME", ""), "LANG": "C.UTF-8"}


if __name__ == "__main__":
    main()
