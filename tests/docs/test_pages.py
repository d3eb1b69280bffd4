"""What the documents point at is there: links, anchors, make's targets, tests that are named."""

import re
from pathlib import Path

import pytest

from tests.docs.documents import EVERY, ROOT, anchors, links, make_targets, name_of


@pytest.mark.parametrize("document", EVERY, ids=name_of)
def test_every_link_inside_the_project_leads_somewhere(document: Path) -> None:
    lost = []
    for link in links(document):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert not lost


def test_every_link_out_of_the_project_is_https() -> None:
    assert not {link for document in EVERY for link in links(document) if re.match(r"(?!https:)[a-z]+:", link)}


def test_every_target_of_make_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = {target for document in EVERY for target in make_targets(document)}
    assert named
    assert not named - targets


def test_every_test_that_is_named_exists() -> None:
    for document in EVERY:
        for name, path in re.findall(r"\[(test_\w+)\]\(([^)]+)\)", document.read_text(encoding="utf-8")):
            assert f"def {name}(" in (document.parent / path).read_text(encoding="utf-8")


def test_every_document_can_be_found_from_the_readme() -> None:
    seen, left = set[Path](), [ROOT / "README.md"]
    while left:
        document = left.pop()
        seen.add(document)
        found = {(document.parent / link.partition("#")[0]).resolve() for link in links(document)}
        left += [each for each in found & set(EVERY) if each not in seen]
    assert set(EVERY) - seen <= {ROOT / "CHANGELOG.md"}
