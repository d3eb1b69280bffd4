"""`byop schema`."""

import json

from click.testing import CliRunner, Result

from salvo.cli.byop import byop
from salvo.cli.exit_codes import ExitCode
from salvo.engine.jsonio import json_schema
from salvo.playbooks.playbook import library


def run(*arguments: str) -> Result:
    return CliRunner().invoke(byop, list(arguments))


def test_schema_prints_a_schema_that_the_library_fits() -> None:
    schema = json.loads(run("schema", "playbook").stdout)
    json_schema.check(schema)
    assert json_schema.problems(schema, library.load(library.STARTER).document) == []


def test_schema_prints_the_schema_of_a_report() -> None:
    schema = json.loads(run("schema", "report").stdout)
    json_schema.check(schema)
    assert json_schema.problems(schema, {}) == ["'byop_report' is a required property"]


def test_schema_knows_nothing_else() -> None:
    assert run("schema", "scenario").exit_code == ExitCode.USAGE
