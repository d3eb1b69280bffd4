"""Find the user of a conversation that a scenario names: its turns, a model, or a Python class."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from salvo.errors import InputError
from salvo.scenarios.evaluators.base import LoadObject, refuse_to_load
from salvo.scenarios.run.conversation.users import PythonUser, ScriptedUser
from salvo.scenarios.run.environment import RunEnvironment
from salvo.scenarios.spec.schema import Scenario

if TYPE_CHECKING:
    from salvo.scenarios.run.conversation.users import User

_SECONDS_PER_MESSAGE = 60.0
"""The limit of a class whose scenario names none."""


def user_factory(scenario: Scenario, load: LoadObject) -> Callable[[RunEnvironment], User] | None:
    """Return what makes the user of each run; None if the scenario is no conversation.

    Raise InputError if its class cannot be loaded.
    """
    if not scenario.is_conversation:
        return None
    if scenario.user is None:
        messages = [turn.user for turn in scenario.turns]
        return lambda _: ScriptedUser(messages)
    if scenario.user.python is None:
        from salvo.scenarios.run.conversation.simulator import simulated_user  # most users are no models

        return partial(simulated_user, scenario.user)
    name = scenario.user.python
    user_class = load(name)
    if not (inspect.isclass(user_class) and callable(getattr(user_class, "next_message", None))):
        raise InputError(f"{name} is not a class with a method next_message(transcript)")
    make = partial(user_class, **scenario.user.options)
    seconds = scenario.user.timeout or _SECONDS_PER_MESSAGE
    return lambda _: PythonUser(make, name, seconds)


def replayed_user_factory(scenario: Scenario, messages: Sequence[str]) -> Callable[[RunEnvironment], User] | None:
    """Return what makes the user of a replay. A class does not run again: its recorded messages are taken instead."""
    if scenario.user is None or scenario.user.python is None:
        return user_factory(scenario, refuse_to_load)
    return lambda _: ScriptedUser(messages)
