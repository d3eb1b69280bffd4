"""A simulated user: a model plays it, and is held to the rules of `rules.py`."""

from __future__ import annotations

from salvo.errors import InputError
from salvo.scenarios.run.conversation.users import User
from salvo.scenarios.run.environment import RunEnvironment
from salvo.scenarios.spec.schema import UserSettings


def simulated_user(settings: UserSettings, environment: RunEnvironment) -> User:
    raise InputError(
        f"The simulated user of {environment.prepared.scenario.scenario} ({settings.model}) cannot run yet."
    )
