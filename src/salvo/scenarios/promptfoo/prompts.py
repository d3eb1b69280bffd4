"""Translate the prompts of promptfoo: a text is the user's message, a chat may begin with a system prompt."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.scenarios.promptfoo.notes import ImportNotes
from salvo.scenarios.promptfoo.providers import UniqueIds, clean_id
from salvo.scenarios.spec.source_text import SourcePosition, UnreadableError, file_in_project, read_text

FILE = "file://"
_TEXT_SUFFIXES = (".txt", ".md")
_PROMPT_SUFFIXES = (*_TEXT_SUFFIXES, ".json")
_SEPARATOR = re.compile(r"^---\s*$", re.MULTILINE)
_OTHER_SYNTAX = re.compile(r"\{%|\{#|\{\{(?!\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\})")
_LONGEST_ID = 30
_FILE_NAME = re.compile(r"[^\s{}]+\.(?:txt|md|json|jsonl|csv|j2|ya?ml|py|[cm]?[jt]s)(?::\w+)?")
"""What promptfoo takes for a file without `file://`. The name of a function may follow."""
_MOST_FILES = 1000


def read_prompts(value: Any, root: Path, notes: ImportNotes) -> dict[str, dict[str, str]]:
    """Return the fields of a scenario for each prompt, by a name for it."""
    prompts: dict[str, dict[str, str]] = {}
    ids = UniqueIds()
    for path, name, text in _prompt_texts(value, root, notes):
        fields = _fields(text, path, notes)
        if fields is not None:
            prompts[ids.add(clean_id(name))] = fields
    return prompts


def _prompt_texts(value: Any, root: Path, notes: ImportNotes) -> Iterator[tuple[FieldPath, str, str]]:
    """Yield each prompt's place, a name for it, and its text."""
    items = value if isinstance(value, list) else [value]
    for index, item in enumerate(items):
        path: FieldPath = ("prompts", index) if isinstance(value, list) else ("prompts",)
        label, text = None, item
        if isinstance(item, dict):
            for name in item:
                if name not in ("id", "label", "raw"):
                    notes.skip((*path, name), f"{name} of a prompt has no counterpart")
            label, text = item.get("label"), item.get("raw", item.get("id"))
            label = None if label is None else str(label)
        if not isinstance(text, str):
            notes.skip(path, "the prompt was left out: it is neither a text nor a file")
        elif text.startswith(FILE) or _FILE_NAME.fullmatch(text):
            for name in matching_files(text.removeprefix(FILE), path, notes):
                yield from _file_prompts(name, path, label, root, notes)
        else:
            short = text if len(text) <= _LONGEST_ID and "{" not in text and "\n" not in text else f"prompt{index}"
            yield path, label or short, text


def _file_prompts(
    name: str, path: FieldPath, label: str | None, root: Path, notes: ImportNotes
) -> Iterator[tuple[FieldPath, str, str]]:
    text = read_named_file(name, path, root, _PROMPT_SUFFIXES, notes)
    if text is None:
        return
    parts = _SEPARATOR.split(text) if name.endswith(".txt") else [text]
    stem = Path(name).stem
    for number, part in enumerate(parts):
        if part.strip():
            yield path, label or (stem if len(parts) == 1 else f"{stem}{number}"), part.strip()


def matching_files(name: str, path: FieldPath, notes: ImportNotes) -> list[str]:
    """Return the files that a pattern such as `prompts/*.txt` stands for; the name itself if it is no pattern."""
    if "*" not in name or name.startswith("/") or ".." in Path(name).parts:
        return [name]
    folder = notes.locate(path).file.parent
    try:
        matches = itertools.islice((file for file in folder.glob(name) if file.is_file()), _MOST_FILES)
        return sorted(str(file.relative_to(folder)) for file in matches) or [name]
    except (OSError, ValueError):
        return [name]


def read_named_file(
    name: str, path: FieldPath, root: Path, suffixes: tuple[str, ...], notes: ImportNotes
) -> str | None:
    """Return the text of a file of the configuration's folder; None with a note if it cannot be used."""
    position: SourcePosition = notes.locate(path)
    try:
        return read_text(file_in_project(name, position, root, suffixes, "imported"))
    except UnreadableError as error:
        notes.skip(path, f"{name} was left out: {error.message}")
        return None


def _fields(text: str, path: FieldPath, notes: ImportNotes) -> dict[str, str] | None:
    fields = {"user_message": text}
    if text.lstrip().startswith("["):
        try:
            messages = json_codec.loads(text)
        except ValueError:
            messages = None
        if isinstance(messages, list):
            chat = _chat(messages)
            if chat is None:
                notes.skip(path, "the prompt was left out: a scenario has one system prompt and one user message")
                return None
            fields = chat
    if any(_OTHER_SYNTAX.search(part) for part in fields.values()):
        notes.skip(path, "the prompt was left out: it uses a template language; Salvo has {{ name }} only")
        return None
    return fields


def _chat(messages: list[Any]) -> dict[str, str] | None:
    """Return the fields for a chat of a system prompt, which may be missing, and a user's message."""
    parts = [(message.get("role"), message.get("content")) for message in messages if isinstance(message, dict)]
    texts = [content for _, content in parts if isinstance(content, str)]
    roles = [role for role, _ in parts]
    if roles not in (["system", "user"], ["user"], ["developer", "user"]) or len(texts) != len(messages):
        return None
    message = {"user_message": texts[-1]}
    return message if len(texts) == 1 else {"system_prompt": texts[0], **message}
