"""The user of a conversation: one method, `next_message(transcript) -> text | None`, and its simple implementations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from salvo.engine.runtime.threads import in_thread
from salvo.engine.runtime.user_code import abandonable
from salvo.errors import SimulatorError
from salvo.scenarios.result import TranscriptMessage

Transcript: TypeAlias = Sequence[TranscriptMessage]
"""What was said so far, the oldest message first."""


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
    """An object of a user's class. A sync `next_message` runs in a thread, so that it does not block other runs."""

    tries = 1

    def __init__(self, make: Callable[[], Any], name: str) -> None:
        self._make = make
        self._name = name
        self._user: Any = None

    async def next_message(self, transcript: Transcript) -> str | None:
        try:
            if self._user is None:
                self._user = self._make()
            function = self._user.next_message
            if inspect.iscoroutinefunction(function):
                message = await abandonable(function(list(transcript)))
            else:
                message = await in_thread(function, list(transcript))
                message = await abandonable(message) if inspect.isawaitable(message) else message
        except (Exception, SystemExit) as error:
            raise SimulatorError(f"The user {self._name} failed: {type(error).__name__}: {error}") from error
        if message is not None and not isinstance(message, str):
            raise SimulatorError(f"The user {self._name} returned {type(message).__name__}, not text or None.")
        if message is not None and not message.strip():
            raise SimulatorError(f"The user {self._name} returned an empty message. None ends the conversation.")
        return message
