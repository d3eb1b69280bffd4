"""A playbook's bytes: what cannot be read, what has no canonical form, and how a path is written."""

import json
from typing import Any

import pytest

from salvo.errors import InputError
from salvo.playbooks.playbook.document import DEEPEST, LARGEST
from salvo.playbooks.playbook.validate import examine, problems, read
from tests.support.playbook import changed, document


def errors(candidate: Any) -> list[str]:
    found = examine(candidate)[1] if isinstance(candidate, bytes) else problems(candidate)
    return [str(problem) for problem in found if problem.level == "error"]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "$: is empty"),
        (b" \n", "$: is empty"),
        (b'{\n  "checks": [,]}', "$: is not JSON: line 2, column 14: expecting value"),
        (b"{} {}", "$: is not JSON: line 1, column 4: extra data"),
        (b'{"a": "\xff"}', "$: is not UTF-8: byte 7 (0xff) is invalid there"),
        (b"[]", "$: must be an object, not a list"),
        (b"null", "$: must be an object, not null"),
        (b"[" * 100_000, f"$: is nested too deeply: {DEEPEST} levels are allowed"),
        (b" " * LARGEST + b"{}", "$: is too large: more than 5,000,000 bytes"),
    ],
)
def test_a_file_that_is_not_json_has_one_error(content: bytes, message: str) -> None:
    assert [str(problem) for problem in examine(content)[1]] == [message]
    with pytest.raises(InputError):
        read(content, "bad.json")


def test_a_byte_order_mark_is_accepted() -> None:
    assert examine(b"\xef\xbb\xbf" + json.dumps(document()).encode())[1] == []


def test_a_repeated_key_is_an_error() -> None:
    text = json.dumps(document()).replace('"severity": "high"', '"severity": "medium", "severity": "high"')
    assert errors(text.replace('"tolerance"', '"tolerance": "", "tolerance"').encode()) == [
        "$.risk_posture.tolerance: occurs more than once: it is not clear which one counts",
        "$.checks[0].severity: occurs more than once: it is not clear which one counts",
    ]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "9" * 5_000])
def test_a_number_without_canonical_form_is_an_error(number: str) -> None:
    text = json.dumps(changed("metadata.weight", "?")).replace('"?"', number)
    assert errors(text.encode()) == ["$.metadata.weight: is not a number that JSON can hold"]


def test_deep_nesting_is_reported_at_the_part_that_contains_it() -> None:
    deep: Any = 1
    for _ in range(DEEPEST + 50):
        deep = {"deeper": deep}
    assert errors(changed("metadata.extra", deep)) == [
        f"$.metadata.extra: is nested too deeply: {DEEPEST} levels are allowed"
    ]


def test_a_circular_value_is_nested_too_deeply() -> None:
    circle: list[Any] = []
    circle.append(circle)
    [message] = errors(changed("metadata.extra", circle))
    assert "is nested too deeply" in message


def test_unusual_keys_are_quoted_and_truncated_in_a_path() -> None:
    for name, shown in [
        ("my key", '["my key"]'),
        ("é\u202e", '["\\u00e9\\u202e"]'),
        ("k" * 500, f'["{"k" * 60}\\u2026"]'),
    ]:
        extended = document()
        extended["metadata"][name] = float("nan")
        assert errors(extended) == [f"$.metadata{shown}: is not a number that JSON can hold"]
