"""Python imports this module at its start where its folder is in PYTHONPATH: the process is measured.

Only its commands and its server are, as probes take time to insert: the rest runs in the processes of the tests.
"""

import atexit

from tests.support.coverage.probes import measure, save

measure("salvo.cli", "salvo.web")
atexit.register(save)
