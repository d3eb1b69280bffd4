"""`make bench`: every comparison, one table each. A timing is never a test, so nothing fails here.

`python -m bench scenarios` makes the comparisons of one subject.
"""

from __future__ import annotations

import compileall
import subprocess
import sys
from pathlib import Path

import salvo

SUBJECTS = (
    "completions",
    "scenarios",
    "compare",
    "mcp",
    "playbooks",
    "cold_start",
    "web",
    "history",
    "report_page",
)


def main() -> None:
    # As pip installs it, and all it is compared with. A checkout may have no bytecode, with PYTHONDONTWRITEBYTECODE
    # never, and then every start would be counted with the compiling of the whole source.
    compileall.compile_dir(Path(salvo.__file__).parent, quiet=1)
    for subject in sys.argv[1:] or SUBJECTS:
        # In a process of its own: the memory that the system reports of a program is never less than its parent's.
        subprocess.run([sys.executable, "-c", f"from bench import {subject}; {subject}.report()"], check=True)


if __name__ == "__main__":
    main()
