"""The playbook library and the validator."""

import json
import re

from playwright.sync_api import FilePayload, Page, expect

from tests.e2e.conftest import Site, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import ask


def test_playbook_details_and_validation(site: Site, visit: Visit) -> None:
    page = visit(site).open("/playbooks")
    listed, *others = ask(page.request, "GET", "/api/playbooks")
    starter = page.get_by_role("article").first
    expect(starter).to_contain_text(listed["logic_hash"])
    starter.get_by_role("button", name="Show details").click()
    expect(starter.get_by_role("heading", level=3)).to_have_count(listed["checks"])

    document = ask(page.request, "GET", f"/api/playbooks/{listed['id']}")["document"]
    document["metadata"]["id"] = "another"
    _choose(page, "another.json", json.dumps(document))
    expect(page.get_by_text(re.compile("^another.json can be used"))).to_be_visible()
    hashes = page.get_by_text(re.compile("^sha256:"))
    expect(hashes).to_have_count(1 + len(others) + 1)
    assert hashes.last.inner_text() != listed["logic_hash"]
    document["checks"] = []
    _choose(page, "empty.json", json.dumps(document))
    expect(page.get_by_text(re.compile("^empty.json cannot be used: 1 error"))).to_be_visible()
    assert_accessible(page)


def _choose(page: Page, name: str, text: str) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(FilePayload(name=name, mimeType="application/json", buffer=text.encode()))
