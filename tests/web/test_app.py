"""The API's description, and the API held against it."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from inline_snapshot import snapshot
from schemathesis import Case

from salvo.web.app import create_app
from salvo.web.settings import Settings
from tests.support.web import TOKEN, WebServer

API = create_app(Settings("sqlite://"))
schema = schemathesis.openapi.from_dict(API.openapi())


def test_every_operation_has_a_name_that_stays() -> None:
    operations = {
        f"{method.upper()} {path}": operation["operationId"]
        for path, operations in API.openapi()["paths"].items()
        for method, operation in operations.items()
    }
    assert operations == snapshot(
        {
            "POST /api/evaluations": "startEvaluation",
            "GET /api/evaluations/{evaluation_id}": "getEvaluation",
            "POST /api/evaluations/{evaluation_id}/cancel": "cancelEvaluation",
            "POST /api/evaluations/{evaluation_id}/resume": "resumeEvaluation",
            "GET /api/evaluations/{evaluation_id}/events": "watchEvaluation",
            "POST /api/evaluations/{evaluation_id}/again": "evaluateAgain",
            "GET /api/reports/{report_id}/judges": "compareJudges",
            "GET /api/reports/{report_id}": "getReport",
            "DELETE /api/reports/{report_id}": "deleteReport",
            "GET /api/reports/{report_id}/export": "exportReport",
            "GET /api/reports/{report_id}/verify": "verifyReport",
            "POST /api/compare": "compareReports",
            "GET /api/reports/{report_id}/review": "getReview",
            "POST /api/reports/{report_id}/review": "addReviewEvent",
            "GET /api/review-queue": "listReviewQueue",
            "GET /api/blind-reviews": "listBlindReviews",
            "POST /api/blind-reviews/next": "nextBlindAssignment",
            "POST /api/blind-reviews": "addBlindDecision",
            "GET /api/blind-reviews/results": "getBlindResults",
            "POST /api/reports/{report_id}/share-links": "createShareLink",
            "GET /api/reports/{report_id}/share-links": "listShareLinks",
            "DELETE /api/reports/{report_id}/share-links/{link_id}": "revokeShareLink",
            "GET /api/shared/report": "getSharedReport",
            "GET /api/shared/export": "exportSharedReport",
            "GET /api/history": "listHistory",
            "GET /api/subjects": "listSubjects",
            "GET /api/timeline": "getTimeline",
            "GET /api/baselines": "listBaselines",
            "POST /api/baselines": "saveBaseline",
            "POST /api/saved-playbooks": "savePlaybook",
            "GET /api/saved-playbooks": "listSavedPlaybooks",
            "GET /api/saved-playbooks/{playbook_id}": "listPlaybookVersions",
            "GET /api/saved-playbooks/{playbook_id}/versions/{number}": "getPlaybookVersion",
            "GET /api/saved-playbooks/{playbook_id}/diff": "diffPlaybookVersions",
            "GET /api/saved-playbooks/{playbook_id}/versions/{number}/export": "exportPlaybook",
            "POST /api/saved-playbooks/{playbook_id}/withdraw": "withdrawPlaybook",
            "POST /api/saved-playbooks/{playbook_id}/restore": "restorePlaybook",
            "POST /api/playbook-trials": "tryPlaybook",
            "POST /api/playbook-trials/examples": "tryPlaybookExamples",
            "DELETE /api/baselines/{report_id}": "clearBaseline",
            "GET /api/playbooks": "listPlaybooks",
            "GET /api/playbooks/{playbook_id}": "getPlaybook",
            "POST /api/playbooks/validate": "validatePlaybook",
            "POST /api/document-batches": "createDocumentBatch",
            "GET /api/document-batches": "listDocumentBatches",
            "GET /api/document-batches/{batch_id}": "getDocumentBatch",
            "DELETE /api/document-batches/{batch_id}": "deleteDocumentBatch",
            "POST /api/document-batches/{batch_id}/unread": "addUnreadDocument",
            "POST /api/document-batches/{batch_id}/cancel": "cancelDocumentBatch",
            "POST /api/document-batches/{batch_id}/resume": "resumeDocumentBatch",
            "GET /api/document-batches/{batch_id}/export": "exportDocumentBatch",
            "GET /api/evaluators": "listEvaluators",
            "POST /api/estimate": "estimateEvaluation",
            "POST /api/documents": "readDocument",
            "GET /api/batches": "listBatches",
            "GET /api/batches/series": "listSeries",
            "GET /api/batches/events": "watchBatches",
            "POST /api/batches/compare": "compareBatches",
            "GET /api/batches/{batch_id}": "getBatch",
            "GET /api/batches/{batch_id}/export": "exportBatch",
            "GET /api/batches/{batch_id}/grid": "getGrid",
            "GET /api/batches/{batch_id}/labels": "getLabels",
            "POST /api/batches/{batch_id}/labels": "addLabel",
            "POST /api/batches/{batch_id}/labels/next": "nextLabel",
            "GET /api/batches/{batch_id}/runs": "listRuns",
            "GET /api/batches/{batch_id}/choices": "listToolChoices",
            "GET /api/batches/{batch_id}/scores": "listScores",
            "GET /api/runs/{run_id}": "getRun",
            "GET /api/runs/{run_id}/raw": "downloadRun",
            "GET /api/runs/{run_a}/beside/{run_b}": "getRunsBeside",
            "GET /api/login": "getLoginOptions",
            "POST /api/login": "logIn",
            "POST /api/login/oidc": "startOidcLogin",
            "POST /api/login/oidc/callback": "finishOidcLogin",
            "GET /api/session": "getSession",
            "POST /api/session/password": "changePassword",
            "GET /api/users": "listUsers",
            "GET /api/audit-log": "listAuditLog",
            "DELETE /api/session": "endSession",
            "GET /api/verify": "verifyEverything",
            "GET /api/signing-key": "getSigningKey",
            "GET /api/about": "getAbout",
            "GET /api/examples": "listExamples",
        }
    )


def test_what_an_answer_holds_is_required_and_what_a_request_may_leave_out_is_not() -> None:
    schemas = API.openapi()["components"]["schemas"]
    assert schemas["EvaluationCreate"]["required"] == ["ai_output"]
    assert set(schemas["RawRun"]["required"]) == set(schemas["RawRun"]["properties"])


def test_every_answer_is_described() -> None:
    answers = {
        operation["operationId"]: (status, answer.get("content", {}))
        for operations in API.openapi()["paths"].values()
        for operation in operations.values()
        for status, answer in operation["responses"].items()
        if status.startswith("2")
    }
    undescribed = [name for name, (status, content) in answers.items() if status != "204" and not content]
    without = [
        name
        for name, (_, content) in answers.items()
        if "schema" not in content.get("application/json", {"schema": "another kind"})
    ]
    assert undescribed == []
    assert without == ["exportReport", "exportPlaybook", "exportDocumentBatch", "downloadRun", "exportSharedReport"]


def test_every_operation_needs_a_token_or_a_session() -> None:
    described = API.openapi()
    assert described["security"] == [{"token": []}, {"session": []}]
    schemes = described["components"]["securitySchemes"]
    assert {name: (scheme["type"], scheme.get("scheme"), scheme.get("in")) for name, scheme in schemes.items()} == {
        "token": ("http", "bearer", None),
        "session": ("apiKey", None, "cookie"),
    }
    assert not [path for path, operations in described["paths"].items() if "security" in str(operations)]


def test_every_request_has_an_example() -> None:
    described = API.openapi()
    bodies = [
        content["schema"].get("$ref", "").rpartition("/")[2]
        for operations in described["paths"].values()
        for operation in operations.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
    ]
    named = [name for name in bodies if name]
    assert len(named) >= 5
    assert all(described["components"]["schemas"][name]["examples"] for name in named)


@schema.exclude(operation_id="watchBatches").parametrize()  # it answers for as long as somebody listens
@settings(
    max_examples=6,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
    derandomize=True,
)
def test_no_request_makes_the_server_fail(case: Case[Any], shared: WebServer) -> None:
    response = case.call(base_url=shared.url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=20)
    assert response.status_code < 500, response.text
    assert response.status_code != 401
    if response.status_code >= 400:
        assert set(response.json()["error"]) == {"code", "message", "hint"}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
