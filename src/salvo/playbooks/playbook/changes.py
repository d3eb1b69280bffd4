"""What changed between two versions of a playbook, in words. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from salvo.playbooks.playbook.document import EXAMPLES, place_in_words
from salvo.records import record

ChangeKind: TypeAlias = Literal["added", "removed", "changed", "moved"]
Steps: TypeAlias = tuple[str | int, ...]


@record
class PlaybookChange:
    check_id: str | None
    """The check that it is about; None for the rest of the playbook."""
    place: str
    """The field in words; empty for a whole check."""
    kind: ChangeKind
    before: str
    after: str
    """The values; empty where there is none, or where it would say nothing."""
    is_example: bool = False
    """Whether it is about an example, which no evaluation reads."""


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[PlaybookChange]:
    """Return what differs between two documents without errors: checks first, in the order of the later one."""
    rest = [
        PlaybookChange(None, place_in_words(path), kind, earlier, later)
        for path, kind, earlier, later in _differences(_without_checks(before), _without_checks(after), ())
    ]
    return [*_check_changes(before["checks"], after["checks"]), *rest]


def effect(changes: Sequence[PlaybookChange]) -> str:
    """Return what the changes mean for reports."""
    if not changes:
        return "The two versions are the same."
    series = "The logic hash is another one, so reports of the two versions are not compared over time."
    if all(change.is_example or (change.check_id is None and change.place in _LABELS) for change in changes):
        return f"Only examples changed: every check is judged as before. {series}"
    return series


_LABELS = ("Version", "Created at", "Updated at")
"""Fields that no result depends on."""


def _check_changes(before: Sequence[Any], after: Sequence[Any]) -> Iterator[PlaybookChange]:
    earlier, later = ({check["id"]: check for check in checks} for checks in (before, after))
    for check_id in (check_id for check_id in earlier if check_id not in later):
        yield PlaybookChange(check_id, "", "removed", str(earlier[check_id]["question"]), "")
    for check_id, check in later.items():
        if check_id not in earlier:
            yield PlaybookChange(check_id, "", "added", "", str(check["question"]))
            continue
        for path, kind, old, new in _differences(earlier[check_id], check, ()):
            yield PlaybookChange(check_id, place_in_words(path), kind, old, new, is_example=path[0] == EXAMPLES)
    common_ids = [check_id for check_id in later if check_id in earlier]
    if common_ids != [check_id for check_id in earlier if check_id in later]:
        yield PlaybookChange(None, "Order of the checks", "moved", "", ", ".join(later))


def _without_checks(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "checks"}


def _differences(before: Any, after: Any, path: Steps) -> Iterator[tuple[Steps, ChangeKind, str, str]]:
    if before == after and type(before) is type(after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            yield from _differences(before.get(name), after.get(name), (*path, name))
    elif isinstance(before, list) and isinstance(after, list) and _are_scalars([*before, *after]):
        yield from ((path, "removed", _text(item), "") for item in before if item not in after)
        yield from ((path, "added", "", _text(item)) for item in after if item not in before)
        if all(item in after for item in before) and all(item in before for item in after):
            yield path, "moved", "", ", ".join(map(_text, after))
    elif (isinstance(before, list) or before is None) and isinstance(after, list) and not _are_scalars(after):
        yield from _item_differences(before or [], after, path)
    elif isinstance(before, list) and (isinstance(after, list) or after is None) and not _are_scalars(before):
        yield from _item_differences(before, after or [], path)
    else:
        kind: ChangeKind = "added" if before is None else "removed" if after is None else "changed"
        yield path, kind, _text(before), _text(after)


def _item_differences(
    before: Sequence[Any], after: Sequence[Any], path: Steps
) -> Iterator[tuple[Steps, ChangeKind, str, str]]:
    for index in range(max(len(before), len(after))):
        earlier, later = (items[index] if index < len(items) else None for items in (before, after))
        yield from _differences(earlier, later, (*path, index))


def _are_scalars(items: Sequence[Any]) -> bool:
    return not any(isinstance(item, dict | list) for item in items)


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, dict) and set(value) == {"text", "expected"}:
        return f"{value['text']} ({value['expected']})"
    return json.dumps(value, ensure_ascii=False)


def sentence(change: PlaybookChange) -> str:
    """Return the change as one line of text."""
    place = change.place if change.check_id is None else ": ".join(filter(None, [change.check_id, change.place]))
    if change.kind == "changed":
        return f"{place}: changed from “{change.before}” to “{change.after}”."
    value = change.after or change.before
    return f"{place}: {change.kind}{f', “{value}”' if value else ''}."
