"""What a scripted model that plays a user answers when it is asked who would say a message."""

import json

from tests.support.provider import Answer, ProviderRequest, Say, Script

SPEAKERS = {
    "I ordered a lamp two weeks ago and it never arrived. Can you find out where it is?": "person",
    "That does not help me. I want my money back.": "person",
    "Could you book a table for my wife and me?": "person",
    "Welcome! How can I help you today?": "agent",
    "I have cancelled your subscription. Is there anything else that I can do for you?": "agent",
    "Let me check that for you. Could you give me your customer number, please?": "agent",
    "The customer is impatient and wants a refund.": "nobody",
    "Here is the next message that the person could write, as JSON.": "nobody",
}
"""The lines whose speaker is certain."""


def asks_who_speaks(request: ProviderRequest) -> bool:
    return "Say for each line who would say it" in request.system


def name_speakers(request: ProviderRequest, message: str = "person", **known: str) -> str:
    """Answer who says each line: `message` says the user's own, and `known` are other answers for known lines."""
    texts = [json.loads(line)["text"] for line in request.last_user.splitlines() if line.startswith("{")]
    speakers = {**SPEAKERS, **known}
    return json.dumps({f"line_{number}": speakers.get(text, message) for number, text in enumerate(texts, start=1)})


def knows_who_speaks(script: Script) -> Script:
    """The model names all speakers rightly, and takes its own messages for the user's."""

    def answer(request: ProviderRequest) -> Answer:
        return Say(name_speakers(request)) if asks_who_speaks(request) else script(request)

    return answer
