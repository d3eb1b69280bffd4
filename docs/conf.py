"""The documentation as a website, built by `make site`."""

import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]

project = "Salvo"
author = "The Salvo authors"
release = re.findall(r'"(.+)"$', (ROOT / "src" / "salvo" / "version.py").read_text(encoding="utf-8"))[0]
extensions = ["myst_parser"]
myst_heading_anchors = 3
exclude_patterns = ["README.md"]  # included by index.md
html_theme = "furo"
html_title = f"Salvo {release}"


def _unlink_repository_files(_app: Sphinx, document: str, content: list[str]) -> None:
    """Show links to files of the repository as text: the website has the documentation only."""
    up = "../" * (document.count("/") + 1)
    content[0] = re.sub(rf"\[([^\]]+)\]\({re.escape(up)}[^)]*\)", r"\1", content[0])


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("source-read", _unlink_repository_files)
    app.connect("include-read", lambda app, _path, document, content: _unlink_repository_files(app, document, content))
