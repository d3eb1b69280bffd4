"""What a plain `salvo run` loads. About half of the CPU of 200 runs is start-up, so it grows with every module."""

import json
import os
import subprocess
import sys

from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, Say

NOT_LOADED = {
    "aiohttp.web": 39,
    "cryptography": 12,
    "fastapi": 175,
    "jinja2": 26,
    "jsonschema": 37,
    "pypdf": 95,
    "salvo.cli.salvo.run_baseline": 13,
    "salvo.engine.gateway": 30,
    "salvo.engine.mcp.client": 5,
    "salvo.engine.rates": 3,
    "salvo.engine.wire.record": 4,
    "salvo.engine.wire.replay": 4,
    "salvo.playbooks": 94,
    "salvo.scenarios.analysis.compare": 7,
    "salvo.scenarios.analysis.grid": 7,
    "salvo.scenarios.labels.batch_labels": 5,
    "salvo.scenarios.promptfoo": 10,
    "salvo.scenarios.replay": 8,
    "salvo.scenarios.report.export": 19,
    "salvo.scenarios.spec.cases.expansion": 8,
    "salvo.web": 1429,
    "sqlalchemy": 186,
    "sqlite3": 2,
    "uvicorn": 21,
}
"""Modules with the milliseconds of CPU that each took to import, with all that it imports, on a busy machine."""
PROGRAM = """
import json, sys
from salvo.cli.salvo import salvo
try:
    salvo()
except SystemExit as error:
    print(json.dumps({"exit_code": error.code, "modules": sorted(sys.modules)}))
"""
SCENARIO = """
    scenario: greeting
    adapter: openai
    model: gpt-5.4-mini
    user_message: Hello
    assertions:
      - {type: jmespath, path: final_output.status, operator: eq, value: done}
      - {type: cost_limit, max_usd: 1}
"""


def test_a_plain_run_loads_nothing_that_it_does_not_use(project: UserProject) -> None:
    project.write("scenario.yaml", SCENARIO)
    with LoopbackProvider(Say('{"status": "done"}')) as provider:
        project.reach(provider)
        process = subprocess.run(
            [sys.executable, "-c", PROGRAM, "run", "scenario.yaml", "-n", "1"],
            cwd=project.folder,
            env={**os.environ, **project.environ},
            capture_output=True,
            text=True,
            check=True,
        )
    ended = json.loads(process.stdout.splitlines()[-1])
    assert ended["exit_code"] == 0, process.stderr
    assert "aiohttp" in ended["modules"]
    assert sorted(NOT_LOADED.keys() & set(ended["modules"])) == []
