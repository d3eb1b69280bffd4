"""The type of a column that more than one revision creates."""

from __future__ import annotations

from sqlalchemy import Text

NAME = Text().with_variant(Text(collation="C"), "postgresql")
"""A text that is compared by its code points, in both databases."""
