"""The files that this server has read, so that a report can have a file's hash, and what was left out of its text.

Hashes, notices and outlines (offsets) are kept, in memory, and no texts. What a request says about a file is not
believed without them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.evaluate.inputs import SourceFile
from salvo.playbooks.evaluate.text_files import FileText

_REMEMBERED = 10_000
_REMEMBERED_ITEMS = 1_000_000
"""Of all outlines together."""


class ReadFiles:
    def __init__(self) -> None:
        self._files: OrderedDict[tuple[str, str], SourceFile] = OrderedDict()
        """By the hash of the file and the hash of its text."""
        self._items = 0

    def add(self, name: str, file: FileText) -> None:
        """Remember that the file of this name has this text. Blocks, because texts may be long."""
        key = file.sha256, _text_hash(file.text)
        if previous := self._files.pop(key, None):
            self._items -= len(previous.outline)
        self._files[key] = file.source(name)
        self._items += len(file.outline)
        while len(self._files) > _REMEMBERED or self._items > _REMEMBERED_ITEMS:
            _, oldest = self._files.popitem(last=False)
            self._items -= len(oldest.outline)

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
