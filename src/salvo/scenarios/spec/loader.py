"""A scenario's file to a Scenario, and everything that is wrong with it at once, each with its line and column."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from pydantic import BaseModel

from salvo.engine.jsonio.pydantic_errors import FieldError, validate
from salvo.errors import InputError, Problem, SalvoError, ScenarioFileError
from salvo.scenarios.spec import variables
from salvo.scenarios.spec.mending import mended
from salvo.scenarios.spec.paths import root_of, shown
from salvo.scenarios.spec.schema import Scenario, YamlTool
from salvo.scenarios.spec.yaml_document import Document, Steps, read_document
from salvo.scenarios.spec.yaml_source import SourcePosition, UnreadableYamlError

__all__ = [
    "Check",
    "CheckFinding",
    "Problem",
    "ScenarioFileError",
    "from_document",
    "listed",
    "read",
    "read_all",
    "read_tool",
    "scenario_document",
]


class CheckFinding(NamedTuple):
    """What is wrong with a value of a file, and the way to it."""

    path: Steps
    message: str


Check: TypeAlias = Callable[[Scenario, Path], Iterable[CheckFinding]]
"""What the shape cannot tell: tools that are nowhere, regular expressions that do not compile."""

Model = TypeVar("Model", bound=BaseModel)

_LONGEST_KEY = 80


def read(
    path: Path,
    *,
    checks: Sequence[Check] = (),
    environ: Mapping[str, str] | None = None,
    root: Path | None = None,
    will_call: bool = True,
) -> Scenario:
    """The scenario, or ScenarioFileError with all that is wrong. Includes stay inside the root, else the file's own.

    Where nothing will be called, no value of the environment is needed.
    """
    return _examined(path, checks, environ, root, will_call=will_call).usable()


def read_all(
    paths: Iterable[Path],
    *,
    checks: Sequence[Check] = (),
    environ: Mapping[str, str] | None = None,
    root: Path | None = None,
) -> tuple[list[tuple[Path, Scenario]], list[Problem]]:
    """The files that can be used, and the problems of all others; two scenarios of one name are a problem too."""
    read_so_far: list[tuple[Path, Scenario]] = []
    problems: list[Problem] = []
    named: dict[str, Path] = {}
    for path in paths:
        examined = _examined(path, checks, environ, root)
        problems += examined.problems
        if examined.problems or examined.model is None:
            continue
        name = examined.model.scenario
        if name in named:
            examined.note(("scenario",), f'"{name}" is also the name of {shown(named[name])}')
            problems += examined.problems
            continue
        named[name] = path
        read_so_far.append((path, examined.model))
    return read_so_far, problems


def read_tool(path: Path, *, root: Path | None = None) -> YamlTool:
    """A tool's own file, `tools/<name>.yaml`."""
    examined = _Examined[YamlTool](path, root)
    examined.fit(YamlTool)
    return examined.usable()


def scenario_document(scenario: Scenario) -> dict[str, Any]:
    """The scenario as plain JSON data, defaults and all: what is stored does not change with a later version."""
    return scenario.model_dump(mode="json")


def from_document(document: Mapping[str, Any]) -> Scenario:
    """A stored scenario again."""
    scenario, misfits = validate(Scenario, dict(document))
    if scenario is None:
        wrong = listed(CheckFinding(misfit.path, misfit.message) for misfit in misfits)
        raise InputError(f"The stored scenario cannot be used: {wrong}.", hint="Was it stored by another version?")
    return scenario


def listed(findings: Iterable[CheckFinding]) -> str:
    """What is wrong with a scenario that stands in no file, in one sentence."""
    return "; ".join(f"{_field(path)}: {message.rstrip('.')}" if path else message for path, message in findings)


class _Examined(Generic[Model]):
    """A file as far as it could be read: first its YAML, then its shape, then what the checks find in it."""

    def __init__(self, path: Path, root: Path | None) -> None:
        self.path = path
        self.model: Model | None = None
        self._document: Document | None = None
        self._misfits: list[FieldError] = []
        self._problems: list[Problem] = []
        try:
            self._document = read_document(path, root_of(path, root))
        except UnreadableYamlError as fault:
            self._problems.append(_problem(fault.place, (), fault.message))

    @property
    def problems(self) -> list[Problem]:
        """In the order of the file; what stands in included files comes after it."""
        here = shown(self.path)
        return sorted(dict.fromkeys(self._problems), key=lambda problem: (problem.file != here, problem[:3]))

    def usable(self) -> Model:
        if self.model is None or self._problems:
            raise ScenarioFileError(self.problems)
        return self.model

    def check_variables(self, environ: Mapping[str, str]) -> None:
        if self._document is not None:
            variables.check(self._document, environ)

    def fit(self, model: type[Model]) -> None:
        if self._document is None:
            return
        for fault in self._document.faults:
            self._problems.append(_problem(fault.place, fault.steps, fault.message))
        if not isinstance(self._document.data, dict):
            self._note(self._document, (), "must be a mapping: lines of `field: value`")
            return
        self.model, self._misfits = validate(model, self._document.data)
        for misfit in self._misfits:
            self._note(self._document, misfit.path, misfit.message, at_key=misfit.unknown)

    def check(self, checks: Sequence[Check]) -> None:
        """Also where the shape does not fit: then with something possible in place of what does not."""
        document, scenario, replaced = self._document, cast(BaseModel | None, self.model), set[Steps]()
        if document is None or not checks:
            return
        if scenario is None and self._misfits:
            data, replaced = mended(document.data, self._misfits)
            scenario, _ = validate(Scenario, data)
        if isinstance(scenario, Scenario):
            for finding in _found(checks, scenario, self.path):
                if not _is_within(finding.path, replaced):
                    self._note(document, finding.path, finding.message)

    def note(self, steps: Steps, message: str) -> None:
        if self._document is not None:
            self._note(self._document, steps, message)

    def _note(self, document: Document, steps: Steps, message: str, *, at_key: bool = False) -> None:
        # What is wrong with a value that could not even be read has been told.
        if not _is_within(steps, {fault.steps for fault in document.faults if fault.spoils}):
            place = document.place_of_key(steps) if at_key else document.place(steps)
            self._problems.append(_problem(place, steps, message))


def _problem(place: SourcePosition, steps: Steps, message: str) -> Problem:
    # One line each, also where a finding quotes an error that has several.
    return Problem(shown(place.file), place.line, place.column, _field(steps), "; ".join(message.splitlines()))


def _field(steps: Steps) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{_short(step)}" for step in steps).removeprefix(".")


def _short(key: str) -> str:
    """A key on one line; no field has a name as long as what may stand for one."""
    return key if len(key) <= _LONGEST_KEY and key.isprintable() else f"{ascii(key)[1:_LONGEST_KEY]}…"


def _examined(
    path: Path,
    checks: Sequence[Check],
    environ: Mapping[str, str] | None,
    root: Path | None,
    *,
    will_call: bool = True,
) -> _Examined[Scenario]:
    examined = _Examined[Scenario](path, root)
    if will_call:
        examined.check_variables(os.environ if environ is None else environ)
    examined.fit(Scenario)
    examined.check(checks)
    return examined


def _is_within(steps: Steps, told: Iterable[Steps]) -> bool:
    return any(steps[: len(at)] == at for at in told)


def _found(checks: Sequence[Check], scenario: Scenario, path: Path) -> Iterator[CheckFinding]:
    for check in checks:
        try:
            yield from (CheckFinding(*found) for found in check(scenario, path))
        except SalvoError as fault:
            yield CheckFinding((), str(fault))
