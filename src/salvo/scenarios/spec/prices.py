"""Prices of the user's own: `[tool.salvo.prices]` in the project's pyproject.toml, or a file that a command names.

A price is data. It never decides which code runs or where a call goes, and a budget does not believe a project that
sets a lower price than the list.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import Field

from salvo.engine.chat import catalog
from salvo.engine.jsonio.pydantic_errors import Words, validate
from salvo.engine.runtime.files import read_up_to
from salvo.engine.runtime.pricing import OwnPrice, PriceBook, Rates, find_prices
from salvo.engine.text.messages import display_path
from salvo.errors import UsageError
from salvo.scenarios.spec.file_model import FileModel

_SECTION = "tool.salvo.prices"
_MAX_BYTES = 1_000_000
_TOML_WORDS = Words("a table", "nothing")
_FORM = (
    'Write provider/model, with dollars per million tokens: "openai/my-model" = {input = 0.5, output = 2}. '
    'For the list prices of another model: "openai/my-alias" = "openai/gpt-5.4-mini".'
)


class ModelPrice(FileModel):
    """Dollars per million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cache_read: float | None = Field(None, ge=0, allow_inf_nan=False)
    cache_write: float | None = Field(None, ge=0, allow_inf_nan=False)

    @property
    def rates(self) -> Rates:
        # Cache tokens without a price of their own are charged as input, as in the list.
        read, write = (self.input if price is None else price for price in (self.cache_read, self.cache_write))
        return Rates(self.input, self.output, read, write)


def read_price_book(root: Path, file: Path | None, when: datetime) -> PriceBook:
    """Return the prices of the project, and those of the file that the user names, which take precedence."""
    own = dict(_project_prices(root / "pyproject.toml", when))
    if file is not None:
        own.update(_read_prices(file, _parse(file, _read(file)), "", when, by_project=False))
    return PriceBook(own)


def _project_prices(file: Path, when: datetime) -> Iterator[tuple[str, OwnPrice]]:
    content = _read(file) if file.is_file() else b""
    if b"salvo" not in content:  # most projects set no prices, and need not be parsed
        return
    table: Any = _parse(file, content)
    for name in _SECTION.split("."):
        table = table.get(name, {}) if isinstance(table, dict) else {}
    yield from _read_prices(file, table, _SECTION, when, by_project=True)


def _read(file: Path) -> bytes:
    content = read_up_to(file, _MAX_BYTES)
    if len(content) > _MAX_BYTES:
        raise UsageError(f"{display_path(file)} is larger than {_MAX_BYTES:,} bytes.", hint=_FORM)
    return content


def _parse(file: Path, content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{display_path(file)} cannot be read: {error}.", hint=_FORM) from error


def _read_prices(
    file: Path, table: Any, section: str, when: datetime, *, by_project: bool
) -> Iterator[tuple[str, OwnPrice]]:
    if not isinstance(table, Mapping):
        raise _invalid(file, section, "must be a table")
    for name, value in table.items():
        key = f'{section}."{name}"' if section else f'"{name}"'
        provider, slash, model = name.partition("/")
        if not slash or not model or provider not in catalog.providers():
            raise _invalid(file, key, f"must be provider/model, with one of: {', '.join(catalog.providers())}")
        if isinstance(value, str):
            other, _, other_model = value.partition("/")
            if find_prices(other, other_model, when) is None:
                raise _invalid(file, key, "names a model without list prices; `salvo models` lists models with them")
            yield name.lower(), OwnPrice(None, value, file.name, by_project)
            continue
        price, errors = validate(ModelPrice, value, words=_TOML_WORDS)
        if price is None:
            field = ".".join([key, *map(str, errors[0].path)])
            raise _invalid(file, field, errors[0].message)
        yield name.lower(), OwnPrice(price.rates, "", file.name, by_project)


def _invalid(file: Path, key: str, message: str) -> UsageError:
    return UsageError(f"{display_path(file)}: {key}: {message}.", hint=_FORM)
