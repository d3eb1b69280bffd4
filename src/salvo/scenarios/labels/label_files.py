"""Questions as a file to be labelled elsewhere, CSV or JSON Lines, and its answers. No verdict of a judge is in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import read_regular, unreadable
from salvo.engine.text.csv_cells import safe_cell
from salvo.errors import InputError, UsageError
from salvo.scenarios.labels.batch_labels import NextQuestion
from salvo.scenarios.labels.label_store import LONGEST_NOTE, LabelAnswer

_COLUMNS = ("key", "run_id", "assertion", "turn", "rubric", "transcript", "answer", "note")
_ANSWERS = {
    **dict.fromkeys(("pass", "passed", "p", "yes", "1", "true"), LabelAnswer.PASS),
    **dict.fromkeys(("fail", "failed", "f", "no", "0", "false"), LabelAnswer.FAIL),
    **dict.fromkeys(("unclear", "u", "?"), LabelAnswer.UNCLEAR),
}


def check_suffix(path: Path) -> None:
    if path.suffix.lower() not in (".csv", ".jsonl"):
        raise UsageError(f"The suffix of {path} is not that of a known format.", hint="Use .csv or .jsonl.")


def question_file(path: Path, questions: Iterable[NextQuestion]) -> bytes:
    """Return the content of a file with the questions, in which `answer` is to be filled in."""
    rows = [_row(item) for item in questions]
    if path.suffix.lower() == ".jsonl":
        return b"".join(json_codec.dumps(row) + b"\n" for row in rows)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _COLUMNS)
    writer.writeheader()
    writer.writerows(
        {name: safe_cell("" if value is None else str(value)) for name, value in row.items()} for row in rows
    )
    return text.getvalue().encode("utf-8-sig", errors="backslashreplace")  # spreadsheets need the mark to read UTF-8


def read_answers(path: Path) -> Iterator[tuple[str, LabelAnswer, str]]:
    """Yield key, answer and note of each row that has an answer. Raise InputError, which names the row."""
    try:
        content = read_regular(path)
    except OSError as error:
        raise unreadable(path, error) from error
    for number, row in enumerate(_rows(path, content), start=1):
        answer = str(row.get("answer") or "").strip().casefold()
        if not answer:
            continue
        if answer not in _ANSWERS:
            raise InputError(f"{path}, row {number}: the answer {answer!r} is none of pass, fail and unclear.")
        yield str(row.get("key") or ""), _ANSWERS[answer], str(row.get("note") or "").strip()[:LONGEST_NOTE]


def transcript_text(transcript: Mapping[str, str]) -> str:
    """Return what the judge read, as one text with the names of its blocks."""
    return "\n\n".join(f"[{name.replace('_', ' ')}]\n{text}" for name, text in transcript.items())


def _row(item: NextQuestion) -> dict[str, Any]:
    question = item.question
    rubric = "\n\n".join(filter(None, [question.rubric, question.scale]))
    return {
        "key": question.key,
        "run_id": item.run_id,
        "assertion": question.assertion,
        "turn": question.turn,
        "rubric": rubric,
        "transcript": transcript_text(question.transcript),
        "answer": "",
        "note": "",
    }


def _rows(path: Path, content: bytes) -> Iterator[Mapping[str, Any]]:
    try:
        text = content.decode("utf-8-sig")
        if path.suffix.lower() == ".csv":
            csv.field_size_limit(2**24)
            yield from csv.DictReader(io.StringIO(text, newline=""))
            return
        for line in text.splitlines():
            if line.strip():
                row = json_codec.loads(line.encode())
                if not isinstance(row, dict):
                    raise InputError(f"{path} has a line that is no JSON object.")
                yield row
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
