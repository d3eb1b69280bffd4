"""The hashes of the files that this server has read, so that a report can have the hash of a file, not of its text.

Only hashes are kept, in memory. What a request says about a file is not believed without them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.evaluate.text_files import FileText

_REMEMBERED = 10_000


class ReadFiles:
    def __init__(self) -> None:
        self._hashes: OrderedDict[tuple[str, str], None] = OrderedDict()

    def add(self, file: FileText) -> None:
        """Remember that this file has this text. Blocks, because texts may be long."""
        self._hashes[file.sha256, _text_hash(file.text)] = None
        while len(self._hashes) > _REMEMBERED:
            self._hashes.popitem(last=False)

    def confirmed(self, file_hashes: Iterable[tuple[str, str]], texts: Mapping[str, str | None]) -> dict[str, str]:
        """Return the hashes of files that were read here and have exactly these texts. Blocks."""
        return {
            name: file_hash
            for name, file_hash in file_hashes
            if (text := texts.get(name)) is not None and (file_hash, _text_hash(text)) in self._hashes
        }


def _text_hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass"))
