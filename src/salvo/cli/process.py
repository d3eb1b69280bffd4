"""The entry points of an installation made before they became the two commands themselves."""

from __future__ import annotations

from salvo.cli.byop import byop
from salvo.cli.salvo import salvo

__all__ = ["byop", "salvo"]
