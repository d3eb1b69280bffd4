"""The labels that the API sends are those that the exports print."""

import html as entities
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import pytest

from salvo.playbooks.enums import Mode, Status
from salvo.playbooks.report.export import html, markdown
from salvo.playbooks.report.report import Report
from salvo.web.routes.reports import report_labels
from tests.playbooks.report.export.examples import INPUTS, everything, of_status
from tests.support.web import CAREFUL, CARELESS, Client

CONDITIONAL = {
    "texts_withheld",
    "rejected",
    "unverified",
    "revision_prompt",
    "evaluator_variance",
    "no_key_risks",
    "no_assumptions",
}
"""Sent with every report, and shown only where they apply."""


@pytest.mark.parametrize("report", [everything(), *map(of_status, Status)], ids=["everything", *Status])
def test_every_label_is_in_the_html_export(report: Report) -> None:
    exported = _text(html.render(report, INPUTS))
    labels = {name: value for name, value in asdict(report_labels(report)).items() if name not in CONDITIONAL}
    for label in _strings(labels):
        assert label in exported


def test_the_labels_that_do_not_always_apply_are_in_the_markdown_export() -> None:
    report = replace(everything(), texts_withheld=True)
    exported = markdown.render(report)
    labels = report_labels(report)
    for label in (labels.status, labels.status_meaning, labels.texts_withheld, labels.rejected, labels.revision_prompt):
        assert label in exported


async def test_a_stored_report_comes_with_its_labels(api: Client) -> None:
    stored = await api.report(CARELESS)
    exported = await api.ask("GET", f"/api/reports/{stored['report']['report_id']}/export?format=html")
    text = _text(exported.body.decode())
    for label in (stored["labels"]["status"], stored["labels"]["tally"], stored["labels"]["drift"]):
        assert label in text


async def test_two_reports_are_compared_with_the_labels_of_each(api: Client) -> None:
    first = await api.report(CAREFUL)
    second = await api.report(CARELESS, mode="screening")
    pair = {"a": first["report"]["report_id"], "b": second["report"]["report_id"]}
    compared = (await api.ask("POST", "/api/compare", pair)).json()
    assert (compared["labels_a"], compared["labels_b"]) == (first["labels"], second["labels"])
    assert compared["labels_b"]["mode"] == Mode.SCREENING.label


async def test_the_modes_are_offered_under_their_labels(api: Client) -> None:
    assert (await api.get("/api/evaluators"))["mode_labels"] == {mode: mode.label for mode in Mode}


async def test_a_timeline_has_the_thresholds_of_each_playbook(api: Client) -> None:
    document = (await api.get("/api/playbooks/ai_plugin_observability_v1"))["document"]
    document["variance_handling"]["thresholds"] = {"consistency_score_min_ok": 0.9, "consistency_score_warn": 0.6}
    await api.report(subject="thresholds")
    await api.report(subject="thresholds", playbook=document)
    points = await api.get("/api/timeline?subject=thresholds")
    assert [(point["threshold_ok"], point["threshold_warn"]) for point in points] == [(0.85, 0.7), (0.9, 0.6)]


def _text(document: str) -> str:
    """The text of an HTML document, without tags."""
    return entities.unescape(re.sub(r"<[^>]*>", "", document))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)
