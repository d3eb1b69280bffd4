"""`make bench`: every comparison, one table each. A timing is never a test, so nothing fails here."""

from __future__ import annotations

import compileall
from pathlib import Path

import salvo
from bench import cold_start, compare, completions, history, mcp, playbooks, scenarios, web


def main() -> None:
    # As pip installs it, and all it is compared with. A checkout may have no bytecode, with PYTHONDONTWRITEBYTECODE
    # never, and then every start would be counted with the compiling of the whole source.
    compileall.compile_dir(Path(salvo.__file__).parent, quiet=1)
    completions.report()
    scenarios.report()
    compare.report()
    mcp.report()
    playbooks.report()
    cold_start.report()
    web.report()
    history.report()


if __name__ == "__main__":
    main()
