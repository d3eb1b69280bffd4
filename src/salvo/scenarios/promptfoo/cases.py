"""Translate the tests of promptfoo: each is a case with its variables and its assertions."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.engine.text.formatting import pluralize
from salvo.records import record
from salvo.scenarios.promptfoo.assertions import expected_assertion, translate
from salvo.scenarios.promptfoo.notes import ImportNotes
from salvo.scenarios.promptfoo.prompts import FILE, matching_files, read_named_file
from salvo.scenarios.promptfoo.providers import UniqueIds, clean_id
from salvo.scenarios.spec.source_text import UnreadableError, file_in_project
from salvo.scenarios.spec.yaml_source import read_yaml

_MOST_TESTS = 10_000
_MOST_CHARACTERS = 20_000_000
"""Of all tests together: each item of a list and each configuration of a scenario repeats the rest of its test."""
_KNOWN = {"description", "vars", "assert", "threshold", "options", "metadata", "providers", "prompts"}
_OPTIONS = {"provider"}
_YAML = (".yaml", ".yml")
_ANSWERED = {"type": "jmespath", "name": "answers", "path": "final_output", "operator": "exists"}


@record
class ImportedCase:
    id: str
    variables: dict[str, Any]
    assertions: list[dict[str, Any]]
    threshold: float | None
    providers: list[str] | None
    """The names of the providers it is limited to; None stands for all."""
    prompts: list[str] | None
    path: FieldPath


@dataclass
class _TestReader:
    root: Path
    defaults: Mapping[str, Any]
    notes: ImportNotes
    ids: UniqueIds = field(default_factory=UniqueIds)
    cases: list[ImportedCase] = field(default_factory=list)
    characters: int = 0
    is_full: bool = False

    def add(self, test: Any, path: FieldPath) -> None:
        if not isinstance(test, dict):
            self.notes.skip(path, "the test was left out: it is not a mapping")
            return
        for name in test:
            if name not in _KNOWN and not name.startswith("__"):
                self.notes.skip((*path, name), f"{name} of a test has no counterpart")
        options = {**_mapping(self.defaults.get("options")), **_mapping(test.get("options"))}
        for name in options:
            if name not in _OPTIONS:
                self.notes.skip((*path, "options", name), f"the option {name} has no counterpart")
        values = {**_mapping(self.defaults.get("vars")), **_mapping(test.get("vars"))}
        variables = {name: self._value(value, (*path, "vars", name)) for name, value in values.items()}
        description = test.get("description")
        for combination in _combinations(variables):
            if len(self.cases) >= _MOST_TESTS or self.characters >= _MOST_CHARACTERS:
                self.is_full = True
                limit = f"{_MOST_TESTS:,} tests, and {_MOST_CHARACTERS:,} characters of them, are imported at most"
                self.notes.skip(path, f"only the first {pluralize(len(self.cases), 'test')} are imported: {limit}")
                return
            self._add_case(test, path, combination, options, description)
            self.characters += len(json_codec.dumps([combination, self.cases[-1].assertions]))

    def _add_case(
        self, test: Mapping[str, Any], path: FieldPath, variables: dict[str, Any], options: Mapping[str, Any], name: Any
    ) -> None:
        grader = options.get("provider")
        assertions: list[dict[str, Any]] = []
        for owner, place in ((self.defaults, ("defaultTest",)), (test, path)):
            for index, assertion in enumerate(_list(owner.get("assert"))):
                assertions += translate(assertion, (*place, "assert", index), variables, grader, self.notes)
        threshold = test.get("threshold", self.defaults.get("threshold"))
        self.cases.append(
            ImportedCase(
                id=self.ids.add(clean_id(name) if isinstance(name, str) else f"test{len(self.cases) + 1}"),
                variables=variables,
                # promptfoo passes a test without assertions if there is an answer.
                assertions=assertions or [dict(_ANSWERED)],
                threshold=threshold if isinstance(threshold, int | float) else None,
                providers=_names(test.get("providers")),
                prompts=_names(test.get("prompts")),
                path=path,
            )
        )

    def _value(self, value: Any, path: FieldPath) -> Any:
        if isinstance(value, str) and value.startswith(FILE):
            text = read_named_file(value.removeprefix(FILE), path, self.root, (".txt", ".md"), self.notes)
            return "" if text is None else text.strip()
        if isinstance(value, str) and ("{{" in value or "{%" in value):
            self.notes.skip(path, "a variable inside a variable is not replaced; a value is inserted as it is")
        return value


def read_tests(config: Mapping[str, Any], root: Path, notes: ImportNotes) -> list[ImportedCase]:
    """Return the cases of the tests and scenarios of a configuration."""
    defaults = config.get("defaultTest")
    if isinstance(defaults, str):
        defaults = _read_document(defaults.removeprefix(FILE), ("defaultTest",), root, notes)
    reader = _TestReader(root, _mapping(defaults), notes)
    scenarios = config.get("scenarios")
    for test, path in itertools.chain(
        _tests(config.get("tests"), ("tests",), root, notes),
        *(
            _scenario_tests(scenario, ("scenarios", index), root, notes)
            for index, scenario in enumerate(scenarios if isinstance(scenarios, list) else [])
        ),
    ):
        reader.add(test, path)
        if reader.is_full:
            break
    if not config.get("tests") and not scenarios:
        reader.add({}, ())
    return reader.cases


def _tests(value: Any, path: FieldPath, root: Path, notes: ImportNotes) -> Iterator[tuple[Any, FieldPath]]:
    if isinstance(value, str):
        yield from ((test, path) for test in _file_tests(value, path, root, notes))
    for index, item in enumerate(value if isinstance(value, list) else []):
        if isinstance(item, str):
            yield from ((test, (*path, index)) for test in _file_tests(item, (*path, index), root, notes))
        else:
            yield item, (*path, index)


def _scenario_tests(scenario: Any, path: FieldPath, root: Path, notes: ImportNotes) -> Iterator[tuple[Any, FieldPath]]:
    """Yield each test of a scenario with the variables of each of its configurations."""
    if not isinstance(scenario, dict) or not isinstance(scenario.get("config"), list):
        notes.skip(path, "the scenario was left out: it has no list of configurations")
        return
    tests = list(_tests(scenario.get("tests", [{}]), (*path, "tests"), root, notes))
    for configuration in scenario["config"]:
        for test, place in tests:
            own, outer = _mapping(test), _mapping(configuration)
            merged = {**outer, **own, "vars": {**_mapping(outer.get("vars")), **_mapping(own.get("vars"))}}
            merged["assert"] = [*_list(outer.get("assert")), *_list(own.get("assert"))]
            yield merged, place


def _file_tests(value: str, path: FieldPath, root: Path, notes: ImportNotes) -> list[Any]:
    names = matching_files(value.removeprefix(FILE), path, notes)
    return [test for name in names for test in _tests_of_file(name, path, root, notes)]


def _tests_of_file(name: str, path: FieldPath, root: Path, notes: ImportNotes) -> list[Any]:
    if name.endswith(_YAML):
        tests = _read_document(name, path, root, notes)
        return tests if isinstance(tests, list) else [tests] if isinstance(tests, dict) else []
    text = read_named_file(name, path, root, (".csv", ".jsonl", ".json", *_YAML), notes)
    if text is None:
        return []
    try:
        if name.endswith(".csv"):
            return [_csv_test(row) for row in csv.DictReader(io.StringIO(text, newline=""), strict=True)]
        if name.endswith(".jsonl"):
            return [json_codec.loads(line) for line in text.splitlines() if line.strip()]
        tests = json_codec.loads(text)
    except (ValueError, csv.Error) as error:
        notes.skip(path, f"{name} was left out: it cannot be read ({error})")
        return []
    return tests if isinstance(tests, list) else []


def _read_document(name: str, path: FieldPath, root: Path, notes: ImportNotes) -> Any:
    """Return what a file in YAML or JSON holds; None with a note if it cannot be used."""
    try:
        document = read_yaml(file_in_project(name, notes.locate(path), root, (*_YAML, ".json"), "imported"), root)
    except UnreadableError as error:
        notes.skip(path, f"{name} was left out: {error.message}")
        return None
    if document.problems:
        notes.skip(path, f"{name} was left out: {document.problems[0].message}")
        return None
    return document.data


def _csv_test(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as a test: columns are variables, apart from those that begin with two underscores."""
    variables = {name: value for name, value in row.items() if name and not name.startswith("__")}
    expected = [value for name, value in row.items() if name and name.startswith("__expected") and value]
    test: dict[str, Any] = {"vars": variables, "assert": [expected_assertion(text) for text in expected]}
    if row.get("__description"):
        test["description"] = row["__description"]
    if row.get("__threshold"):
        test["threshold"] = float(row["__threshold"])
    return test


def _combinations(variables: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a mapping for each combination: promptfoo runs a test once for each item of a list."""
    lists = [value if isinstance(value, list) else [value] for value in variables.values()]
    for values in itertools.product(*lists):
        yield dict(zip(variables, values, strict=True))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(value: Any) -> list[str] | None:
    return [str(item) for item in value] if isinstance(value, list) else None
