"""Read a scenario's file, and find everything that is wrong in it, each problem with its line and column.

The loader knows the YAML and the schema. What needs the project, such as tools and assertions, is checked in a second
step by `scenarios.workspace`, which reports what it finds to the `LoadedFile`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from salvo.engine.jsonio.pydantic_errors import FieldError, FieldPath, validate
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.messages import display_path, nearest
from salvo.errors import InputError, Problem, ScenarioFileError
from salvo.scenarios.spec.env_variables.mcp_variables import SERVERS, variable_fields
from salvo.scenarios.spec.env_variables.variables import variable_errors
from salvo.scenarios.spec.judge_server import document_judge_servers, user_server
from salvo.scenarios.spec.project import project_root
from salvo.scenarios.spec.schema import EXTENSION, NAME_ERROR, SUITE_FIELDS, Scenario
from salvo.scenarios.spec.source_text import SourcePosition
from salvo.scenarios.spec.tool_schema import YamlTool
from salvo.scenarios.spec.yaml_source import YamlDocument, YamlProblem, read_yaml

Model = TypeVar("Model", bound=BaseModel)

_OPTIONS = "adapter_options"
_MAX_KEY = 80


class LoadedFile(Generic[Model]):
    """A file as far as it could be read, and its problems so far."""

    def __init__(self, path: Path, model_type: type[Model], document: YamlDocument) -> None:
        self.path = path
        self.cell_name = document.data["scenario"] if document.cell is not None else ""
        self._data = _without_extensions(document.data)
        self.model, self._errors = validate(model_type, self._data)
        self._model_type = model_type
        self._document = document
        self._problems = [_problem(problem.position, problem.path, problem.message) for problem in document.problems]
        self._unusable = {problem.path for problem in document.problems if problem.unusable}
        """Values that already have a problem: other errors in them would only be consequences of it."""
        if isinstance(self._data, dict):
            self.report(self._errors)
        elif document.is_expanded:
            self.report([FieldError((), "must be a mapping: lines of `field: value`")])

    @property
    def problems(self) -> list[Problem]:
        """Return the problems in the order of the file, those in included files last."""
        if not self._problems:
            return []
        name = display_path(self.path)
        return sorted(dict.fromkeys(self._problems), key=lambda problem: (problem.file != name, problem[:3]))

    def report(self, errors: Iterable[FieldError]) -> None:
        """Add each error as a problem, at the position of its field."""
        for error in errors:
            if not any(error.path[: len(path)] == path for path in self._unusable):
                locate = self._document.key_position if error.unknown else self._document.position
                note = self._document.note(error.path) if error.message.startswith("must be") else ""
                self._problems.append(_problem(locate(error.path), error.path, error.message + note))

    def position(self, path: FieldPath) -> SourcePosition:
        """Return where a field is, also if it is in an included file."""
        return self._document.position(path)

    def draft(self) -> Model | None:
        """Return the model, with stand-ins for what is wrong, so that the rest of it can be checked.

        Errors about a stand-in are not reported.
        """
        if self.model is None and isinstance(self._data, dict):
            data, replaced = _with_stand_ins(self._data, self._errors)
            self._unusable |= replaced
            return validate(self._model_type, data)[0]
        return self.model

    def valid_model(self) -> Model:
        """Return the model, or raise ScenarioFileError with every problem."""
        if self.model is None or self._problems:
            raise ScenarioFileError(self.problems)
        return self.model


def load_scenarios(
    path: Path, *, environ: Mapping[str, str] | None = None, root: Path | None = None, only_judges: bool = False
) -> list[LoadedFile[Scenario]]:
    """Read a scenario file: one scenario, or one for each cell if it has cases or a matrix.

    If the cells cannot be made, there is one entry without a model that has the problems. Variables of the environment
    are checked if there is an environment. Includes must be inside the root, or inside the file's own project if the
    file is outside the root.
    """
    root = project_root(path, root)
    document = read_yaml(path, root)
    _check_fields(document)
    documents: Sequence[YamlDocument] = [document]
    if isinstance(document.data, dict) and any(name in document.data for name in SUITE_FIELDS):
        from salvo.scenarios.spec.cases.expansion import expand  # most files have neither cases nor a matrix

        documents = [] if document.problems else expand(document, root)
        if document.problems:
            # Other errors would only be consequences of these.
            documents = [YamlDocument(problems=document.problems, is_expanded=False)]
    for item in documents:
        if environ is not None and isinstance(item.data, dict):
            item.problems.extend(_variable_problems(item, environ, only_judges=only_judges))
    return [_load_document(path, item) for item in documents]


def _variable_problems(
    document: YamlDocument, environ: Mapping[str, str], *, only_judges: bool
) -> Iterator[YamlProblem]:
    """Yield each variable that is not set: in the adapter's options, and in servers of judges and of the user."""
    options: list[tuple[FieldPath, Any]] = []
    if not only_judges:
        options.append(((_OPTIONS,), document.data.get(_OPTIONS)))
        options.append(((SERVERS,), variable_fields(document.data.get(SERVERS))))
        if (user := user_server(document.data)) is not None:
            options.append((user.path, user.fields))
    options += [(use.path, use.fields) for use in document_judge_servers(document.data)]
    for options_path, values in options:
        for error in variable_errors(values, options_path, environ):
            yield YamlProblem(error.path, document.position(error.path), error.message)


def _load_document(path: Path, document: YamlDocument) -> LoadedFile[Scenario]:
    loaded = LoadedFile(path, Scenario, document)
    if loaded.model is not None and document.cell is not None:
        loaded.model = loaded.model.with_cell(document.cell)
    return loaded


def _check_fields(document: YamlDocument) -> None:
    """Report what the schema of a scenario cannot: a misspelt `cases` or `matrix`, and the name of a cell."""
    if not isinstance(document.data, dict):
        return
    for name in document.data:
        known_fields = [*Scenario.model_fields, *SUITE_FIELDS]
        if name not in known_fields and (suggestion := nearest(name, known_fields)) in SUITE_FIELDS:
            message = f'no such field; did you mean "{suggestion}"?'
            document.problems.append(YamlProblem((name,), document.key_position((name,)), message))
    name = document.data.get("scenario")
    if isinstance(name, str) and "[" in name:
        document.problems.append(YamlProblem(("scenario",), document.position(("scenario",)), NAME_ERROR))


def merge_problems(loaded: Sequence[LoadedFile[Scenario]]) -> list[Problem]:
    """Return the problems of a file's scenarios. One that is in some cells only names the first of them."""
    cells: dict[Problem, list[str]] = {}
    for item in loaded:
        for problem in item.problems:
            cells.setdefault(problem, []).append(item.cell_name)
    merged = [
        problem if len(names) == len(loaded) else problem._replace(message=f"{problem.message} ({_some(names)})")
        for problem, names in cells.items()
    ]
    own = display_path(loaded[0].path) if merged else ""
    return sorted(merged, key=lambda problem: (problem.file != own, problem[:3]))


def _some(names: Sequence[str]) -> str:
    others = f" and {pluralize(len(names) - 1, 'other cell')}" if len(names) > 1 else ""
    return f"in {names[0]}{others}"


def read_tool(path: Path) -> YamlTool:
    """Read a tool from its own file, `tools/<name>.yaml`."""
    return LoadedFile(path, YamlTool, read_yaml(path, project_root(path))).valid_model()


def from_document(document: Mapping[str, Any]) -> Scenario:
    """Return the scenario of a stored document."""
    scenario, errors = validate(Scenario, dict(document))
    if scenario is None:
        raise InputError(
            f"The stored scenario cannot be used: {join_errors(errors)}", hint="Was it stored by another version?"
        )
    return scenario


def join_errors(errors: Iterable[FieldError]) -> str:
    """Return the errors of a scenario that is not in a file as the end of a sentence."""
    messages = [(_field_name(error.path), error.message.rstrip(".")) for error in errors]
    text = "; ".join(f"{field}: {message}" if field else message for field, message in messages)
    return text if text.endswith("?") else f"{text}."


def _problem(position: SourcePosition, path: FieldPath, message: str) -> Problem:
    # A message may quote an exception of several lines; a problem takes one line.
    message = "; ".join(message.splitlines())
    return Problem(display_path(position.file), position.line, position.column, _field_name(path), message)


def _field_name(path: FieldPath) -> str:
    """Return a path as in `assertions[0].weight`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{_short_key(step)}" for step in path).removeprefix(".")


def _short_key(key: str) -> str:
    return key if len(key) <= _MAX_KEY and key.isprintable() else f"{ascii(key)[1:_MAX_KEY]}…"


def _without_extensions(data: Any) -> Any:
    """Return the data without top-level `x-` fields, which hold what the file itself refers to by YAML aliases."""
    if not isinstance(data, dict):
        return data
    return {name: value for name, value in data.items() if not name.startswith(EXTENSION)}


_STAND_INS: Mapping[str, Any] = {
    "scenario": "unnamed",
    "adapter": "openai",
    "user_message": "?",
    "assertions": [{"type": "jmespath"}],
}
"""Values for the required fields of a scenario."""
_ITEM_STAND_INS: Mapping[str, tuple[str, str]] = {"assertions": ("type", "jmespath"), "tools": ("name", "unnamed")}
"""The required field of an item of these lists, and a value for it."""


def _with_stand_ins(data: dict[str, Any], errors: Iterable[FieldError]) -> tuple[dict[str, Any], set[FieldPath]]:
    """Return valid data in place of what has errors, and the paths of what was replaced.

    A misspelt field is renamed to its suggestion, and an unknown field is dropped.
    """
    data = copy.deepcopy(data)
    replaced: set[FieldPath] = set()
    for error in errors:
        parent = _mapping_at(data, error.path[:-1])
        if error.suggestion and parent is not None:
            parent[error.suggestion] = parent.pop(error.path[-1], None)
        elif error.unknown and parent is not None:
            parent.pop(error.path[-1], None)
        else:
            replaced.add(_replace(data, error.path))
    return data, replaced


def _replace(data: dict[str, Any], path: FieldPath) -> FieldPath:
    """Put a stand-in or the default at the path, and return the path of what was replaced."""
    top = str(path[0]) if path else ""
    if top in _ITEM_STAND_INS and len(path) > 1 and isinstance(path[1], int):
        required, stand_in = _ITEM_STAND_INS[top]
        item = _mapping_at(data, path[:2])
        if item is not None and len(path) > 2 and path[2] != required and required in item:
            item.pop(str(path[2]), None)
            return path[:3]
        data[top][path[1]] = {required: stand_in}
        return path[:2]
    data.pop(top, None)
    if top in ("turns", "user"):
        data.setdefault("user_message", _STAND_INS["user_message"])
        data.setdefault("assertions", copy.deepcopy(_STAND_INS["assertions"]))
    elif top in _STAND_INS and not (top == "user_message" and (data.get("turns") or data.get("user"))):
        data[top] = copy.deepcopy(_STAND_INS[top])
    return path[:1]


def _mapping_at(data: Any, path: FieldPath) -> dict[Any, Any] | None:
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data if isinstance(data, dict) else None
