"""The checks that every browser test makes."""

import pytest
from playwright.sync_api import Browser

from tests.e2e.conftest import Site
from tests.support.browser import Visitor, barriers

BREACHES = {
    "console.error('it broke')": "it broke",
    "setTimeout(() => { throw new Error('nobody caught it') })": "nobody caught it",
    "fetch('/api/nothing-here')": "status of 404",
    "setTimeout(() => alert('hello'))": "hello",
    # Some versions report the handler when it is set, others when it would run.
    "document.body.setAttribute('onclick', 'alert()'); document.body.click()": "Content Security Policy",
    "document.body.append(Object.assign(new Image(), { src: 'http://evil.example/x.png' }))": "evil.example",
    "fetch('http://127.0.0.1:9/').catch(() => {})": "127.0.0.1:9",
}


def test_a_visitor_records_errors_and_foreign_requests(browser: Browser, site: Site) -> None:
    visitor = Visitor(browser, site)
    page = visitor.open()
    assert visitor.faults == []
    for script, message in BREACHES.items():
        page.evaluate(f"() => {{ {script} }}")
        while not any(message in fault for fault in visitor.faults):
            page.wait_for_timeout(10)
    with pytest.raises(AssertionError, match="nobody caught it"), visitor:
        pass


def test_expected_errors_are_ignored(browser: Browser, site: Site) -> None:
    with Visitor(browser, site) as visitor:
        visitor.forgive("status of 404")
        page = visitor.open()
        with page.expect_event("console"):
            page.evaluate("() => fetch('/api/nothing-here')")
    assert visitor.faults != []


def test_barriers_are_reported_with_their_element(browser: Browser, site: Site) -> None:
    with Visitor(browser, site) as visitor:
        page = visitor.open()
        page.evaluate("() => document.body.insertAdjacentHTML('beforeend', '<img id=bare src=/icon.svg>')")
        assert [(barrier.rule, barrier.where) for barrier in barriers(page)] == [("image-alt", "#bare")]
