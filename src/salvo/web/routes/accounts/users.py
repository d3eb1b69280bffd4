"""/api/users: who may log in to this server. They are added and changed by `byop user`."""

from __future__ import annotations

from fastapi import APIRouter

from salvo.playbooks.accounts.users import UserAccount
from salvo.web.responses import JsonRoute
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api", tags=["users"], route_class=JsonRoute)


@router.get("/users", operation_id="listUsers")
def users(services: ServicesDep) -> list[UserAccount]:
    """Return the users in the order of their names, disabled ones too."""
    return services.store.accounts.users.list()
