"""Actions on the playbook pages."""

import base64
import json
import re
from typing import Any

from playwright.sync_api import APIRequestContext, Locator, Page, expect

from tests.support.byop_project import wait_until
from tests.support.web import GPT, KEY


def fill_form(page: Page, ai_output: str, *, subject: str = "") -> None:
    page.get_by_label("AI output").fill(ai_output)
    if subject:
        page.get_by_text("More options: system instructions").click()
        page.get_by_label("Subject").fill(subject)


_DROP = """(field, { name, content }) => {
  const files = new DataTransfer();
  files.items.add(new File([Uint8Array.from(atob(content), letter => letter.charCodeAt(0))], name));
  for (const kind of ["dragover", "drop"]) {
    field.dispatchEvent(new DragEvent(kind, { dataTransfer: files, bubbles: true, cancelable: true }));
  }
}"""


def drop(field: Locator, name: str, content: bytes) -> None:
    """Drop a file on a field."""
    field.evaluate(_DROP, {"name": name, "content": base64.b64encode(content).decode()})


def choose_model(page: Page, address: str, key: str = KEY) -> None:
    provider, model = GPT.split("/")
    page.get_by_label("Provider").select_option(provider)
    page.get_by_label("Model").fill(model)
    page.get_by_label("Base URL").select_option(address)
    enter_key(page, key)


def enter_key(page: Page, key: str = KEY) -> None:
    page.get_by_label(re.compile("^API key for ")).fill(key)


def run(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Run (Full Evaluation|Screening)$")).click()


def wait_for_report(page: Page) -> str:
    """Wait for the report and return its id."""
    page.wait_for_url("**/reports/*")
    expect(page.get_by_text("BYOP observability report").first).to_be_visible()
    return page.url.rpartition("/")[2]


def open_technical_record(page: Page) -> None:
    page.get_by_text("Evaluation, variance, votes, hashes and raw JSON").click()


def answers(page: Page) -> Locator:
    """The progress of an evaluation: "4 of 12 answers"."""
    return page.get_by_text(re.compile(r"^\d+ of \d+ answers$"))


def card(page: Page, check: str) -> Locator:
    return page.locator(f"[data-check={check}]").and_(page.get_by_role("article"))


def ask(api: APIRequestContext, method: str, path: str, body: Any = None, **headers: str) -> Any:
    """Call the API and return its JSON."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    data = None if body is None else json.dumps(body)
    if data:
        named["content-type"] = "application/json"
    answered = api.fetch(path, method=method, data=data, headers=named)
    assert answered.ok, answered.text()
    return answered.json() if answered.body() else None


def evaluate(api: APIRequestContext, ai_output: str, *, answers: int | None = None, **asked: Any) -> str:
    """Run an evaluation to its end, or until it has this many answers, and return its id."""
    evaluation = ask(api, "POST", "/api/evaluations", {"ai_output": ai_output, **asked}, x_api_key=KEY)

    def there() -> bool:
        now = ask(api, "GET", f"/api/evaluations/{evaluation['id']}")
        return bool(now["state"] == "done" if answers is None else now["done"] == answers)

    wait_until(there)
    return str(evaluation["id"])
