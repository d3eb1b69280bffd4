"""Which role each operation of the API needs. One dependency of every route enforces it.

An operation that is not named here is an administrator's; a test names those that were forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from salvo.playbooks.accounts.users import Role
from salvo.web.responses import ForbiddenError
from salvo.web.sessions import CurrentUser

_OPERATIONS: Mapping[Role | None, tuple[str, ...]] = {
    None: ("getLoginOptions", "logIn", "startOidcLogin", "finishOidcLogin", "getSharedReport", "exportSharedReport"),
    Role.READER: (
        *("getAbout", "getSession", "endSession", "changePassword", "listExamples", "listEvaluators"),
        *("listPlaybooks", "getPlaybook", "validatePlaybook", "getEvaluation", "watchEvaluation"),
        *("listSavedPlaybooks", "listPlaybookVersions", "getPlaybookVersion", "diffPlaybookVersions", "exportPlaybook"),
        *("getReport", "exportReport", "verifyReport", "compareReports", "compareJudges"),
        *("getReview", "listReviewQueue", "listBlindReviews", "getBlindResults"),
        *("verifyEverything", "listAuditLog", "getSigningKey"),
        *("listHistory", "listSubjects", "getTimeline", "listBaselines"),
        *("listDocumentBatches", "getDocumentBatch", "exportDocumentBatch"),
        *("listBatches", "listSeries", "watchBatches", "compareBatches", "getBatch", "exportBatch", "getGrid"),
        *("listScores", "listToolChoices", "listRuns", "getRun", "downloadRun", "getRunsBeside", "getLabels"),
    ),
    Role.REVIEWER: (
        *(
            "startEvaluation",
            "evaluateAgain",
            "cancelEvaluation",
            "resumeEvaluation",
            "estimateEvaluation",
            "readDocument",
        ),
        *("createDocumentBatch", "addUnreadDocument", "cancelDocumentBatch", "resumeDocumentBatch"),
        *("tryPlaybook", "tryPlaybookExamples", "savePlaybook", "withdrawPlaybook", "restorePlaybook"),
        *(
            "addReviewEvent",
            "nextBlindAssignment",
            "addBlindDecision",
            "saveBaseline",
            "clearBaseline",
            "nextLabel",
            "addLabel",
            "createShareLink",
            "listShareLinks",
            "revokeShareLink",
        ),
    ),
    Role.ADMIN: ("deleteReport", "deleteDocumentBatch", "listUsers"),
}

OPERATION_ROLES: Mapping[str, Role | None] = {
    operation: role for role, operations in _OPERATIONS.items() for operation in operations
}
"""The role that each operation needs, by its id; None: it needs no login."""


async def require_role(request: Request) -> None:
    """Raise ForbiddenError if who asks may not do this."""
    route: Any = request.scope["route"]
    if not route.include_in_schema:
        return  # /healthz, /readyz and /metrics are for whoever runs the server, and have no text
    needed = OPERATION_ROLES.get(route.operation_id, Role.ADMIN)
    if needed is None:
        return
    user: CurrentUser = request.state.user
    if not user.role.includes(needed):
        raise ForbiddenError(
            f"This needs the role {needed}, and {user.name} has the role {user.role}.",
            hint="Ask an administrator of this server to do it, or for another role.",
        )
