"""The role of a simulated user: it does not serve, welcome or narrate, whatever the words; what customers say passes."""

import pytest

from salvo.scenarios.run.conversation.role import agent_speech
from salvo.scenarios.run.conversation.rules import UserFacts, violations

FACTS = UserFacts(persona="", goal="get my money back", knows={})
AGENT = ["Good morning."]

SERVES_OR_NARRATES = [
    "You can stop your conversation now.",
    "What a pleasure to have you here.",
    "I'll be checking your portfolio for you.",
    "I’ll take care of it.",
    "I'd love to find the best lamp for you.",
    "We can arrange a new appointment for you.",
    "I have just cancelled your booking.",
    "I am looking into your account now.",
    "I'm currently reviewing your details.",
    "Let me pull up the file for you.",
    "Allow me to guide you.",
    "I can give you a discount.",
    "We will send you a replacement.",
    "I will provide you with the information you need.",
    "I have processed the return.",
    "Leave it to me.",
    "I am not able to provide the information.",
    "Feel free to ask.",
    "Let me know if you need more.",
    "Welcome to the bank!",
    "Thank you for choosing the hotel.",
    "Is there anything else?",
    "Do you need any help?",
    "Would you like me to book it?",
    "At your service.",
    "Please verify your date of birth.",
    "Your appointment is in the morning.",
    "This is your assistant speaking.",
    "I am the receptionist of the clinic.",
    "I am a customer.",
    "I'm the user.",
    "Our guests like the pool.",
    "The customer wants a new lamp.",
    "said thank you.",
    "wanted a broken lamp",
    "asks for the opening hours",
    "*sighs* I want my money.",
    "(waiting) Where is it?",
    "[smiles politely]",
]
BEGINS_AS_AGENT = [
    "Done",
    "Yes, okay.",
    "You need to know how to use a credit card.",
    "You are looking for a room.",
    "I know what you want.",
    "I know the baby that you are asking about.",
    "I will give you everything you want.",
]
SAID_BY_CUSTOMERS = [
    "I'll wait for you.",
    "I can send you a photo.",
    "I have a question for you.",
    "Could you check my order?",
    "Let me find the number.",
    "I'll check your website.",
    "Let me look at the label, one moment.",
    "I will send it to your warehouse if you pay for it.",
    "I can give you the order number.",
    "I'll give you a good review if this works out.",
    "Can I get a refund, or at least a voucher?",
    "I would like to process a return.",
    "How can I fix this myself?",
    "What can I do to get my money?",
    "I have been waiting for you to call me back.",
    "I'll let you know when the parcel arrives.",
    "I checked your refund policy, and it says nothing about kettles.",
    "I am looking for a lamp for my daughter.",
    "You sent me the wrong kettle.",
    "I already tried the steps on your support page.",
    "I'd like to cancel my subscription.",
    "I am going to cancel my account with your bank.",
    "I have issues with my card.",
    "I need to update my address, can you do it for me?",
    "Please send me the confirmation.",
    "Is there anything else you need from me?",
    "Is there anything else I should know?",
    "Would you please check again?",
    "I will call my bank and ask them.",
    "I'm a new customer, so I have no number yet.",
    "I am a member of the club.",
    "I am staying at your hotel with my wife.",
    "We would like to book a double room.",
    "We will arrive late, can you keep the room for us?",
    "Can we have breakfast in our room?",
    "Our flight is delayed.",
    "I want to change my booking.",
    "I'd like to confirm my reservation.",
    "I can't find my booking confirmation.",
    "I will be there early, is that a problem for you?",
    "I'll take the blue one.",
    "I'd like to make an appointment with the doctor.",
    "My son has a fever, can we come today?",
    "I am allergic to nuts, I should tell you that.",
    "I need a copy of my prescription.",
    "Can you help my mother with the form?",
    "Should I take the pills with food?",
    "I'm not sure how to describe the pain.",
    "My laptop does not start.",
    "I restarted it, and the screen is still black.",
    "I have checked the cable. It is fine.",
    "I will try that and tell you what I see.",
    "I can't open the attachment in your e-mail.",
    "I am working on a report and need the printer.",
    "My colleagues can't log in either.",
    "Do you need my user name?",
    "I get an error when I open the app.",
    "Let me restart it.",
    "OK, I did that. What next?",
    "Hello.",
    "Hi there, quick question.",
    "Nice to meet you, but I am in a hurry.",
    "Sorry for the late answer, I was on the phone.",
    "I'm sorry, I don't have it with me.",
    "I paid for it with my card.",
    "I see a payment that I did not make.",
    "Please block my card.",
    "How do I transfer money to my savings account?",
    "When will you send it?",
    "Can I help it if your courier loses my parcel?",
    "That is too expensive for me.",
    "I understand. Then I want to talk to your manager.",
    "I am very disappointed with your service.",
    "I don't think this is my problem.",
    "You need to fix this for me.",
    "What do you need from me?",
    "Who can help me with this?",
    "I hope you can find my order.",
    "I'll look at your offer and think about it.",
    "I will return it to your store.",
    "I can offer you an old one in exchange.",
    "I can show you the receipt.",
    "I found your number on your website.",
    "I'm going to send you the form by mail.",
    "I'd be happy with a voucher, too.",
    "Could you give me an update on my order?",
    "Just a moment, I am looking for my card.",
    "I really want *this* one (the blue one).",
]
SAID_BY_CUSTOMERS_LATER = [
    "Done.",
    "You are wrong about the price.",
    "Thanks, that helps a lot.",
    "Thank you for your help.",
    "Thank you for looking into it.",
    "It says that the password is wrong.",
    "Done. It still does not work.",
    "Sorry for the confusion, it is the other card.",
    "Thanks for the quick reply!",
    "No, that's all. Goodbye.",
    "It rains in (it always does).",
    "The blue ones.",
]
DOES_NOT_BEGIN = [
    "No more information available for now. Nothing more is known.",
    "That was good to hear, thank you.",
    "The blue ones.",
]


@pytest.mark.parametrize("message", SERVES_OR_NARRATES)
@pytest.mark.parametrize("agent", [[], AGENT], ids=["first", "later"])
def test_who_serves_welcomes_or_narrates_is_caught(message: str, agent: list[str]) -> None:
    assert "speaks as the agent" in " ".join(violations(message, FACTS, agent, []))


@pytest.mark.parametrize("message", BEGINS_AS_AGENT)
def test_a_first_message_that_answers_or_tells_the_other_what_they_want_is_caught(message: str) -> None:
    assert "speaks as the agent" in " ".join(violations(message, FACTS, [], []))


@pytest.mark.parametrize("message", SAID_BY_CUSTOMERS)
@pytest.mark.parametrize("agent", [[], AGENT], ids=["first", "later"])
def test_what_customers_say_is_not_caught(message: str, agent: list[str]) -> None:
    assert violations(message, FACTS, agent, []) == []


@pytest.mark.parametrize("message", SAID_BY_CUSTOMERS_LATER)
def test_what_customers_answer_is_not_caught(message: str) -> None:
    assert violations(message, FACTS, AGENT, []) == []


@pytest.mark.parametrize("message", DOES_NOT_BEGIN)
def test_a_first_message_that_is_about_nothing_is_caught(message: str) -> None:
    assert "does not begin a conversation" in " ".join(violations(message, FACTS, [], []))


def test_a_first_message_may_name_what_the_user_knows_or_wants_in_another_form() -> None:
    facts = UserFacts("cheerful", "say thank you for a refund", {"order": "A-1001"})
    for message in ("Thank you.", "Refunded! Great.", "Order A-1001 is broken.", "Hello there."):
        assert violations(message, facts, [], []) == []


@pytest.mark.parametrize(
    "persona, message",
    [
        ("runs a small hotel", "Our hotel has no water."),
        ("a travel agent", "I am a travel agent, and I need two rooms."),
        ("a guest of the hotel", "I am a guest."),
    ],
)
def test_who_is_a_business_or_an_agent_may_say_so(persona: str, message: str) -> None:
    assert agent_speech(message, persona, has_begun=True) == ""


@pytest.mark.parametrize(
    "part",
    [
        "i ",
        "i will ",
        "i will check ",
        "let me ",
        "your x ",
        "the x ",
        "i can send you ",
        "(s",
        "*s ",
        "'ll ",
        "a",
        ". ",
    ],
)
def test_a_message_of_100_000_characters_is_checked_in_linear_time(part: str) -> None:
    message = part * (100_000 // len(part))
    agent_speech(message, "", has_begun=False)  # in quadratic time this takes many minutes
