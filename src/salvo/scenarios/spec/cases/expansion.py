"""Expand a scenario file with `cases` or a `matrix` into one document for each cell.

expand(document)        everything that is wrong is added to the document's problems
  read_cases(…)         the cases (case_table.py)
  read_axes(…)          the values of the matrix, each with its id (matrix.py)
  _Checks(…)            variables, columns and code
  _cells(…)             each case with each combination of the matrix, less `exclude`
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from salvo.engine.jsonio.pydantic_errors import FieldPath, validate
from salvo.engine.text.messages import did_you_mean, nearest
from salvo.records import record
from salvo.scenarios.result import CASE, PROVIDER_ADAPTERS
from salvo.scenarios.spec.cases.case_table import ASSERTIONS, CASES, CaseTable, ScenarioCase, read_cases
from salvo.scenarios.spec.cases.cell_fields import (
    contains,
    is_same,
    is_too_short,
    leaf_texts,
    names_code,
    names_variable,
    set_at,
    variable_names,
)
from salvo.scenarios.spec.cases.matrix import MATRIX, Axis, read_axes
from salvo.scenarios.spec.cases.templates import Template, TemplateUse, find_uses
from salvo.scenarios.spec.schema import NAME_ERROR, SCENARIO_NAME, SUITE_FIELDS, Cell, Scenario, SuiteFields
from salvo.scenarios.spec.source_text import SourcePosition
from salvo.scenarios.spec.yaml_source import YamlDocument, YamlProblem

EXCLUDE = "exclude"
PRIVATE = "private"
MAX_CELLS = 100_000
MAX_EXPANDED = 200_000_000
"""The characters of all texts with variables, once they are filled."""
_OPTIONS = "adapter_options"


@dataclass
class CellDocument(YamlDocument):
    """The document of one cell. Its positions are those of the scenario file."""

    base: YamlDocument = field(default_factory=YamlDocument)
    redirects: Sequence[tuple[FieldPath, FieldPath | SourcePosition]] = ()
    """Where the parts of the cell are that come from the matrix or from the case."""
    case: ScenarioCase | None = None
    case_paths: Mapping[FieldPath, str] = field(default_factory=dict)
    """The fields that are a value of the case as it is, and the names of the values."""

    def position(self, path: FieldPath) -> SourcePosition:
        name, length = self._case_value(path)
        if name is not None and self.case is not None:
            place = self.case.place(name)
            return place if isinstance(place, SourcePosition) else self.base.position((*place, *path[length:]))
        for prefix, target in self.redirects:
            if path[: len(prefix)] == prefix:
                if isinstance(target, SourcePosition):
                    return target
                return self.base.position((*target, *path[len(prefix) :]))
        return self.base.position(path)

    def key_position(self, path: FieldPath) -> SourcePosition:
        from_elsewhere = self.redirects or self._case_value(path)[0] is not None
        return self.position(path) if from_elsewhere else self.base.key_position(path)

    def note(self, path: FieldPath) -> str:
        is_text = self.case is not None and self.case.is_text and path in self.case_paths
        return "; a value of a CSV is text, use .jsonl or a list for other types" if is_text else ""

    def _case_value(self, path: FieldPath) -> tuple[str | None, int]:
        """Return the name of the case's value that the field is, or is a part of, and the length of its path."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.case_paths:
                return self.case_paths[path[:length]], length
        return None, 0


@record
class _Exclusion:
    """The cases and the values of the matrix whose combinations are left out; None stands for all of them."""

    cases: frozenset[int] | None
    values: Mapping[int, frozenset[int]]

    def matches(self, case: int, combination: Sequence[int]) -> bool:
        if self.cases is not None and case not in self.cases:
            return False
        return all(combination[axis] in allowed for axis, allowed in self.values.items())


def expand(document: YamlDocument, root: Path) -> list[CellDocument]:
    """Return the document of each cell. Without problems there is at least one."""
    data = document.data
    fields, errors = validate(SuiteFields, {name: data[name] for name in SUITE_FIELDS if name in data})
    document.problems += [YamlProblem(error.path, document.position(error.path), error.message) for error in errors]
    if fields is None:
        return []
    if fields.cases is None and not fields.matrix:
        name = next(name for name in SUITE_FIELDS if name in data)
        message = "takes at least one field and its values" if name == MATRIX else "needs cases or a matrix"
        document.problems.append(YamlProblem((name,), document.position((name,)), message))
        return []
    base = {name: value for name, value in data.items() if name not in SUITE_FIELDS}
    table = CaseTable([ScenarioCase("", {}, [], document.position(()))])
    if fields.cases is not None:
        table = read_cases(fields.cases, document, root)
    axes = list(read_axes(fields.matrix, document))
    expansion = _Expansion(document, base, table, axes, fields)
    expansion.check()
    return [] if document.problems else expansion.cells()


@dataclass
class _Expansion:
    document: YamlDocument
    base: dict[str, Any]
    table: CaseTable
    axes: list[Axis]
    fields: SuiteFields

    def _report(self, path: FieldPath, message: str, position: SourcePosition | None = None) -> None:
        self.document.problems.append(YamlProblem(path, position or self.document.position(path), message))

    # --- What is wrong in the file

    def check(self) -> None:
        name = self.base.get("scenario")
        if name is None:
            self._report(("scenario",), "is missing")
        elif not isinstance(name, str) or not re.fullmatch(SCENARIO_NAME, name):
            self._report(("scenario",), NAME_ERROR)
        self._check_axes()
        uses = list(self._uses())
        if not self.table.problems:  # names are missing there, too
            self._check_names(uses)
        self.table.check_ids()
        self._check_code(uses)
        self._check_private()
        count = len(self.table.cases)
        for axis in self.axes:
            count *= len(axis.values)
        if count > MAX_CELLS:
            self._report((), f"has {count:,} cells; at most {MAX_CELLS:,} are possible")
        self.document.problems += self.table.problems

    def _check_axes(self) -> None:
        setters: dict[FieldPath, str] = {}
        for axis in self.axes:
            path: FieldPath = (MATRIX, axis.name)
            if not axis.values:
                self._report(path, "must not be empty")
            if axis.name in self.table.columns or axis.name == CASE:
                self._report(path, "is also a column of the cases" if axis.name != CASE else "is the name of the cases")
            for field_path in {item[0]: None for value in axis.values for item in axis.settings(value)}:
                if field_path[0] == "scenario":
                    self._report(path, "cannot set the scenario's name: the id of a cell is added to it")
                elif contains(self.base, field_path):
                    line = self.document.position(field_path).line
                    self._report(path, f"{'.'.join(map(str, field_path))} is also set in line {line}")
                elif (first := setters.setdefault(field_path, axis.name)) != axis.name:
                    self._report(path, f"{'.'.join(map(str, field_path))} is also set by {first}")
            for place, message in axis.value_problems():
                self._report(place, message)

    def _uses(self) -> Iterator[tuple[TemplateUse, FieldPath]]:
        """Yield each variable, and where it is in the file."""
        yield from ((use, use.path) for use in find_uses(self.base))
        for axis in self.axes:
            for value in axis.values:
                for path, content, place in axis.settings(value):
                    for use in find_uses(content):
                        yield use._replace(path=(*path, *use.path)), (*place, *use.path)

    def _check_names(self, uses: Sequence[tuple[TemplateUse, FieldPath]]) -> None:
        known_names = {*self.table.columns, *(axis.name for axis in self.axes)}
        for use, path in uses:
            if use.name not in known_names:
                suggestion = nearest(use.name, known_names)
                hint = f'did you mean "{suggestion}"?' if suggestion else "name a column of the cases, or of the matrix"
                self._report(path, f'there is no variable "{use.name}"; {hint}')
        used = {use.name: use.path for use, _ in uses}
        excluding = {name for entry in self.fields.exclude for name in entry}
        for name, position in self.table.columns.items():
            if name not in used and name not in excluding and not name.startswith("_"):
                message = (
                    f'the column "{name}" is never used as {{{{ {name} }}}}; begin its name with _ if that is intended'
                )
                self._report((CASES,), message, position)
        for axis in self.axes:
            if axis.is_variable and axis.name not in used:
                suggestion = nearest(axis.name, Scenario.model_fields)
                hint = f'; did you mean "{suggestion}"?' if suggestion else ""
                self._report((MATRIX, axis.name), f"is no field, and is never used as {{{{ {axis.name} }}}}{hint}")
        needed = [name for name in used if name in self.table.columns]
        for case in self.table.cases:
            for name in needed:
                if name not in case.values:
                    message = f'the case "{case.id}" has no "{name}", which {used[name][0]} uses'
                    self.table.report(case.position, message, case.path or (CASES,))

    def _check_code(self, uses: Sequence[tuple[TemplateUse, FieldPath]]) -> None:
        """Refuse a column where it would choose which code runs: cases are data."""
        for use, path in uses:
            if use.name in self.table.columns and names_code(use.path):
                self._report(
                    path, f"the column {use.name} would choose the code that runs; write it here, or in the matrix"
                )
            elif use.name in self.table.columns and names_variable(use.path):
                self._report(
                    path, f"the column {use.name} would name an environment variable; write it here, or in the matrix"
                )

    def _check_private(self) -> None:
        for index, name in enumerate(self.fields.private):
            if name not in self.table.columns:
                suggestion = did_you_mean(name, self.table.columns).removesuffix(".")
                message = "the id of a case is part of every name, so it cannot be private"
                self._report((PRIVATE, index), message if name == "id" else f'there is no column "{name}"{suggestion}')
        for case in self.table.cases:
            for name in self.fields.private:
                if any(map(is_too_short, leaf_texts(case.values.get(name)))):
                    message = (
                        f'the private value "{name}" is too short to be found in other texts; leave the column out'
                    )
                    self.table.report(case.position, message, case.path or (CASES,))

    # --- The cells

    def cells(self) -> list[CellDocument]:
        exclusions = [self._exclusion(index, entry) for index, entry in enumerate(self.fields.exclude)]
        if self.document.problems:
            return []
        cells: list[CellDocument] = []
        names: set[str] = set()
        size = 0
        for case, combination in self._selected(exclusions):
            size += combination.template.length(case.values)
            if size > MAX_EXPANDED:
                self._report((), "is too large once its variables are filled in every cell")
                return []
            cell = combination.document(self, case)
            name = cell.data["scenario"]
            if name in names:
                self._report((), f'two cells are named "{name}"; give the cases or the values other ids')
                return []
            names.add(name)
            cells.append(cell)
        if not cells:
            self._report((EXCLUDE,), "leaves out every cell")
        return cells

    def _selected(self, exclusions: Sequence[_Exclusion]) -> Iterator[tuple[ScenarioCase, _Combination]]:
        """Yield each case with each combination of the matrix, less the excluded ones."""
        combinations = [
            (indexes, self._combination(indexes))
            for indexes in itertools.product(*(range(len(axis.values)) for axis in self.axes))
        ]
        unmatched = set(range(len(exclusions)))
        for number, case in enumerate(self.table.cases):
            for indexes, combination in combinations:
                matches = {i for i, exclusion in enumerate(exclusions) if exclusion.matches(number, indexes)}
                unmatched -= matches
                if not matches:
                    yield case, combination
        for index in sorted(unmatched):
            self._report((EXCLUDE, index), "leaves out nothing: no cell has all of these")

    def _exclusion(self, index: int, entry: Mapping[str, Any]) -> _Exclusion:
        cases: frozenset[int] | None = None
        values: dict[int, frozenset[int]] = {}
        names = [axis.name for axis in self.axes]
        for name, wanted in entry.items():
            path: FieldPath = (EXCLUDE, index, name)
            if name in names:
                number = names.index(name)
                items = enumerate(self.axes[number].values)
                values[number] = frozenset(i for i, item in items if item.id == wanted or is_same(item.value, wanted))
                is_empty = not values[number]
            elif name == CASE or name in self.table.columns:
                matching = frozenset(
                    number
                    for number, case in enumerate(self.table.cases)
                    if (case.id == wanted if name == CASE else is_same(case.values.get(name), wanted))
                )
                cases = matching if cases is None else cases & matching
                is_empty = not matching
            else:
                known_names = [CASE, *names, *self.table.columns]
                self._report(
                    path, f"is neither in the matrix nor a column{did_you_mean(name, known_names)}".removesuffix(".")
                )
                continue
            if is_empty:
                self._report(path, "no cell has this value or id")
        if not entry:
            self._report((EXCLUDE, index), "must not be empty")
        return _Exclusion(cases, values)

    def _combination(self, indexes: Sequence[int]) -> _Combination:
        data: dict[str, Any] = dict(self.base)
        values = [axis.values[index] for axis, index in zip(self.axes, indexes, strict=True)]
        redirects: list[tuple[FieldPath, FieldPath | SourcePosition]] = []
        for axis, value in zip(self.axes, values, strict=True):
            for path, content, place in axis.settings(value):
                set_at(data, path, content)
                redirects.append((path, place))
        return _Combination(
            Template(data),
            {axis.name: value.value for axis, value in zip(self.axes, values, strict=True)},
            {axis.name: value.id for axis, value in zip(self.axes, values, strict=True)},
            redirects,
            variable_names(data),
            {use.path: use.name for use in find_uses(data) if use.is_whole and use.name in self.table.columns},
        )


@record
class _Combination:
    """One combination of the matrix, to be filled with each case."""

    template: Template
    values: Mapping[str, Any]
    ids: Mapping[str, str]
    redirects: list[tuple[FieldPath, FieldPath | SourcePosition]]
    variables: list[str]
    """The environment variables that the file names. A case must not add one."""
    case_paths: Mapping[FieldPath, str]

    def document(self, expansion: _Expansion, case: ScenarioCase) -> CellDocument:
        suite = expansion.base["scenario"]
        data = dict(self.template.fill({**case.values, **self.values}))
        parameters = ({CASE: case.id} if case.id else {}) | dict(self.ids)
        data["scenario"] = f"{suite}[{'-'.join(parameters.values())}]"
        redirects = self.redirects
        if case.assertions:
            own = data.get(ASSERTIONS, [])
            if isinstance(own, list):
                data[ASSERTIONS] = [*own, *case.assertions]
                redirects = [*redirects, *_assertion_places(case, len(own))]
        _choose_adapter(data)
        problems = []
        if variable_names(data) != self.variables:
            message = f'a value of the case "{case.id}" would name an environment variable; only this file may'
            problems.append(YamlProblem((_OPTIONS,), expansion.document.position((_OPTIONS,)), message))
        private = {name: case.values[name] for name in expansion.fields.private if name in case.values}
        return CellDocument(
            data=data,
            problems=problems,
            cell=Cell(suite, parameters, {name: tuple(leaf_texts(value)) for name, value in private.items()}),
            base=expansion.document,
            redirects=redirects,
            case=case,
            case_paths=self.case_paths,
        )


def _assertion_places(case: ScenarioCase, first: int) -> Iterator[tuple[FieldPath, FieldPath | SourcePosition]]:
    for index in range(len(case.assertions)):
        place: FieldPath | SourcePosition = (*case.path, ASSERTIONS, index) if case.path else case.position
        yield (ASSERTIONS, first + index), place


def _choose_adapter(data: dict[str, Any]) -> None:
    """Take the adapter from a model with its provider, such as openai/gpt-5.4-mini, if there is no adapter."""
    model = data.get("model")
    if "adapter" not in data and isinstance(model, str):
        provider, slash, name = model.partition("/")
        if slash and provider in PROVIDER_ADAPTERS:
            data["adapter"], data["model"] = provider, name
