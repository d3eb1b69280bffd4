"""The rules that a simulated user keeps, so that a run says something about the agent. Pure.

It states no fact that it was not given, does not speak as the agent, does not tell what it was told, and does not say
what the agent said. The rules are code: no model decides whether they are kept. They know English phrases only; in
another language only facts, copied instructions, labels, tags and repeated messages are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import first_lines
from salvo.engine.text.messages import excerpt
from salvo.records import record
from salvo.scenarios.run.conversation.facts import unknown_facts
from salvo.scenarios.run.conversation.role import agent_speech, begins_conversation, plain_words

_PERSONA_WORDS = 5
_GOAL_WORDS = 8
_INSTRUCTION_WORDS = 5
"""Words in a row that make a copy of the persona, the goal or the instructions. People state a goal in its words."""
_SHORTEST_COPY = 3
_REPEATED_WORDS = 4
"""Words of a message from which it can repeat the agent. `Yes, please.` may be said by both."""
_RUN = 4
_VERBATIM_WORDS = 7
"""Words in a row that nobody says again by chance."""
_SENTENCE_WORDS = 5
"""Words of a sentence of the agent's from which nobody says all of it again."""
_REPEATED_SHARE = 0.7
_REWORDED_WORDS = 6
_REWORDED_SHARE = 0.7
"""Words of a sentence, and pairs of words in it, from which it is the other's with a word more or less."""
_SHOWN = 3

_ACTING = "(?:say|act|play|pretend|write|speak|respond|answer|behave)"
_TAGS = (
    "think|thinking|reasoning|analysis|scratchpad|system|user|assistant|agent|message|persona|goal|instructions?|"
    "response|answer|reply|inst"
)
_LABEL = re.compile(
    r"^[\s*_#>\[(]*(?:assistant|agent|support|representative|ai|bot|chatbot|system|customer service|operator|user|"
    r"customer|human|me)[\s*_\])]*:",
    re.IGNORECASE | re.MULTILINE,
)
_LEAKS = (
    r"\bsimulat(?:ed?|es|ing) (?:an? |the )?(?:user|customer|person|conversation|human)\b",
    r"\buser simulat(?:or|ion)\b",
    r"\bas the (?:user|person)\b",
    r"\bmy (?:character|role|instructions?|prompt)\b",
    r"\bsystem prompt\b",
    r"\bmy goal (?:is|was)\b",
    r"\brole-?play(?:ing)?\b|\bin this (?:scenario|role|dialogue|exercise)\b",
    r"\bi(?:'m| am) playing (?:an?|the) (?:\w+ ){0,2}(?:customer|user|person|role|character)\b",
    r"\b(?:the|my|this) message (?:should|must|needs to)\b",
    rf"\b(?:told|instructed|supposed|prompted) to {_ACTING}\b(?! to| with)",
    r"\b(?:stay|staying|out of) (?:in )?character\b",
    r"\bpretend(?:ing)? to be an? (?:user|customer|person|human)\b",
    r"\b(?:an?|the|this) person (?:says|wants|knows|needs|asks|speaks|talks|writes)\b",
    r"\b(?:does|did|do|should|would|can|will) the person (?:say|want|know|need|do|mean)\b",
    r"(?:^|[.!?]\s+)(?:a|the|this) person (?:has|is|wants|needs|knows|says|would|should)\b",
    r"\b(?:it|this|that) (?:has|have|had|is|was|does|did)(?: not|n't)?(?: \w+){0,2} (?:begun|begin|began)\b",
    r"\bi(?:'m| am) (?:writing|going to write|giving|generating) (?:a|the|my) (?:response|reply|answer)\b",
    r"\bthe agent (?:asks|asked|has asked|says|wants)\b",
    r"\bthe person and what they\b",
    r"\bi(?:'m| am) (?:a|the|that|this) person\b(?! (?:who|with|of|in|that|you (?:spoke|talked|called|wrote|met))\b)",
    r"\b(?:a|the|this|your|our) conversation (?:\w+ ){0,3}(?:begun|begins?|began|starts?|started)\b",
    r"\b(?:of the person|the person who (?:talks|speaks|writes|wants))\b",
    r"\b(?:your|my|the) next message\b",
    r"\bsays? next\b|\bthis is (?:your|my|the|a) (?:\w+ )?(?:message|reply|response)\b",
    r"\b(?:use|copy|repeat) (?:this|that|the) message\b",
    r"\b(?:here is|here's) (?:the|my) (?:next )?(?:message|reply|response)\b",
    r"^\W*(?:thought|thoughts|thinking|reasoning|analysis|note to self)\W*:",
    r"\blet me think (?:about|through) (?:what|how)\b",
    rf"</?(?:{_TAGS})\b[^<>]*>",
    r"\b(?:begin(?:ning)?|start(?:ing)?|opening|end(?:ing)?|closing) tags?\b|\btag of (?:the|a|what)\b",
    r"\b\w{1,40}_tags?\b|&\w{1,40}=",
    r"<<<\w|\w>>>|\[/?inst\]|<\|",
    r"\"(?:message|done)\"\s*:",
)
_PLACEHOLDER = re.compile(
    r"\[<?[a-z][a-z _/'-]{1,40}>?\](?!\()|\{\{?\s*[a-z_][\w .-]{0,40}\}\}?|<(?:your|my|the|insert)[ _][a-z _]{1,40}>"
    r"|<(?:[a-z]+[ _]){0,2}(?:address|amount|city|date|e-?mail|name|number|phone|place|price|time)>",
    re.IGNORECASE,
)
"""[date], {{ order_id }}, <your name>: what a model leaves to be filled in. [text](address) is a link."""
_TASK = re.compile(
    r"\bjson\b|\bpersonas?\b|\bthe user(?:'s)?\b(?! (?:manual|guide|name|account|interface|id|agreement|portal)\b)",
    re.IGNORECASE,
)
"""The form of its answer, and its description. A user may name them who has to do with them, or whom the agent asks."""
_DESCRIBED = re.compile(
    r"\bthe person\b(?! (?:i|we|you|who|whom|whose|that|which|in|on|at|from|with|behind|responsible|called|there)\b)",
    re.IGNORECASE,
)
"""What its instructions call it. People name the one they mean: the person I spoke to."""
_TASK_WORDS = frozenset(
    {"agent", "begun", "conversation", "instruction", "instructions", "json", "message", "messages", "object", "person"}
    | {"persona", "prompt", "reply", "response", "responses", "script", "tag", "tags", "user"}
)
"""What its instructions are about. One of them in the first message, or two later, speak of the task."""
_MEANT = re.compile(
    r"\b(?:to|with|for|by|from|about) (?:an?|another|some|your|the|any) (?:\w+ )?(?:person|agent|user|message)\b"
    r"(?! (?:wants|is))|\buser (?:name|id|account|manual)\b"
    r"|\bthe (?:person|agent) (?:i|we|you|who|whom|whose|in|on|at|from|with|behind|responsible|called|there)\b"
    r"|\b(?:the|our|my|a) conversation (?:i|we|with|between|from|on)\b"
    r"|\b(?:got|received|get|sent|send|read|left|leave|wrote|write|writing|for|your|no|quick)"
    r"(?: an?| the| your| any| no| this)?(?: \w+)? (?:messages?|reply|response|instructions|prompt)\b(?! is)",
    re.IGNORECASE,
)
"""People speak of these, too, if they say which: the person I spoke to, the message that I got."""
_CUSTOMER = re.compile(r"\b(?:customers?|clients?|users?)\b", re.IGNORECASE)
_SELF_OR_OTHERS = re.compile(
    r"\b(?:customer|client|user)s?'? (?:service|support|care|number|id|account|name|relations|hotline|portal|manual|"
    r"card|code|rights|data|reviews?|base|line|experience|interface|agreement|guide|profile|licen[cs]es?)\b"
    r"|\b(?:as|am|i'm|was|be|been|become|remain|treat|lose|losing) (?:an?|your|the|one of your) (?:[\w-]+ ){0,2}"
    r"(?:customers?|clients?|users?)\b"
    r"|\b(?:other|your|many|all|most|more|fellow|my|new|loyal|paying|regular|existing) (?:customers|clients|users)\b"
    r"|\b(?:every|any|no|each) (?:customer|client|user)\b|\bmy client\b"
    r"|\b(?:customers?|clients?|users?) (?:like me|before me|after me|of yours?)\b",
    re.IGNORECASE,
)
"""A customer says which ones they mean: `as a customer`, `your other customers`. Others speak from outside."""
_SAYS_NOTHING = re.compile(r"^\W*(?:no (?:response|reply|answer|message)|n/a|null|none)\W*$", re.IGNORECASE)
_INTRODUCTIONS = (("i'm",), ("i", "am"), ("as",), ("you're",), ("you", "are"))
_ARTICLES = ("a", "an", "the", "this")
_THIRD_PERSON = ("has", "is", "wants", "needs", "knows", "says", "asks", "writes", "would", "should")
_WISHES = tuple(
    tuple(wish.split())
    for wish in (
        *("you want to", "you wish to", "you'd like to", "you would like to", "you are trying to", "you're trying to"),
        *("you are looking to", "you're looking to", "you asked to", "you have asked to", "you've asked to"),
        *("she wants", "he wants", "they want", "she wants to", "he wants to", "they want to"),
        *("you want", "you need", "you'd like", "you would like", "you are looking for", "you're looking for"),
    )
)
_SUBJECT = re.compile(r"^(?:you are|you're|i am|i'm|is)\s+")
_OPTION = re.compile(r"^\s*(?:[-*•]|\(?\w{1,2}[.)])\s+(.+)$", re.MULTILINE)
"""A line of a list that the agent offers."""
_ADDRESSED = frozenset({"i", "we", "you", "your", "my", "our", "me", "us"})
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)|\n")
_LEAK = re.compile("|".join(_LEAKS), re.IGNORECASE | re.MULTILINE)


@record
class UserFacts:
    """What a simulated user was told."""

    persona: str
    goal: str
    knows: dict[str, Any]
    instructions: str = ""
    """What every simulated user is told. A small model may say it instead of following it."""

    def texts(self) -> list[str]:
        """Return everything that it may state, as texts."""
        return [self.persona, self.goal, *_leaves(self.knows)]

    def role_texts(self) -> list[str]:
        """Return what may say who the user is. A name of a fact, such as `customer: C-55901`, does not."""
        return [self.persona, self.goal, *_leaves(self.knows, with_names=False)]


def violations(
    message: str, facts: UserFacts, agent_messages: Sequence[str], user_messages: Sequence[str]
) -> list[str]:
    """Return how the message breaks the rules, each as a sentence that tells the model what to change."""
    return list(_violations(message, facts, agent_messages, user_messages))


def _violations(
    message: str, facts: UserFacts, agent_messages: Sequence[str], user_messages: Sequence[str]
) -> Iterator[str]:
    if not _words(message):
        yield "The message has no words."
        return
    known_texts = [*facts.texts(), *agent_messages, *user_messages]
    if unknown := unknown_facts(message, known_texts):
        names = ", ".join(first_lines([excerpt(text) for text in unknown], _SHOWN))
        yield f"It states {names}, which stands neither in what the user knows nor in the conversation."
    if placeholder := _placeholder(message, known_texts):
        yield f"It has the placeholder {excerpt(placeholder)} where a person would write words."
    if problem := _other_role(message, facts, agent_messages):
        yield problem
    if not agent_messages and not begins_conversation(message, "\n".join(facts.texts())):
        yield "It neither asks for anything nor tells anything of the user, so it does not begin a conversation."
    if leak := _leaked(message, facts, known_texts, has_begun=bool(agent_messages)):
        yield f"It tells about its instructions or its reasoning: {excerpt(leak)}."
    if any(_repeats(message, reply) for reply in agent_messages):
        yield "It repeats what the agent said."


def _other_role(message: str, facts: UserFacts, agent_messages: Sequence[str]) -> str:
    """Return how the message is not the user's, as a sentence; nothing if it is."""
    if label := _LABEL.search(message):
        return f"It is written as a script, with {excerpt(label[0].strip())}; it must be the user's words alone."
    if phrase := agent_speech(message, "\n".join(facts.role_texts()), has_begun=bool(agent_messages)):
        return f"It speaks as the agent: {excerpt(phrase)}. The user asks, and does not serve."
    if wish := _attributed_goal(_words(message), facts.goal):
        return f"It speaks as the agent: {excerpt(wish)}. It is the user who wants that."
    if outsider := _outsider(message, [*facts.role_texts(), *agent_messages]):
        return f"It speaks as the agent: {excerpt(outsider)}. The user is that, and says `I`."
    return ""


def _placeholder(message: str, known_texts: Sequence[str]) -> str:
    matches = (match[0] for match in _PLACEHOLDER.finditer(message))
    return next((match for match in matches if not any(match in text for text in known_texts)), "")


def _leaked(message: str, facts: UserFacts, known_texts: Sequence[str], *, has_begun: bool) -> str:
    match = _LEAK.search(message.replace("’", "'"))
    if match is None and not any(map(_TASK.search, known_texts)):
        match = _TASK.search(message)
    if match is None and not any(re.search(r"\bperson\b", text, re.IGNORECASE) for text in known_texts):
        match = _DESCRIBED.search(message)
    if match is None and not has_begun:
        match = _SAYS_NOTHING.search(message)
    if match is not None:
        return match[0].strip()
    words = _words(message)
    if task_words := _task_words(message, known_texts, at_least=2 if has_begun else 1):
        return task_words
    if tuple(words) in {tuple(_words(facts.persona)), tuple(_words(facts.goal))}:
        return message.strip()
    copied = _copied_persona(words, facts.persona) or _copied(words, _words(facts.goal), _GOAL_WORDS)
    if copied := copied or _self_description(words, facts.persona):
        return copied
    instructions = _words(facts.instructions)
    is_copy = len(words) >= _SHORTEST_COPY and tuple(words) in _runs(instructions, len(words))
    return message.strip() if is_copy else _copied(words, instructions, _INSTRUCTION_WORDS)


def _outsider(message: str, known_texts: Sequence[str]) -> str:
    """Return where the message speaks of customers as if the user was none. Who was told of them may do so."""
    if any(map(_CUSTOMER.search, known_texts)):
        return ""
    match = _CUSTOMER.search(_SELF_OR_OTHERS.sub(" ", message.replace("’", "'")))
    return match[0] if match else ""


def _task_words(message: str, known_texts: Sequence[str], *, at_least: int) -> str:
    """Return the words about its task that the message has, apart from what it was told or people say, if so many."""
    words = _TASK_WORDS.intersection(_words(_MEANT.sub(" ", message.replace("’", "'"))))
    unknown = sorted(words.difference(*map(_words, known_texts)))
    return ", ".join(unknown) if len(unknown) >= at_least else ""


def _copied_persona(words: Sequence[str], persona: str) -> str:
    """Return the words of the persona that are copied. Nobody says all of a list: `A landlord, formal, wants`."""
    source = _words(persona)
    is_short_list = "," in persona and _SHORTEST_COPY <= len(source) < _PERSONA_WORDS
    return _copied(words, source, len(source) if is_short_list else _PERSONA_WORDS)


def _self_description(words: Sequence[str], persona: str) -> str:
    """Return where the user is called what its persona says: `I'm a friendly customer`, `A busy manager wants`."""
    for clause in re.split(r"[,;.\n]+| and ", persona.replace("’", "'").casefold()):
        description = tuple(_words(_SUBJECT.sub("", clause.strip())))
        if len(description) < _SHORTEST_COPY:
            continue
        wordings = [(*introduction, *description) for introduction in _INTRODUCTIONS]
        if description[0] in _ARTICLES:
            wordings += [(article, *description[1:], verb) for article in _ARTICLES for verb in _THIRD_PERSON]
        if wording := next((item for item in wordings if item in _runs(words, len(item))), None):
            return " ".join(wording)
    return ""


def _attributed_goal(words: Sequence[str], goal: str) -> str:
    """Return where the message says that the agent wants what the user wants: `You want to read e-mails again`."""
    goal_words = _words(goal)
    length = min(len(goal_words), _SHORTEST_COPY)
    runs = _runs(goal_words, length) if length > 1 else set()
    for wish in _WISHES:
        for run in _in_order(words, len(wish) + length):
            if run[: len(wish)] == wish and run[len(wish) :] in runs:
                return " ".join(run)
    return ""


def _copied(words: Sequence[str], source: Sequence[str], length: int) -> str:
    """Return so many words in a row that stand in the source, too; or all of them, if they are the source."""
    if len(source) >= _SHORTEST_COPY and words == source:
        return " ".join(words)
    runs = _runs(source, length)
    return next((" ".join(run) for run in _in_order(words, length) if run in runs), "")


def _runs(words: Sequence[str], length: int) -> set[tuple[str, ...]]:
    return set(_in_order(words, length))


def _in_order(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """Yield every so many words in a row."""
    return (tuple(words[start : start + length]) for start in range(len(words) - length + 1))


def _repeats(message: str, reply: str) -> bool:
    """Return whether most of the message is what the agent said, in the same order, or a sentence or long part is."""
    words, other = plain_words(message), plain_words(reply)
    if _chooses(message, reply):
        return False
    if _copied(words, other, _VERBATIM_WORDS):
        return True
    sentences = [tuple(plain_words(sentence)) for sentence in _SENTENCE_END.split(reply)]
    if any(_SENTENCE_WORDS <= len(item) <= len(words) and item in _runs(words, len(item)) for item in sentences):
        return True
    if _rewords(message, sentences):
        return True
    if len(words) < _REPEATED_WORDS:
        return False
    runs = _runs(other, _RUN)
    said_by_both = [run in runs for run in _in_order(words, _RUN)]
    return sum(said_by_both) >= _REPEATED_SHARE * len(said_by_both)


def _rewords(message: str, sentences: Sequence[tuple[str, ...]]) -> bool:
    """Return whether a sentence of the message has almost all pairs of words of one of the agent's."""
    pairs = [_runs(item, 2) for item in sentences if len(item) >= _REWORDED_WORDS]
    for sentence in _SENTENCE_END.split(message):
        own = _runs(plain_words(sentence), 2)
        if len(own) + 1 >= _REWORDED_WORDS and any(
            2 * len(own & other) >= _REWORDED_SHARE * (len(own) + len(other)) for other in pairs
        ):
            return True
    return False


def _chooses(message: str, reply: str) -> bool:
    """Return whether what the message has of the agent's words is one of several things that the agent offered."""
    options = _OPTION.findall(reply)
    for sentence in _SENTENCE_END.split(reply):
        alternatives = re.split(r",? \bor\b ", sentence)
        options += alternatives if len(alternatives) > 1 else []
    if len(options) < 2 or "?" in message:
        return False
    words, runs = _words(message), _runs(_words(reply), _RUN)
    same = {run for run in _in_order(words, _RUN) if run in runs}
    if any(word in _ADDRESSED for run in same for word in run):
        return False  # said from the agent's side
    return any(same <= _runs(_words(option), _RUN) for option in options)


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.casefold().replace("’", "'"))


def _leaves(value: Any, *, with_names: bool = True) -> Iterator[str]:
    """Yield the names and values of what the user knows, or the values alone."""
    if isinstance(value, dict):
        for name, part in value.items():
            if with_names:
                yield str(name)
            yield from _leaves(part, with_names=with_names)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part, with_names=with_names)
    elif isinstance(value, str):
        yield value
    elif value is not None:
        yield json_codec.dumps(value).decode()
