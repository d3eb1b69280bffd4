"""The files that this server has read, so that a report can have a file's hash, and what was left out of its text.

Hashes and notices are kept, in memory, and no texts. What a request says about a file is not believed without them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.evaluate.inputs import SourceFile
from salvo.playbooks.evaluate.text_files import FileText

_REMEMBERED = 10_000


class ReadFiles:
    def __init__(self) -> None:
        self._files: OrderedDict[tuple[str, str], SourceFile] = OrderedDict()
        """By the hash of the file and the hash of its text."""

    def add(self, name: str, file: FileText) -> None:
        """Remember that the file of this name has this text. Blocks, because texts may be long."""
        self._files[file.sha256, _text_hash(file.text)] = file.source(name)
        while len(self._files) > _REMEMBERED:
            self._files.popitem(last=False)

    def confirmed(
        self, file_hashes: Iterable[tuple[str, str]], texts: Mapping[str, str | None]
    ) -> dict[str, SourceFile]:
        """Return the files that were read here and have exactly these texts, by the name of the input. Blocks."""
        return {
            name: file
            for name, file_hash in file_hashes
            if (text := texts.get(name)) is not None and (file := self._files.get((file_hash, _text_hash(text))))
        }


def _text_hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass"))
