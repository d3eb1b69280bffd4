"""The page of a report of thirty pages: from the arrival of its data until it answers, and a click on a quote."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from bench import table
from tests.support import chromium, thirty_pages
from tests.support.browser import Visitor, a_browser
from tests.support.web import server_process

ROUNDS = 7


def report() -> None:
    table.heading(f"byop serve: the page of a report of {thirty_pages.PAGES} pages")
    with sync_playwright() as playwright:
        executable = chromium.find(playwright)
        if executable is None:
            print(f"  Not measured. {chromium.HOW}")
            return
        with (
            tempfile.TemporaryDirectory() as folder,
            server_process(Path(folder)) as server,
            a_browser(playwright, executable) as browser,
            Visitor(browser, server, viewport={"width": 1440, "height": 900}) as visitor,
        ):
            page = visitor.open()
            address = thirty_pages.evaluate_document(page)
            timings = [thirty_pages.measure(page, address) for _ in range(ROUNDS)]
    for name, times, limit in (
        ("interactive after its data", [timing.interactive for timing in timings], 1),
        ("click on a quote", [timing.click for timing in timings], 0.3),
    ):
        table.line(name, {"median": statistics.median(times), "slowest": max(times)}, "s")
        table.promise(name, statistics.median(times), limit, "s")


if __name__ == "__main__":
    report()
