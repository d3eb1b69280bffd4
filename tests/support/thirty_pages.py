"""A report of thirty pages in a browser, and how long the page takes from the arrival of its data until it answers."""

from itertools import count
from typing import Any, NamedTuple

from playwright.sync_api import FilePayload, Page

from tests.support.documents import pdf
from tests.support.playbook_page import run, wait_for_report

PAGES, LINES = 30, 42
TEXT_PANEL = "Text with evidence highlighted"
_CLAUSES = (
    "{0}. The supplier delivers the goods of order {0} within {0} working days of the notice.",
    "The customer inspects them without delay and notifies the supplier of each defect in writing.",
    "Clause {0} is fully compliant with the applicable law, and there is no risk for the customer.",
    "We assume that the order was signed by a person who may bind the customer.",
    "The price is paid thirty days after the invoice, unless the parties agree otherwise in the order.",
    "No further review of annex {0} is needed.",
)
# What a person waits for: the text is there, and no task of the page keeps it from answering a click.
_MEASURE = """async label => {
  const tasks = [];
  new PerformanceObserver(list => tasks.push(...list.getEntries())).observe({ type: "longtask", buffered: true });
  const frame = () => new Promise(requestAnimationFrame);
  let panel;
  while (!(panel = document.querySelector(`[aria-label="${label}"]`)) || !panel.textContent) await frame();
  await frame(); await frame();
  const shown = performance.now();
  await new Promise(resolve => setTimeout(resolve, 1500));
  const quiet = Math.max(shown, ...tasks.filter(task => task.startTime < shown + 500).map(task => task.startTime + task.duration));
  const data = performance.getEntriesByType("resource").filter(({ name }) => /\\/api\\/reports\\/[^/?]+$/.test(name));
  const quotes = [...document.querySelectorAll("main [data-quote]")];
  const clicked = performance.now();
  quotes.at(-1).click();
  while (document.activeElement?.tagName !== "MARK") await frame();
  return {
    interactive: (quiet - data[0].responseEnd) / 1000,
    click: (performance.now() - clicked) / 1000,
    elements: document.querySelectorAll("main *").length,
  };
}"""


class Timing(NamedTuple):
    """In seconds, but for the number of elements."""

    interactive: float
    click: float
    elements: int


def document(pages: int = PAGES) -> bytes:
    numbers = count(1)
    clause = (_CLAUSES[number % len(_CLAUSES)].format(number // len(_CLAUSES) + 1) for number in numbers)
    return pdf(*("\n".join(next(clause) for _ in range(LINES)) for _ in range(pages)))


def evaluate_document(page: Page, pages: int = PAGES) -> str:
    """Evaluate a PDF on the page as a person does, and return the address of its report."""
    page.goto("/")
    file = FilePayload(name=f"{pages} pages.pdf", mimeType="application/pdf", buffer=document(pages))
    page.locator("input[type=file]").first.set_input_files(file)
    page.get_by_text(f"{pages} pages").first.wait_for()
    run(page)
    return f"/reports/{wait_for_report(page)}"


def measure(page: Page, address: str) -> Timing:
    page.goto(address, wait_until="commit")
    figures: dict[str, Any] = page.evaluate(_MEASURE, TEXT_PANEL)
    return Timing(**figures)
