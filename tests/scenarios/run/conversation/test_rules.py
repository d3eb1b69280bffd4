"""The rules of a simulated user: what invents, inverts or leaks is caught, and what a person says is not."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.scenarios.run.conversation.facts import unknown_facts
from salvo.scenarios.run.conversation.rules import UserFacts, violations

FACTS = UserFacts(
    persona="impatient, writes short sentences, never says please",
    goal="get the price of one kettle back without sending the kettle to the shop again",
    knows={
        "order_id": "A-1001",
        "email": "a@example.com",
        "paid": 1299.5,
        "bought": "2026-11-15",
        "home": "12 Baker Street, London NW1 6XE",
        "phone": "+44 20 7946 0958",
    },
    instructions='Write the next message. Answer with one JSON object: {"message": "what the person says"}',
)
AGENT = [
    "Hello! How can I help you today?",
    "Could you tell me your order number and the date when you bought the kettle?",
    "I found 3 orders. We can refund $25.00 within 5 days, or you send it to shop.example.com/returns at 10:30 on Monday.",
    "Good news! You get 25 dollars back.",
]
USER = ["I want my money back."]


def broken(message: str) -> str:
    return " ".join(violations(message, FACTS, AGENT, USER))


INVENTED = [
    "My order is A-1002.",
    "It is order A-100.",
    "I paid $1,300 for it.",
    "I bought it on November 16.",
    "Write to b@example.com instead.",
    "I live at 14 Baker Street.",
    "I moved to Elm Street.",
    "I want money for twenty-seven kettles.",
    "See www.other-shop.com for the price.",
    "It came on Tuesday at 11:45.",
    "This is my fourth complaint.",
    "I live in Maple Terrace.",
    "The booking code is QXTRPL.",
    "The order ID is QXT.",
    "My order is QX-RTL.",
    "I paid a hundred dollars.",
    "I paid two hundred and fifty.",
    "I bought it in twenty twenty-four.",
    "I bought two dozen.",
    "This is my eighteenth complaint.",
    "It came on the sixteenth of November.",
    "It came on November the twenty-second.",
    "I bought it in March.",
    "It came last Wed.",
    "It came on Tue, I think.",
    "Call me at noon.",
    "I paid ½ of it.",
    "Write to joe@localhost.",
    "Write to joe at mail dot xyz.",
    "See shop.museum/refunds",
    "I live on elm street.",
    "I live at Elm St, London.",
    "I live in Queens Court.",
    "I live at Rue de Rivoli.",
]
INVERTED = [
    "How can I help you today?",
    "Your refund has been processed.",
    "Agent: What is the order?\nUser: A-1001",
    "I'd be happy to help you with the return.",
    "Please provide your order number.",
    "Thank you for contacting us!",
    "What do you want? What can I help with?",
    "I see. Hm. So. The order number and the date when you bought the kettle? I do not like this at all, sir.",
    "I found 3 orders. We can refund $25.00 within 5 days, or you send it to shop.example.com/returns.",
    "I’m an AI, and I’ve processed your order.",
    "Can I help you with something?",
    "You get 25 dollars back. I'm going to order some coffee.",
    "What a delightful request. I'm going to help you.",
    "I will refund the price to your card now.",
    "Let me check that for you.",
    "Your refund is on its way.",
    "Hello, this is customer support.",
    "I will do whatever it takes to help you.",
    "I’m here for you.",
    "What is your request?",
    "You have some questions. Are you asking about something?",
    "What do you want to do next?",
    "What would you like to know?",
    "You're asking for something.",
    "You want to know about a good kettle?",
    "You send it to shop.example.com/returns at 10:30 on Monday.",
    "Hello, I am your AI-Pilot.",
    "I am trying to understand your request.",
    "I will explain what you want to do.",
    "I will ask you a series of questions.",
    "I'm not able to help with them.",
    "I'm sorry, I can't assist.",
    "You have a lot of questions.",
    "I'm a chatbot. I will guide you.",
    "You wish to know the solution.",
    "I'm ready to start your chat with a little info.",
    "Can you please tell me what it is that you want to read?",
    "What is the problem you are facing?",
]
LEAKED = [
    "As a simulated user, I would now ask for my money.",
    "I am impatient, writes short sentences, never says please.",
    "<think>What would the person say?</think> I want my money.",
    "My goal is to get my money.",
    "get the price of one kettle back without sending the kettle to the shop again",
    "I was instructed to say that the kettle is broken.",
    '{"message": "I want my money.", "done": false}',
    "Reasoning: the agent asked for the order.",
    "What the person says",
    "This is a JSON object.",
    "Your conversation will begin next.",
    "It's about the person and what they want, but I don't know what it is.",
    "What the person wants to do?",
    "The conversation has begun. The agent has asked for a specific amount.",
    "I am an impatient persona who wants money.",
    "As the user, I should ask for my money.",
    "I’m simulating a customer.",
    "It has not begun, yet.",
    "It does not have begun",
    "How do you know that a person wants a doctor? I'm not sure.",
    "This is your message. Do not worry.",
    "This is what you say next.",
    "I am the person you are asking about.",
    "What does the person want?",
    "A person has some idea about how to do something.",
    "Hello, I am writing a response.",
    "What is the user doing, what is the agent's order?",
    "It is not possible for me to find the user's contact information now.",
    "The conversation has already begun.",
    "The conversation will never begin again.",
    "I can't speak the language of the person.",
    "what is happening to the person who talks about what they want?",
    "Your next message is finished.",
    "So, write the next message. Answer me!",
    "You want to know how the person is.",
    "A message about a conversation that begins",
    "You can not use this message. You should not copy it.",
    "I'm a person and I don't need your help.",
    "I will send the text that does not have an ending tag, just the tag of what the text says:",
]


@pytest.mark.parametrize("message", INVENTED)
def test_an_invented_fact_is_caught(message: str) -> None:
    assert "which stands neither" in broken(message)


@pytest.mark.parametrize("message", INVERTED)
def test_a_user_that_speaks_as_the_agent_or_repeats_it_is_caught(message: str) -> None:
    assert "speaks as the agent" in broken(message) or "script" in broken(message) or "repeats" in broken(message)


@pytest.mark.parametrize("message", LEAKED)
def test_a_user_that_tells_its_instructions_or_thoughts_is_caught(message: str) -> None:
    assert "instructions or its reasoning" in broken(message)


@pytest.mark.parametrize(
    "message",
    [
        *("I am free on [date] at [time].", "It is order {{ order_id }}.", "Yours, <your name>", "Hi [Agent's Name]"),
        *("[<address>] It is blocked.", "I live at <address>.", "It is order <order number>."),
    ],
)
def test_a_placeholder_is_caught(message: str) -> None:
    assert "It has the placeholder" in broken(message)


@pytest.mark.parametrize("message", ["", " ", "{", "…"])
def test_a_message_without_words_is_caught(message: str) -> None:
    assert broken(message) == "The message has no words."


@pytest.mark.parametrize(
    "persona, message",
    [
        ("a friendly customer", "Hello, I'm a friendly customer and I'm asking for a refund."),
        ("You are an impatient old lady; you live in London.", "I am an impatient old lady, hurry up."),
        ("writes short sentences, a loyal customer", "As a loyal customer, I want more."),
        ("a busy manager", "A busy manager has read e-mails again and wants to know more."),
        ("nervous", "Nervous."),
        ("an old lady", "The old lady wants to know more."),
        ("a retired teacher, polite", "You're a retired teacher, I'm sure you know that."),
        ("a landlord, formal", "A landlord, formal, wants to change the flat."),
        ("curt, in a hurry", "Hi, curt, in a hurry: I want a refund."),
    ],
)
def test_a_user_that_calls_itself_what_its_persona_says_is_caught(persona: str, message: str) -> None:
    facts = UserFacts(persona, goal="a refund", knows={})
    assert "instructions or its reasoning" in " ".join(violations(message, facts, [], []))


@pytest.mark.parametrize(
    "persona, message",
    [
        ("nervous, not technical", "I'm not technical, sorry."),
        ("bought a kettle, is a teacher", "I bought a kettle. I'm a teacher."),
        ("a friendly customer", "You are not very friendly to a customer."),
        ("a landlord, formal", "I am a landlord and want a refund."),
        ("brief, tired", "I am tired, so be brief."),
    ],
)
def test_what_the_persona_makes_a_person_say_is_not_caught(persona: str, message: str) -> None:
    assert violations(message, UserFacts(persona, goal="a refund", knows={}), [], []) == []


@pytest.mark.parametrize("message", ["You want to read e-mails again.", "So you'd like to read e-mails?"])
def test_who_says_that_the_agent_wants_what_the_user_wants_is_caught(message: str) -> None:
    facts = UserFacts("a busy manager", goal="read e-mails again", knows={})
    assert "speaks as the agent" in " ".join(violations(message, facts, [], []))


@pytest.mark.parametrize(
    "message", ["I want to read e-mails again.", "You want to read my e-mails?", "You need to help me read e-mails."]
)
def test_who_states_a_goal_or_asks_for_it_is_not_caught(message: str) -> None:
    facts = UserFacts("a busy manager", goal="read e-mails again", knows={})
    assert violations(message, facts, [], []) == []


@pytest.mark.parametrize(
    "message",
    [
        *("What do you want? A book or a single room for one night?", "No response to your request."),
        *("What a brilliant idea! I'll give you a chance to do it.", "Good question. I have a kettle."),
        *("That sounds great, I have a kettle.", "Sounds good to me.", "Thank you for your answer, I have a kettle."),
    ],
)
def test_who_begins_with_the_words_of_an_agent_is_caught(message: str) -> None:
    assert "speaks as the agent" in " ".join(violations(message, FACTS, [], []))


def test_who_asks_back_is_not_caught() -> None:
    assert violations("I do not understand your request.", FACTS, AGENT, USER) == []
    assert violations("What do you want? I gave you the order.", FACTS, AGENT, USER) == []


def test_who_speaks_of_the_conversation_before_it_has_begun_is_caught() -> None:
    message = "The conversation is going to be over, no one will be able to change the final answer."
    assert "instructions or its reasoning" in " ".join(violations(message, FACTS, [], []))
    assert "instructions or its reasoning" in " ".join(violations("No response", FACTS, [], []))
    assert violations("I do not like the conversation so far.", FACTS, AGENT, USER) == []
    assert violations("No response.", FACTS, AGENT, USER) == []
    assert violations("I write because of the conversation with your colleague.", FACTS, [], []) == []


@pytest.mark.parametrize("message", ["I see one object here.", "My person is not there.", "I need a script, I think."])
def test_who_begins_with_words_of_its_task_is_caught(message: str) -> None:
    assert "instructions or its reasoning" in " ".join(violations(message, FACTS, [], []))
    assert violations(message, FACTS, AGENT, USER) == []


@pytest.mark.parametrize(
    "message",
    [
        "Can I speak to a person?",
        "I want to talk to a real person, not to an agent.",
        "I got your message about my card.",
        "I received no reply from your shop.",
        "The person I spoke to was rude to me.",
        "I followed your instructions.",
    ],
)
def test_who_says_which_person_or_message_is_not_caught(message: str) -> None:
    assert violations(message, FACTS, [], []) == []
    assert violations(message, FACTS, AGENT, USER) == []


def test_who_has_to_do_with_users_may_speak_of_them() -> None:
    assert violations("The user cannot log in.", FACTS, ["Which user is it?", "What does the user see?"], []) == []


def test_who_has_to_do_with_json_may_speak_of_it() -> None:
    assert violations("Your JSON is broken.", FACTS, ["The export is a JSON file."], []) == []


def test_what_the_agent_put_in_brackets_may_be_named() -> None:
    pressed = "I pressed [Track order], and nothing happened."
    assert violations(pressed, FACTS, ["Press [Track order] on the page."], []) == []


@pytest.mark.parametrize(
    "message",
    [
        "I want to return my kettle. It leaks.",
        "It's order A-1001.",
        "order a1001, bought 15 November 2026",
        "I bought it on Nov 15th, so on 11/15/2026 or 15.11.2026.",
        "My email is A@Example.com, or call +442079460958.",
        "I paid 1,299.50 for it. That is 1.299,50 where I live!",
        "25 dollars? OK. Five days is too long though.",
        "No, I do not want to send it. What about the three orders?",
        "Yes, please.",
        "Fine. One more thing: does the refund go to my card?",
        "I live at 12 Baker Street, NW16XE.",
        "Which date do you mean? I told you my order number already.",
        "That one is broken, and no one answers, so much for 24/7.",
        "I followed the instructions in the manual, and it still leaks.",
        "As a customer, I would expect an answer by Monday.",
        "You may be right, order 1001 may be the wrong one.",
        "Can you give me your address, so that I can send a letter?",
        "I already read that you refund within 5 days. When does it start?",
        "THE ORDER NUMBER IS WRONG, I said. My order PLEASE!",
        "Can I speak to a person? The person I spoke to was rude.",
        "First of all, wait a second: can you check that for me?",
        "Are you the person who can decide? I want to talk to the person in charge.",
        "I have a question. This conversation is over if you do not answer it.",
        "I am writing a message because nobody has called.",
        "It was on the fifteenth of November.",
        "In November 2026, at half past ten, at ten thirty.",
        "The order number is A one zero zero one.",
        "Call me at +44 (0)20 7946 0958.",
        "I am 100% sure. I told you a hundred times, it is fifty-fifty.",
        "I was told to write to you. I never got the message, so I write again.",
        "I'll return it to your shop.",
        "The order number is MISSING.",
        "My email is a at example dot com.",
        "You may first ask the shop on the wrong street.",
        "I am your oldest customer, and nobody could help me.",
        "I can't help it, I am angry. I need help. I'd like help with it.",
        "I am trying to help my mother with her kettle.",
        "I don't understand your request. Which number do you need?",
        "Can you help? I hope you can help me with this.",
        "Do you have more questions? I have a lot of questions myself.",
        "I will explain what happened.",
        "I am a person who pays on time.",
        "Just tell me which number you want.",
        "If you wish to see it, I still have the price tag of my kettle.",
        "See [the photo](shop.example.com/returns). Is 5 < 25 and 25 > 3? a[i] is what it shows.",
    ],
)
def test_what_a_person_would_say_is_not_caught(message: str) -> None:
    assert broken(message) == ""


OFFER = "We can refund it within 5 days or send two new kettles by Monday. Which do you prefer?"
LIST = "Please choose:\n1. Refund to the original card\n2. Exchange for a new one of the same model"


@pytest.mark.parametrize(
    "message, offer",
    [
        ("Send two new kettles by Monday.", OFFER),
        ("Refund it within 5 days, please.", OFFER),
        ("Exchange for a new one of the same model.", LIST),
    ],
)
def test_who_chooses_what_the_agent_offers_does_not_repeat_it(message: str, offer: str) -> None:
    assert violations(message, FACTS, [offer], USER) == []


@pytest.mark.parametrize(
    "message, offer, speaks_as_agent",
    [
        (OFFER, OFFER, True),
        ("I'm sorry to hear that, it is old.", "I am sorry to hear that. Which order is it?", False),
        ("I'm so sorry to hear that.", "I am sorry to hear that. Which order is it?", False),
        ("I'm afraid that it's not possible.", "I am afraid that is not possible.", False),
        ("We can refund it within 5 days.", OFFER, True),
        ("Send two new kettles by Monday. Which do you prefer?", OFFER, False),
        ("Refund to the original card. Exchange for a new one of the same model.", LIST, False),
    ],
)
def test_who_says_the_offer_instead_of_choosing_repeats_it(message: str, offer: str, speaks_as_agent: bool) -> None:
    broken_rules = violations(message, FACTS, [offer], USER)
    assert broken_rules[-1] == "It repeats what the agent said."
    assert len(broken_rules) == 1 + speaks_as_agent


amounts = st.decimals(min_value=2, max_value=10_000_000, places=2)


@given(amounts)
def test_a_number_is_known_in_each_of_its_notations(amount: Decimal) -> None:
    plain, thousands = f"{amount}", f"{amount:,}"
    european = thousands.translate(str.maketrans(",.", ".,"))
    for source in (plain, thousands, european):
        for message in (plain, thousands, european, f"${thousands}", f"{european} €"):
            assert unknown_facts(f"I paid {message} for it", [f"paid: {source}"]) == []


@given(st.integers(2, 10**9), st.lists(st.integers(2, 10**9), max_size=5))
def test_a_number_that_no_source_has_is_unknown(number: int, others: list[int]) -> None:
    sources = [f"item {other}" for other in others if other != number]
    assert unknown_facts(f"I want {number} of them", sources) == [str(number)]


def test_what_a_date_or_an_id_has_in_it_is_no_price() -> None:
    sources = ["since 2024-05-01, order S-55, 14 days, at 19:20", "It costs $25.00."]
    for known in ("It was in May 2024, order 55, on the 1st.", "I paid $25.", "25 dollars is a lot.", "€ 14, then?"):
        assert unknown_facts(known, sources) == []
    assert unknown_facts("It costs $5.", sources) == ["5", "$5"]
    assert unknown_facts("I pay 55 dollars or €19.", sources) == ["55 dollars", "€19"]


def test_a_dozen_is_twelve() -> None:
    assert unknown_facts("It broke after a dozen uses.", ["used 12 times"]) == []
    assert unknown_facts("It broke after a dozen uses.", ["used 10 times"]) == ["dozen"]


days = st.dates(date(2000, 1, 1), date(2039, 12, 31))


@given(days)
def test_a_date_is_known_in_each_of_its_notations_and_the_next_day_is_not(day: date) -> None:
    def notations(when: date) -> list[str]:
        return [
            when.isoformat(),
            f"{when.day}.{when.month}.{when.year}",
            f"{when.month}/{when.day}/{when.year}",
            f"{when:%B} {when.day}, {when.year}",
            f"{when.day} {when:%b} {when.year}",
        ]

    for source in notations(day):
        for message in notations(day):
            assert unknown_facts(f"It came on {message}.", [source]) == []
        for message in notations(day + timedelta(days=1))[3:]:
            if day.day < 12 and source.count(".") + source.count("/"):
                continue  # the day and the month may be meant the other way round
            assert unknown_facts(f"It came on {message}.", [source]) != []


ids = st.from_regex(r"[A-Z]{1,3}-[0-9]{3,6}", fullmatch=True)


@given(ids, ids)
def test_an_id_is_known_in_other_case_and_without_its_dash_and_another_is_not(one: str, other: str) -> None:
    for written in (one, one.lower(), one.replace("-", "")):
        assert unknown_facts(f"It is {written}", [f"order_id {one}"]) == []
    if one != other:
        assert unknown_facts(f"It is {other}", [f"order_id {one}"]) == [other.lower()]


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_may_be_said_and_what_was_said_before_is_known(message: str, source: str) -> None:
    violations(message, FACTS, [source], [])
    assert unknown_facts(message, [message]) == []
