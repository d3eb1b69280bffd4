"""The code of modules with probes, kept in build/coverage as Python keeps compiled modules in __pycache__.

To insert probes into the whole package takes seven seconds, and each process of the tests would do it again. Up to
Python 3.11 a probe is a constant of the code that cannot be written to a file: the code is kept without its probes, and
with what each of them stands for. From 3.12 on there are no such constants, and inserting is quick: nothing is kept.
"""

import ast
import hashlib
import marshal
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import CodeType
from typing import Any

from slipcover import Slipcover, __version__
from slipcover.branch import preinstrument

_KEPT = sys.version_info < (3, 12)
_ROOT = Path(__file__).parents[3]
_FOLDER = _ROOT / "build" / "coverage"

if _KEPT:
    from slipcover import probe
    from slipcover.bytecode import Editor


def with_probes(recorder: Slipcover, path: Path) -> CodeType:
    """Return the code of a module with probes that tell the recorder, from the folder if it is there."""
    source = path.read_bytes()
    if _KEPT and (data := _read(path, source)) is not None:
        packed, lines, branches = data
        recorder.code_lines[str(path)].update(lines)
        recorder.code_branches[str(path)].update(branches)
        return _unpacked(recorder, packed)
    code: CodeType = recorder.instrument(compile(preinstrument(ast.parse(source)), path, "exec"))
    if _KEPT:
        lines, branches = recorder.code_lines[str(path)], recorder.code_branches[str(path)]
        _write(path, source, (_packed(recorder, code), lines, branches))
    return code


def keep_all(paths: list[Path]) -> None:
    """Keep the code of those modules that are not kept yet, with one process per core."""
    if _KEPT and (missing := [path for path in paths if _read(path, path.read_bytes()) is None]):
        with ProcessPoolExecutor(os.cpu_count()) as processes:
            list(processes.map(_keep, missing, chunksize=8))


def _keep(path: Path) -> None:
    with_probes(Slipcover(branch=True, d_miss_threshold=-1), path)


def _packed(recorder: Slipcover, code: CodeType) -> tuple[Any, ...]:
    """Return the code with nothing in place of its probes, and by the places of its constants, what belongs there."""
    editor = Editor(code)
    probes = {editor.get_inserted_function(offset)[1]: label for offset, label in recorder.code2index[code]}
    nested, signals, constants = {}, [], list(code.co_consts)
    for place, constant in enumerate(constants):
        if isinstance(constant, CodeType):
            nested[place] = _packed(recorder, constant)
        elif constant is probe.signal:
            signals.append(place)
        elif place not in probes:
            continue
        constants[place] = None
    return code.replace(co_consts=tuple(constants)), probes, signals, nested


def _unpacked(recorder: Slipcover, packed: tuple[Any, ...]) -> CodeType:
    code, probes, signals, nested = packed
    constants = list(code.co_consts)
    for place, label in probes.items():
        constants[place] = probe.new(recorder, code.co_filename, label, recorder.d_miss_threshold)
    for place in signals:
        constants[place] = probe.signal
    for place, inner in nested.items():
        constants[place] = _unpacked(recorder, inner)
    complete: CodeType = code.replace(co_consts=tuple(constants))
    return complete


def _read(path: Path, source: bytes) -> tuple[Any, ...] | None:
    try:
        data = _file(path).read_bytes()
    except FileNotFoundError:
        return None
    key = _key(path, source)
    return marshal.loads(data[len(key) :]) if data.startswith(key) else None  # noqa: S302 - this module wrote it


def _write(path: Path, source: bytes, value: tuple[Any, ...]) -> None:
    file = _file(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as written:
        written.write(_key(path, source) + marshal.dumps(value))
    Path(written.name).replace(file)  # another process that writes the same does no harm


def _file(path: Path) -> Path:
    return _FOLDER / f"{path.relative_to(_ROOT)}.probes"


def _key(path: Path, source: bytes) -> bytes:
    return hashlib.sha256(f"{sys.version} {__version__} {path}\n".encode() + source).digest()
