"""`salvo schema`."""

import json

from jsonschema import Draft202012Validator

from tests.support.project import BOOK_FLIGHT, UserProject


def test_the_schema_accepts_the_document_s_scenario_and_refuses_a_typo(project: UserProject) -> None:
    import yaml

    schema = Draft202012Validator(json.loads(project.salvo("schema").stdout))
    scenario = yaml.safe_load(BOOK_FLIGHT)
    assert list(schema.iter_errors(scenario)) == []
    assert list(schema.iter_errors({**scenario, "modle": "x"}))
    scenario["assertions"][1]["opertor"] = "eq"
    assert list(schema.iter_errors(scenario))
