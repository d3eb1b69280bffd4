"""Turn a configuration of promptfoo into a scenario file with cases and a matrix."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from salvo.engine.text.messages import display_path
from salvo.errors import InputError, Problem, ScenarioFileError
from salvo.records import record
from salvo.scenarios.promptfoo.cases import ImportedCase, read_tests
from salvo.scenarios.promptfoo.notes import ImportNote, ImportNotes
from salvo.scenarios.promptfoo.prompts import read_prompts
from salvo.scenarios.promptfoo.providers import clean_id, model_name, read_providers
from salvo.scenarios.spec.project import find_root
from salvo.scenarios.spec.yaml_source import read_yaml

_KNOWN = {
    "description", "prompts", "providers", "targets", "tests", "scenarios", "defaultTest", "evaluateOptions",
    "outputPath", "tags", "sharing", "env", "assertionTemplates",
}  # fmt: skip
"""Fields that are translated, or that say nothing about what is tested."""
_MOST_INLINE = 100
"""Cases in the scenario file itself; more are written into a file of their own."""
_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_PROMPT = "prompt"
_PROVIDER = "provider"


@record
class ImportedSuite:
    name: str
    document: dict[str, Any]
    cases: list[dict[str, Any]]
    notes: ImportNotes

    @property
    def untranslated(self) -> list[ImportNote]:
        """What the scenario does not have, in the order of the configuration."""
        return sorted(self.notes.untranslated, key=lambda note: (note.file, note.line))

    def files(self) -> dict[str, str]:
        """Return the text of each file by its name: the scenario, and its cases if there are many."""
        document = dict(self.document)
        if len(self.cases) <= _MOST_INLINE:
            document["cases"] = self.cases
            return {f"{self.name}.yaml": as_yaml(document)}
        document["cases"] = f"{self.name}.jsonl"
        rows = "".join(f"{json.dumps(case, ensure_ascii=False)}\n" for case in self.cases)
        return {f"{self.name}.yaml": as_yaml(document), f"{self.name}.jsonl": rows}


def import_config(file: Path, name: str | None = None) -> ImportedSuite:
    """Return the scenario for a configuration. Raise InputError if nothing in it can be run."""
    root = find_root(file.parent)
    document = read_yaml(file, root)
    if document.problems:
        raise ScenarioFileError(
            [
                Problem(display_path(item.position.file), item.position.line, item.position.column, "", item.message)
                for item in document.problems
            ]
        )
    config = document.data
    if not isinstance(config, dict) or "prompts" not in config:
        raise InputError(f"{display_path(file)} is not a configuration of promptfoo: it has no prompts.")
    notes = ImportNotes(document.position)
    for field in config:
        if field not in _KNOWN:
            notes.skip((field,), f"{field} has no counterpart")
    if config.get("env"):
        notes.skip(("env",), "set these variables in the environment: a scenario has none")
    config = _resolve_references(config, config)
    if "targets" in config:
        config = {"providers": config["targets"], **config}
    providers = read_providers(config.get("providers"), notes)
    prompts = read_prompts(config["prompts"], root, notes)
    cases = [case for case in read_tests(config, root, notes) if _has_message(case, prompts, notes)]
    if not (providers and prompts and cases):
        missing = "provider" if not providers else "prompt" if not prompts else "test"
        reasons = "\n".join(map(str, notes.untranslated))
        raise InputError(f"There is no {missing} that Salvo can run, so nothing was written.\n{reasons}".rstrip())
    return _Converter(config, name or _suite_name(config, file), providers, prompts, cases, notes).suite()


def _resolve_references(value: Any, config: Mapping[str, Any]) -> Any:
    """Replace `{$ref: "#/assertionTemplates/polite"}` by what stands there. Any other reference stays as it is.

    References in what is referred to stay, too: they could multiply it without end.
    """
    if isinstance(value, list):
        return [_resolve_references(item, config) for item in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = config
        for step in reference.removeprefix("#/").split("/"):
            target = target.get(step) if isinstance(target, dict) else None
        return value if target is None else target
    return {name: _resolve_references(item, config) for name, item in value.items()}


def _has_message(case: ImportedCase, prompts: Mapping[str, Mapping[str, str]], notes: ImportNotes) -> bool:
    """Return whether no prompt is empty with the variables of the case. If one is, add a note."""
    for fields in prompts.values():
        message = _VARIABLE.sub(lambda match: str(case.variables.get(match[1], "")), fields["user_message"])
        if not message.strip():
            notes.skip(case.path, f"the test {case.id} was left out: its message to the model would be empty")
            return False
    return True


def _suite_name(config: Mapping[str, Any], file: Path) -> str:
    description = config.get("description")
    text = description if isinstance(description, str) else file.resolve().parent.name
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_-")[:60]
    return name or "imported"


@dataclass(frozen=True)
class _Converter:
    config: Mapping[str, Any]
    name: str
    providers: dict[str, dict[str, Any]]
    prompts: dict[str, dict[str, str]]
    cases: list[ImportedCase]
    notes: ImportNotes

    def suite(self) -> ImportedSuite:
        document: dict[str, Any] = {"scenario": self.name}
        if isinstance(description := self.config.get("description"), str) and description:
            document["description"] = description
        matrix: dict[str, Any] = {}
        for axis, values in ((_PROVIDER, self.providers), (_PROMPT, self.prompts)):
            if len(values) == 1:
                document |= next(iter(values.values()))
            else:
                matrix[axis] = values
        if matrix:
            document["matrix"] = matrix
        if exclude := self._exclusions():
            document["exclude"] = exclude
        document |= self._run_settings()
        return ImportedSuite(self.name, document, [self._case(case) for case in self.cases], self.notes)

    def _run_settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        options = self.config.get("evaluateOptions")
        options = options if isinstance(options, dict) else {}
        if isinstance(repeat := options.get("repeat"), int) and repeat > 1:
            settings["runs"] = repeat
        if isinstance(at_once := options.get("maxConcurrency"), int):
            settings["concurrency"] = at_once
        for name in options:
            if name not in ("repeat", "maxConcurrency", "showProgressBar", "cache"):
                self.notes.skip(("evaluateOptions", name), f"{name} has no counterpart")
        if self._has_thresholds:
            settings["threshold"] = "{{ _threshold }}"
        return settings

    def _case(self, case: ImportedCase) -> dict[str, Any]:
        needed = self._needed
        used = {name: value for name, value in case.variables.items() if name in needed}
        # A column that no prompt uses begins with an underscore: it was used by assertions only.
        unused = {f"_{name.lstrip('_')}": value for name, value in case.variables.items() if name not in used}
        for name in needed:
            used.setdefault(name, "")
        threshold = {}
        if self._has_thresholds:
            threshold = {"_threshold": 1.0 if case.threshold is None else case.threshold}
        limits = {column: ", ".join(wanted) for _, column, wanted, _ in self._limits(case)}
        return {"id": case.id, **used, **unused, **limits, **threshold, "assertions": case.assertions}

    @cached_property
    def _has_thresholds(self) -> bool:
        return any(case.threshold is not None for case in self.cases)

    @cached_property
    def _needed(self) -> list[str]:
        """Return the variables that prompts use. promptfoo inserts nothing for one that a test does not have."""
        texts = [text for prompt in self.prompts.values() for text in prompt.values()]
        names = [name for text in texts for name in _VARIABLE.findall(text)]
        return list(dict.fromkeys(names))

    def _exclusions(self) -> list[dict[str, str]]:
        """Return what tests that are limited to some providers or prompts leave out."""
        exclude: dict[tuple[str, str, str, str], None] = {}
        for case in self.cases:
            for axis, column, values, names in self._limits(case):
                for name, fields in names.items():
                    if not any(_matches(pattern, name, fields.get("model", "")) for pattern in values):
                        exclude[column, ", ".join(values), axis, name] = None
        return [{column: limit, axis: name} for column, limit, axis, name in exclude]

    def _limits(self, case: ImportedCase) -> Iterator[tuple[str, str, list[str], Mapping[str, Mapping[str, Any]]]]:
        """Yield what a case is limited to: the line of the matrix, the case's column for it, and the patterns."""
        if case.providers is not None and len(self.providers) > 1:
            yield _PROVIDER, "_providers", case.providers, self.providers
        if case.prompts is not None and len(self.prompts) > 1:
            yield _PROMPT, "_prompts", case.prompts, self.prompts


def _matches(pattern: str, name: str, model: str) -> bool:
    return pattern == name or clean_id(pattern) == name or model_name(pattern) == model or fnmatchcase(name, pattern)


# --- Writing


class _Dumper(yaml.SafeDumper):
    """Writes every text that is not a plain word in quotes: what is plain text differs between versions of YAML."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - an alias would be hard to read
        return True


_PLAIN = re.compile(
    r"(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*", re.IGNORECASE
)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if "\n" in text and text.isprintable() is False and re.fullmatch(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f]*", text):
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
    style = None if _PLAIN.fullmatch(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def as_yaml(document: Mapping[str, Any]) -> str:
    order: Sequence[str] = ("scenario", "description", "matrix", "exclude", "model")
    ordered = {name: document[name] for name in order if name in document}
    ordered |= {name: value for name, value in document.items() if name not in (*order, "cases")}
    ordered["cases"] = document["cases"]
    return yaml.dump(ordered, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
