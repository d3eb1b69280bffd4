"""The cases of a scenario: a list in its file, or the rows of a CSV or JSONL file, each with its place.

A file of cases is only data: its values are inserted into the scenario as they are, and it cannot name code.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.records import record
from salvo.scenarios.spec.source_text import (
    SourcePosition,
    UnreadableError,
    file_in_project,
    line_and_column,
    read_text,
)
from salvo.scenarios.spec.yaml_source import YamlDocument, YamlProblem

CASES = "cases"
ID = "id"
ASSERTIONS = "assertions"
_CSV = ".csv"
_SUFFIXES = (_CSV, ".jsonl")
_MAX_FILE_BYTES = 50_000_000
_MAX_ID = 100
_MAX_PROBLEMS = 20
"""More problems of one file are of no use to a reader."""
_MAX_DEPTH = 64
_MAX_COLUMNS = 1_000
_TOO_MANY_COLUMNS = f"the cases have more than {_MAX_COLUMNS:,} columns"
_USE = "read as cases"


@record
class ScenarioCase:
    id: str
    values: dict[str, Any]
    assertions: list[Any]
    """The case's own assertions, in addition to those of the scenario."""
    position: SourcePosition
    is_text: bool = False
    """Whether all values are text, because the file has no types."""
    path: FieldPath = ()
    """Where the case is in the scenario file; empty if it is in a file of its own."""
    text: str = field(default="", repr=False)
    """Its line in a JSONL file, or the whole CSV file, to find the place of a value in it."""

    def place(self, name: str) -> FieldPath | SourcePosition:
        """Return where the value of a variable is: a path in the scenario file, or a position in the file of cases."""
        if self.path:
            return (*self.path, name)
        if self.is_text:
            return _csv_position(self, name)
        return self.position._replace(column=json_columns(self.text).get(name, 1))


@dataclass
class CaseTable:
    cases: list[ScenarioCase] = field(default_factory=list)
    columns: dict[str, SourcePosition] = field(default_factory=dict)
    """The variables of all cases, in the order of their first occurrence."""
    problems: list[YamlProblem] = field(default_factory=list)

    def report(self, position: SourcePosition, message: str, path: FieldPath = (CASES,)) -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(YamlProblem(path, position, message))

    def add(self, number: int, row: dict[str, Any], position: SourcePosition, **settings: Any) -> None:
        """Add a row as a case. The number, from 1, names a case without an id."""
        assertions = row.get(ASSERTIONS, [])
        path = settings.get("path", ()) or (CASES,)
        if not isinstance(assertions, list):
            self.report(position, "the assertions of a case must be a list", path)
            assertions = []
        case_id = row.get(ID, f"case{number}")
        if isinstance(case_id, int) and not isinstance(case_id, bool):
            case_id = str(case_id)
        if problem := id_problem(case_id):
            self.report(position, f"the id of a case {problem}", path)
            return
        values = {name: value for name, value in row.items() if name not in (ID, ASSERTIONS)}
        self.cases.append(ScenarioCase(case_id, values, assertions, position, **settings))

    def check_ids(self) -> None:
        """Report each id that occurs a second time."""
        first_cases: dict[str, ScenarioCase] = {}
        for case in self.cases:
            first = first_cases.setdefault(case.id, case)
            if first is not case:
                message = f'the id "{case.id}" occurs twice; the first is in line {first.position.line}'
                self.report(case.position, message, case.path or (CASES,))


def id_problem(case_id: object) -> str:
    """Return what is wrong with an id as the end of a sentence; empty if it can be used."""
    if not isinstance(case_id, str):
        return "must be text or a whole number"
    if not 0 < len(case_id) <= _MAX_ID:
        return f"must have 1 to {_MAX_ID} characters"
    if not case_id.isprintable() or case_id != case_id.strip() or "[" in case_id or "]" in case_id:
        return "must have printable characters only, no [ or ], and no space at its ends"
    return ""


def read_cases(value: Any, document: YamlDocument, root: Path) -> CaseTable:
    """Return the cases of a scenario: `value` is the list in its file, or the name of another file."""
    table = CaseTable()
    if isinstance(value, list):
        _add_inline(table, value, document)
    else:
        position = document.position((CASES,))
        try:
            case_file = file_in_project(value, position, root, _SUFFIXES, _USE)
            text = read_text(case_file, _MAX_FILE_BYTES)
        except UnreadableError as error:
            where = error.position if error.in_content else position
            table.report(where, error.message if error.in_content else f"{value}: {error.message}")
            return table
        add_rows = _add_csv if case_file.suffix == _CSV else _add_jsonl
        add_rows(table, text, _shown_path(position.file, value))
    if not table.cases and not table.problems:
        table.report(document.position((CASES,)), "has no cases")
    return table


def _shown_path(scenario_file: Path, name: str) -> Path:
    """Return the file as the scenario names it. Its links are not resolved, so that it is shown as people know it."""
    return scenario_file.parent / name


def _add_inline(table: CaseTable, rows: list[Any], document: YamlDocument) -> None:
    for index, row in enumerate(rows):
        path: FieldPath = (CASES, index)
        for name in row:
            if name not in (ID, ASSERTIONS):
                table.columns.setdefault(name, document.position((*path, name)))
        table.add(index + 1, row, document.position(path), path=path)


def _add_jsonl(table: CaseTable, text: str, file: Path) -> None:
    number = 0
    for line_number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        number += 1
        position = SourcePosition(file, line_number)
        try:
            row = json_codec.loads(line, max_depth=_MAX_DEPTH)
        except ValueError as error:
            column = error.colno if isinstance(error, json.JSONDecodeError) else 1
            table.report(SourcePosition(file, line_number, column), "is not JSON; each line is an object")
            continue
        if not isinstance(row, dict):
            table.report(position, "is not an object; each line is an object, with a field per variable")
            continue
        if not _has_only_characters(row):
            table.report(position, "holds half of a surrogate pair, which is not a character")
            continue
        new_names = [name for name in row if name not in (ID, ASSERTIONS) and name not in table.columns]
        if len(table.columns) + len(new_names) > _MAX_COLUMNS:
            table.report(position, _TOO_MANY_COLUMNS)
            return
        for name in new_names:
            table.columns[name] = SourcePosition(file, line_number, max(line.find(json.dumps(name)), 0) + 1)
        if _names_code(row.get(ASSERTIONS)):
            table.report(position, "a file of cases cannot name code: put the custom assertion into the scenario")
            continue
        table.add(number, row, position, text=line)


def json_columns(line: str) -> dict[str, int]:
    """Return the column, from 1, in which each value of a JSON object begins."""
    decoder = json.JSONDecoder()
    columns: dict[str, int] = {}
    index = line.find("{") + 1
    with suppress(ValueError, RecursionError):  # it was read by a parser that accepts more
        while not line[index:].lstrip().startswith("}"):
            name, end = decoder.raw_decode(line, _skip(line, index, ","))
            start = _skip(line, end, ":")
            columns[name] = start + 1
            _, index = decoder.raw_decode(line, start)
    return columns


def _skip(line: str, index: int, separator: str) -> int:
    """Return the index of the next character that is neither white space nor this separator."""
    while index < len(line) and (line[index].isspace() or line[index] == separator):
        index += 1
    return index


def _csv_position(case: ScenarioCase, name: str) -> SourcePosition:
    """Return where a value of a row begins, which is on a later line if the values before it have line breaks."""
    lines = io.StringIO(case.text, newline="").readlines()
    row = "".join(lines[case.position.line - 1 :])
    start = dict(zip(next(csv.reader(lines)), _column_starts(row), strict=False)).get(name, 1)
    line, column = line_and_column(row[: start - 1])
    return SourcePosition(case.position.file, case.position.line + line - 1, column)


def _has_only_characters(row: dict[str, Any]) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _names_code(assertions: Any) -> bool:
    """Return whether an assertion, also one inside another, is code of the project."""
    if isinstance(assertions, list):
        return any(map(_names_code, assertions))
    if not isinstance(assertions, dict):
        return False
    return assertions.get("type") == "custom" or any(map(_names_code, assertions.values()))


def _add_csv(table: CaseTable, text: str, file: Path) -> None:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows = _csv_rows(reader, table, file)
    _, header = next(rows, (0, []))
    if len(header) > _MAX_COLUMNS:
        table.report(SourcePosition(file), _TOO_MANY_COLUMNS)
        return
    names: set[str] = set()
    for name, column in zip(header, _column_starts(text), strict=False):
        position = SourcePosition(file, 1, column)
        if not name.strip():
            table.report(position, "this column has no name")
        elif name in names:
            table.report(position, f'two columns are named "{name}"')
        elif name == ASSERTIONS:
            table.report(position, "a value of a CSV is text: use a .jsonl file, or a list in the scenario")
        elif name != ID:
            table.columns[name] = position
        names.add(name)
    if table.problems:
        return
    for number, (line, row) in enumerate(rows, start=1):
        position = SourcePosition(file, line)
        if len(row) != len(header):
            table.report(position, f"has {len(row)} values, and the first line names {len(header)} columns")
        else:
            table.add(number, dict(zip(header, row, strict=True)), position, is_text=True, text=text)


def _csv_rows(reader: Any, table: CaseTable, file: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not empty, with the line on which it begins."""
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        table.report(SourcePosition(file, line), f"is not CSV: {error}")


def _column_starts(text: str) -> list[int]:
    """Return the column, from 1, in which each value of the first row begins."""
    columns, quoted = [1], False
    for index, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif not quoted and character in "\r\n":
            break
        elif not quoted and character == ",":
            columns.append(index + 2)
    return columns
