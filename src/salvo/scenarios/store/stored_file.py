"""Read one file of the store as a typed value. A store may come from someone else, so it may contain anything."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.engine.runtime.files import read_regular, unreadable
from salvo.errors import StoreError

T = TypeVar("T")


def load_stored(path: Path, kind: type[T], store: Path) -> T:
    """Return the value in a file below the store's folder. Raise StoreError if it is missing, foreign or damaged."""
    try:
        content = read_regular(own_path(path, store))
        return type_adapter(kind).validate_python(json_codec.loads(content, max_depth=json_codec.MAX_DEPTH_STORED))
    except FileNotFoundError as error:
        raise StoreError(f"{path} does not exist.", hint="`salvo report` lists what is stored.") from error
    except OSError as error:
        raise unreadable(path, error) from error
    except ValidationError as error:
        where, what = first_error(error)
        raise damaged(path, f" at {where}: {what}" if where else f": {what}") from error
    except ValueError as error:
        raise damaged(path, f": {error}") from error


def own_path(path: Path, store: Path) -> Path:
    """Return the path if it exists inside the store. A store of someone else may contain any link."""
    path.stat()
    if not os.path.realpath(path).startswith(f"{os.path.realpath(store)}{os.sep}"):
        raise StoreError(f"{path} leads out of the store, so it is not read.", hint="Remove it.")
    return path


def damaged(path: Path, what: str) -> StoreError:
    return StoreError(f"{path} is damaged{what}.", hint="Restore it from a backup, or remove it and run again.")
