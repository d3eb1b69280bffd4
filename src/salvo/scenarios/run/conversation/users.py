"""The user of a conversation: one method, `next_message(transcript) -> text | None`, and its simple implementations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from salvo.engine.runtime import user_code
from salvo.engine.runtime.event_loop import BlockingInterrupted, responsible_for_blocking
from salvo.engine.runtime.threads import in_thread
from salvo.errors import SimulatorError
from salvo.scenarios.result import TranscriptMessage

Transcript: TypeAlias = Sequence[TranscriptMessage]
"""What was said so far, the oldest message first."""
USER_LANE = "user/"
"""The beginning of the lanes of a simulated user, one for each of its messages."""


class User(Protocol):
    """Decides what the user says next. There is one for each conversation."""

    tries: int
    """How many messages the last one needed."""

    async def next_message(self, transcript: Transcript) -> str | None:
        """Return the next message; None where the user has nothing more to say.

        Raise SimulatorError if there is no message that can be used.
        """
        ...


class ScriptedUser:
    """Says one text after the other, whatever the agent answers: those of a file, or those of a recorded run."""

    tries = 1

    def __init__(self, messages: Sequence[str]) -> None:
        self._messages = messages

    async def next_message(self, transcript: Transcript) -> str | None:
        number = sum(message["role"] == "user" for message in transcript)
        return self._messages[number] if number < len(self._messages) else None


class PythonUser:
    """An object of a user's class. A sync `next_message` runs in a thread, so that it does not block other runs.

    It has so many seconds for each message. What goes on after them is abandoned.
    """

    tries = 1

    def __init__(self, make: Callable[[], Any], name: str, seconds: float) -> None:
        self._make = make
        self._name = name
        self._seconds = seconds
        self._user: Any = None

    async def next_message(self, transcript: Transcript) -> str | None:
        limit = asyncio.timeout(self._seconds)
        try:
            with responsible_for_blocking(_BlockingLimit(self._seconds)):
                async with limit:
                    message = await self._call(list(transcript))
        except BlockingInterrupted:
            raise self._too_slow() from None
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if limit.expired():
                raise self._too_slow() from None
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # the run is cancelled from outside
            raise SimulatorError(f"The user {self._name} failed: {user_code.describe_exception(error)}") from error
        if message is not None and not isinstance(message, str):
            raise SimulatorError(f"The user {self._name} returned {type(message).__name__}, not text or None.")
        if message is not None and not message.strip():
            raise SimulatorError(f"The user {self._name} returned an empty message. None ends the conversation.")
        return message

    async def _call(self, transcript: list[TranscriptMessage]) -> Any:
        if self._user is None:
            self._user = await in_thread(self._make)
        return await user_code.call(self._user.next_message, transcript)

    def _too_slow(self) -> SimulatorError:
        return SimulatorError(f"The user {self._name} took longer than {self._seconds:g} s for one message.")


class _BlockingLimit:
    """Answers for a user that blocks the event loop, whose timers stand still meanwhile, so that the agent does not."""

    def __init__(self, seconds: float) -> None:
        self._remaining = seconds

    def blocking(self, seconds: float, _where: str) -> bool:
        self._remaining -= seconds
        return self._remaining < 0

    def unblocked(self) -> None:
        """Do nothing: the loop's own timer goes on."""
