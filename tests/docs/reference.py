"""The reference, from the live commands, schemas and API: `make docs` writes it, and a test says when it is behind."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import click

from tests.docs.documents import ROOT

HERE = ROOT / "docs" / "reference"
SOURCE = ROOT / "src" / "salvo"
WIDTH = 100

Schema = Mapping[str, Any]


def pages() -> dict[str, str]:
    """Each page's file name and text."""
    return {
        "salvo.md": _commands("salvo"),
        "byop.md": _commands("byop"),
        "scenario-file.md": _scenario_file(),
        "playbook-file.md": _playbook_file(),
        "report-file.md": _report_file(),
        "api.md": _api(),
        "modules.md": _modules(),
    }


def write() -> None:
    HERE.mkdir(exist_ok=True)
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")


def _commands(program: str) -> str:
    from salvo.cli.byop import byop
    from salvo.cli.salvo import salvo

    root: click.Command = {"salvo": salvo, "byop": byop}[program]
    context = click.Context(root, info_name=program, **root.context_settings)
    return _page(f"The command `{program}`", f"`{program} --help`", *_help(root, context))


def _help(command: click.Command, context: click.Context) -> Iterator[str]:
    context.terminal_width = WIDTH
    yield f"## {context.command_path}"
    yield f"```text\n{command.get_help(context)}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _help(found, click.Context(found, info_name=name, parent=context))


def _scenario_file() -> str:
    from salvo.scenarios.evaluators.registry import builtin_registry
    from salvo.scenarios.spec.json_schema import scenario_schema

    schema = scenario_schema(builtin_registry().types())
    parts = [schema["description"], "Fields that are not named here are errors.", _fields(schema)]
    parts.append("## Assertions")
    for assertion in schema["properties"]["assertions"]["items"]["oneOf"]:
        parts += [f"### {assertion['title']}", assertion["description"], _fields(assertion)]
    parts += _definitions(schema.get("$defs", {}))
    return _page("The scenario file", "`salvo schema`", *parts)


def _playbook_file() -> str:
    from salvo.playbooks.playbook.schema import playbook_schema

    schema = playbook_schema()
    definitions = _definitions(schema["$defs"])
    return _page("The playbook file", "`byop schema playbook`", schema["description"], _fields(schema), *definitions)


def _report_file() -> str:
    from salvo.playbooks.report.report_document import json_schema

    schema = json_schema()
    parts = [
        "The JSON of a report, as `byop show REPORT --json` prints it and exports write it, from the whole to its parts.",
        _fields(schema, of="ReportFile"),
        *_definitions({name: schema["$defs"][name] for name in _in_order_of_use(schema)}),
    ]
    return _page("The report file", "`byop schema report`", *parts)


def _in_order_of_use(schema: Schema) -> list[str]:
    """The names of the definitions, each after the first one that uses it."""
    names, position = re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema["properties"])), 0
    while position < len(names):
        names += re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema["$defs"][names[position]]))
        names = list(dict.fromkeys(names))
        position += 1
    return names


def _api() -> str:
    from salvo.web.app import create_app
    from salvo.web.settings import Settings

    document = create_app(Settings("sqlite://")).openapi()
    parts = [
        "The server of `byop serve` and `salvo dashboard`. It answers in JSON. An error always has this shape:",
        '`{"error": {"code", "message", "hint"}}`.',
    ]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parts += _operation(method.upper(), path, operation)
    parts += _definitions(document["components"]["schemas"])
    return _page("The API", "the server's OpenAPI description", *parts)


def _modules() -> str:
    """Each module by the first line of its docstring, folder by folder."""
    parts = [
        "What each module of `src/salvo` is for. [Architecture](../architecture.md) explains how they fit together."
    ]
    files = sorted(SOURCE.rglob("*.py"), key=lambda file: (file.parent, file.name != "__init__.py", file.name))
    for folder, inside in groupby(files, key=lambda file: file.parent):
        rows = [(f"`{file.name}`", _first_line(file)) for file in inside]
        name = folder.relative_to(SOURCE.parent).as_posix()
        parts += [f"## {name}", _table(("module", "what it is for"), rows)]
    return _page("The modules", "the docstrings of src/salvo", *parts)


def _first_line(file: Path) -> str:
    told = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return told.partition("\n\n")[0]


def _operation(method: str, path: str, operation: Schema) -> Iterator[str]:
    yield f"## {method} {path}"
    yield operation.get("description", "")
    if asked := operation.get("parameters"):
        rows = [(f"`{of['name']}`", of["in"], _type(of["schema"]), of.get("description", "")) for of in asked]
        yield _table(("parameter", "in", "type", "meaning"), rows)
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Takes {_type(content['schema'])} (`{kind}`)."
    for status, answer in operation["responses"].items():
        for kind, content in answer.get("content", {}).items():
            if status.startswith("2"):
                yield f"Answers {status} with {_type(content.get('schema', {}))} (`{kind}`)."
        if status.startswith("2") and not answer.get("content"):
            yield f"Answers {status}, and no content."


def _definitions(definitions: Mapping[str, Schema]) -> Iterator[str]:
    for name, schema in definitions.items():
        yield f"## {name}"
        yield schema.get("description", "")
        values = [(f"`{value}`", _told_of_fields().get((name, value.upper()), "")) for value in schema.get("enum", ())]
        if schema.get("properties"):
            yield _fields(schema, of=name)
        elif any(meaning for _value, meaning in values):
            yield _table(("value", "meaning"), values)
        else:
            yield f"{_type(schema)}."


def _fields(schema: Schema, *, of: str = "") -> str:
    told = _told_of_fields()
    rows = [
        (name, kind, default, meaning or told.get((of, name.strip("`")), ""))
        for name, kind, default, meaning in _rows(schema)
    ]
    return _table(("field", "type", "default", "meaning"), rows)


@cache
def _told_of_fields() -> dict[tuple[str, str], str]:
    """What stands below a field or a value in the source, by class and name; nothing where two such classes differ."""
    told: dict[tuple[str, str], str] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                for field, below in pairwise(node.body):
                    match field, below:
                        case (
                            ast.AnnAssign(target=ast.Name(name)) | ast.Assign(targets=[ast.Name(name)]),
                            ast.Expr(ast.Constant(str(text))),
                        ):
                            place = node.name, name
                            told[place] = "" if told.get(place, text) != text else text
    return told


def _rows(schema: Schema) -> Iterator[tuple[str, str, str, str]]:
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        default = "**required**" if name in required else f"`{_json(field['default'])}`" if "default" in field else ""
        yield f"`{name}`", _type(field), default, field.get("description", "")


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name == "items":  # of the assertions, which have a section
            return "[assertion](#assertions)"
        return f"[{name}](#{_anchor(name)})"
    if "const" in schema:
        return f"`{_json(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[several]))
    if schema.get("type") == "array":
        items = schema.get("items", {})
        inlined = any("properties" in each for each in items.get("oneOf", ()))
        return "list" if not items or inlined else f"list of {_type(items)}"
    kinds = schema.get("type", "anything")
    return " or ".join(kinds) if isinstance(kinds, list) else str(kinds)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(_cell(each) for each in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9 _-]", "", name.lower()).replace(" ", "-")


def _page(title: str, source: str, *parts: str) -> str:
    head = [f"# {title}", f"Generated by `make docs` from {source}; not edited by hand."]
    return "\n\n".join(part for part in [*head, *parts] if part) + "\n"


if __name__ == "__main__":
    write()
