"""Hold a conversation: the user says something, the agent answers, until the user has no more to say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from salvo.errors import SalvoError, SimulatorError, TapeError
from salvo.scenarios.result import AdapterRequest, AdapterResponse, Stopped
from salvo.scenarios.run.conversation.log import ConversationLog
from salvo.scenarios.run.conversation.users import User
from salvo.scenarios.run.environment import RunEnvironment

_ENDS = frozenset({Stopped.TURN_LIMIT, Stopped.CONTEXT, Stopped.EXIT})
"""What ends a conversation. After a refusal or an answer that was cut off, a user can go on."""


async def hold_conversation(
    answer: Callable[[AdapterRequest], Awaitable[object]],
    request: AdapterRequest,
    user: User,
    environment: RunEnvironment,
) -> object:
    """Return the agent's last response. What happened in each turn is in `environment.conversation`.

    `answer` asks the agent with the transcript so far. What it returns is checked by the caller.
    """
    log = ConversationLog(environment.toolbox, environment.journal, environment.stopwatch)
    environment.conversation = log
    response: object = AdapterResponse(None)
    most = environment.prepared.scenario.most_turns
    while len(log.turns) < most:
        message = await _next_message(user, log)
        if message is None:
            break
        log.begin_turn(message, user.tries)
        response = None
        try:
            turn_request = request.model_copy(update={"user_message": message, "messages": list(log.messages)})
            response = await answer(turn_request)
        except TapeError as error:
            raise _in_turn(error, len(log.turns)) from error
        finally:
            log.end_turn(response if isinstance(response, AdapterResponse) else None)
        if not isinstance(response, AdapterResponse) or response.stopped in _ENDS:
            return response
    if not log.turns:
        raise SimulatorError("The user ended the conversation before it began.")
    return response


async def _next_message(user: User, log: ConversationLog) -> str | None:
    """Ask the user. Its time is not the agent's."""
    try:
        with log.stopwatch.paused():
            return await user.next_message(tuple(log.messages))
    except TapeError as error:
        raise _in_turn(error, len(log.turns) + 1) from error


def _in_turn(error: SalvoError, number: int) -> SalvoError:
    """Return a divergence from the recording with the turn in which it is."""
    return type(error)(f"In turn {number}: {error.message}", hint=error.hint)
