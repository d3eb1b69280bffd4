"""Whether a message of a simulated user is what an agent would say, or a narrator. English only. Pure.

A user asks for service. Whoever offers it, welcomes the other, acts on the other's affairs, tells the other what they
want or tells about itself from outside has left the role. That is a matter of who does what to whom, so these rules are
a small grammar over classes of words and not a list of sentences. They look at one sentence at a time, in lower case,
without punctuation and contractions: `I'll check that for you!` is `i will check that for you`.

Each repetition is bounded, so that a long message takes time in proportion to its length.
"""

from __future__ import annotations

import re

_AUXILIARY = (
    "will|can|could|shall|may|might|would|must|should|am|are|have|had|be|been|going to|able to|unable to|happy to|"
    "glad to|pleased to|delighted to|here to|ready to|trying to|try to|like to|love to|need to|not|now|just|also|then|"
    "always|certainly|definitely|gladly|happily|already|personally|quickly|currently|go ahead and|do (?:my|our) best to"
)
_OFFERING = rf"(?:(?:i|we)(?: (?:{_AUXILIARY})){{1,6}}|let (?:me|us)|allow (?:me|us) to)"
_DECIDING = r"(?:i|we)(?: (?:will|can|shall|am|are|have|now|just|already|going to)){1,3}"


def _forms(verbs: str) -> str:
    """Return a pattern for the forms of regular verbs. Those that change their last letter are given without it."""
    return rf"(?:(?:{verbs})(?:e|es|s|d|ed|ing)?)"


_SERVE_PERSON = _forms("help|assist|serv|guid|walk|refund|reimburs|compensat|advis|accommodat|connect|redirect|support")
_SERVICE = (
    rf"(?:{_SERVE_PERSON}|"
    + _forms(
        "check|review|process|cancell?|updat|arrang|book|handl|confirm|find|found|search|locat|investigat|resolv|solv|fix|"
        "verify|verifi|provid|schedul|reserv|prepar|ship|send|sent|deliver|track|access|open|chang|clos|activat|reset|creat|"
        "issu|initiat|transfer|credit|sort|manag|complet|submitt?|forward|recommend|suggest|address|fulfill?|approv|pay|"
        "analyz|analys|examin|explain|fetch|pull|retriev|start|begin|continu|understand|receiv|regard|answer|return"
    )
    + r"|look(?:ing|ed)? (?:into|up|at|for|after|over|through)|tak(?:e|en|ing) (?:good )?care of|work(?:ing|ed)? on)"
)
_DECISION = _forms("process|approv|reimburs|waiv|expedit|dispatch|initiat|refund|investigat|compensat|troubleshoot")
_GIVE = r"(?:give|send|offer|provide|show|get|bring|find)"
_SERVICE_THING = (
    "refund|replacement|discount|voucher|coupon|confirmation|solutions?|options|recommendations?|suggestions?|steps|guidance|"
    "assistance|help|support|service|quote|tips|insights?"
)
_AFFAIR = (
    "order|orders|account|booking|reservation|refund|purchase|purchases|portfolio|appointment|subscription|package|parcel|"
    "ticket|case|claim|payment|issue|problem|problems|concern|concerns|needs|inquiry|enquiry|return|stay|trip|profile|"
    "balance|chat|session|conversation"
)
"""What is the customer's and not the agent's."""
_SELLERS = (
    "website|site|webpage|page|app|shop|store|warehouse|policy|policies|terms|conditions|link|form|faq|e-?mails?|mail|"
    "messages?|reply|replies|answers?|advice|address|instructions?|suggestions?|offers?|catalogu?e|menu|manual|office|branch|"
    "headquarters|company|team|department|desk|counter|colleagues?|manager|boss|supervisor|support|service|services|help|"
    "system|process|window|label|line|hotline|button|notice|letter|guide|documentation|prices?|hours|questions?|"
    "name|number|confirmation|bank|clinic|hotel|tracking|side|ideas?|tips?|steps?|bank details"
)
"""What is the agent's, so that a customer may check it or send something to it."""
_BUSINESS = (
    "customers?|clients?|guests?|patients?|stores?|shops?|hotels?|clinic|bank|staff|polic(?:y|ies)|services?|products?|"
    "website|site|representatives?|agents?|support|help ?desk|technicians?|catalogu?e|menu|prices?|terms"
)
_SERVANT = (
    "assistant|agent|bot|chatbot|robot|representative|operator|receptionist|advisor|adviser|consultant|concierge|ai|"
    "a i|llm|language model|model|computer program|virtual \\w+|automated \\w+"
)
_PARTY = "customer|client|guest|patient|caller|user|buyer|shopper|speaker|person|human"
_TELLS = (
    "says|said|wants|wanted|needs|needed|asks|asked|replies|replied|answers|answered|responds|responded|writes|wrote|"
    "tells|told|knows|thinks|would|should|has|is"
)
_WISHES = (
    "want|need|wish|seem|should|must|would like|would love|are looking|are trying|are asking|are interested|are facing|"
    "are having|are experiencing|have (?:an?|some|any|many|several|more|lots|the) (?:\\w+ )?"
    "(?:questions?|requests?|concerns?|problems?|issues?)"
)
_VISITING = "contacting|calling|choosing|reaching|visiting|shopping|joining|using"
_VISIT = "order|purchase|[ie]nquiry|business|interest|call|visit|stay|feedback|question|request"
_CLOSE, _NEAR = r"(?: \w+){0,3}", r"(?: \w+){0,6}"

_AGENT_GRAMMAR = (
    # offers and promises
    rf"\b{_OFFERING} (?:help|assist)(?= (?:you|them|with|in)\b|$)",
    rf"\b{_OFFERING}{_CLOSE} {_SERVE_PERSON} you\b",
    rf"\b{_OFFERING}{_CLOSE} {_SERVICE}{_CLOSE} your\b(?!(?: \w+)? (?:{_SELLERS})\b)",
    rf"\b(?:i|we|me|us|{_OFFERING}){_NEAR} {_SERVICE}{_NEAR} for you\b",
    rf"\blet (?:me|us){_NEAR} for you\b",
    rf"\b{_OFFERING}{_CLOSE} {_GIVE} you{_NEAR} (?:{_SERVICE_THING})\b",
    rf"\b{_OFFERING} provide (?:you|(?:any |the |more )?(?:information|assistance|support|help))\b(?!{_NEAR} my\b)",
    rf"\b{_OFFERING}{_NEAR} to (?:help|assist|serve) you\b",
    rf"\b{_OFFERING} (?:take (?:good )?care of|look into|get (?:right )?on|see what (?:i|we) can do)\b",
    rf"\b{_OFFERING} (?:explain (?:to you )?what you|ask you (?:a|some|several)(?: \w+){{0,2}} questions)\b",
    rf"\b{_DECIDING} {_DECISION}\b",
    r"\bleave (?:it|that|this|everything) to (?:me|us)\b|\bi am here for (?:you|a|an)\b|\bi am on it\b",
    r"\b(?:happy|glad|here|pleased|delighted|ready|eager) to (?:help|assist|serve)\b",
    r"\b(?:be of|at your) (?:service|assistance)\b",
    r"\b(?:can|may|could|shall|should|do|might) (?:i|we) (?:help|assist|serve)\b(?! (?:my|him|her|them|it|myself)\b)",
    r"\bwhat (?:can|may|could|should|else can) (?:i|we) do for you\b|\banything else (?:that )?(?:i|we) can\b",
    r"\bis there anything else(?: you would like\b|$)|\bwould you like (?:me|us) to\b",
    # hosts
    r"^(?:hello |hi |hey )?(?:and )?welcome\b(?! back to me)|\byou have reached\b|\byou are welcome to\b",
    r"\b(?:pleasure|honou?r|great|good|nice|lovely|delighted|glad|happy|pleased) to (?:have|serve|host|welcome) you\b",
    r"\bpleasure to meet you\b",
    rf"\bthank(?:s| you)(?: very much| so much)? for (?:{_VISITING}|your (?:{_VISIT}))\b",
    r"\b(?:this is|you are speaking (?:to|with)) (?:the |our )?(?:customer|technical|guest) (?:support|service|care)\b",
    r"\bthis is (?:the|your|our) (?:shop|store|hotel|bank|clinic|help ?desk|reception|front desk)(?:$| speaking| how)",
    r"\b(?:feel free|do not hesitate) to\b",
    r"\blet (?:me|us) know (?:if|what|how|when) you (?:need|have|want|would|wish)\b",
    r"\b(?:apologi[sz]e|sorry) for (?:the|any|your) (?:\w+ )?inconvenience\b",
    # the other's affairs
    rf"\byour (?:\w+ )?(?:{_AFFAIR})\b(?! (?:\w+ )?(?:{_SELLERS})\b(?<!number)(?<!name))",
    r"\b(?:please|to|can you|could you|must) (?:enter|verify|share|provide)(?: me| us)?(?: with)? your\b",
    # what the other wants
    r"\b(?:what|how|where|when) would you like\b|\bhow may (?:i|we)\b",
    r"\bwhat do you want to (?:do|buy|order|hear|see|ask|talk about)\b",
    r"\bdo you (?:want|need|require)(?: any| some| my| our)? (?:help|assistance|support)\b(?! from)",
    r"\bwhat is your (?:request|question|concern|[ie]nquiry)\b",
    r"\b(?:problem|issue|difficult(?:y|ies)|trouble)s? (?:that )?you are (?:facing|having|experiencing)\b",
    r"\btell (?:me|us) what (?:it is )?(?:that )?you (?:would like|want|need)\b",
    r"\byou are asking (?:for|about) something\b|\byou want to know about\b|(?<!if )(?<!as )(?<!when )\byou wish to\b",
    r"(?<!do )\byou have (?:some|any|many|several|more|(?:a lot|lots) of) (?:questions|requests|concerns)\b",
    r"(?<!do )\byou have a (?:question|request|concern)\b",
)
_AS_AGENT = re.compile("|".join(_AGENT_GRAMMAR))
_FIRST_AS_AGENT = re.compile(
    r"\bwhat do you (?:want|need)\b(?! from me)|\byour (?:request|[ie]nquiry)\b"
    r"|\byou are asking (?:for|about)\b"
    r"|\b(?:what|everything|anything|whatever|which|that|the \w+) you (?:want|wanted|need|needed|would like|wish)\b"
)
"""In the first message. Later it may be what the user asks back."""
_ASSERTED_WISH = re.compile(rf"^(?:so |and |well |hello |hi )?you (?:\w+ly )?(?:{_WISHES})\b")
"""In the first message, in a sentence that says nothing of the speaker: `You need to know how to use a card.`"""
_SPEAKER = frozenset({"i", "me", "my", "mine", "we", "us", "our"})
_IDENTITY = re.compile(
    rf"\b(?:(?:i am|this is|as) (?:an?|the|your)(?: \w+){{0,3}} (?P<servant>{_SERVANT})"
    rf"|i am (?:an?|the) (?P<party>{_PARTY})(?! \w)|i am your (?!(?:\w+ ){{0,2}}(?:{_PARTY}|tenant|member|subscriber|"
    r"neighbou?r)\b))\b"
)
_NARRATION = re.compile(
    r"^(?:and |then )?(?:said|says|wanted|wants|asked|asks|replied|replies|answered|responds|responded|thanked|told)\b"
    rf"|^(?:the|an?|this) (?:\w+ )?(?P<party>{_PARTY}) (?:{_TELLS})\b"
)
_OURS = re.compile(rf"\bour (?:\w+ )?(?P<business>{_BUSINESS})\b")
_STAGE_DIRECTION = re.compile(
    r"(?:^|[.!?…\n]\s{0,3})(?:\*(?!\*)|[(\[])\s?(?!thanks|yes|always|this|plus|its|is|as|was)[a-z]{2,20}(?:s|ing)\b"
    r"[^*()\[\]\n]{0,40}[*)\]]",
    re.IGNORECASE,
)
_ANSWERS = re.compile(
    r"(?:(?:done|yes|no|ok|okay|sure|fine|right|none|nothing|goodbye|bye|true|false|null|good|great|correct)(?: |$))*"
)
"""What answers a question, and so says nothing before one was asked."""
_GREETING = re.compile(
    r"(?:hello|hi|hey|good (?:morning|afternoon|evening|day))(?: there| all| everybody)?(?: quick question)?"
)
_SAME_BEGINNING = 5
"""Letters that make two words the same: refund and refunded."""
_SHORTEST_NAME = 4
_NAMES_NOTHING = (
    "about after again before could does doing done every from getting give going have having into make made more much "
    "need only other over some take that their them then there these they this those very want were what when where "
    "which will with without would your"
)
_CONTRACTIONS = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"\bcan(?:'t|not)\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\blet's\b", "let us"),
        (r"'ll\b", " will"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'m\b", " am"),
        (r"'d\b", " would"),
        (r"\b(what|that|it|here|there|who|how|where)'s\b", r"\1 is"),
    )
)
_SENTENCE = re.compile(r"([^.!?;\n]+)([.!?;\n]*)")


def agent_speech(message: str, facts_text: str, *, has_begun: bool) -> str:
    """Return what in the message an agent would say, or a narrator, but no user; else nothing.

    `facts_text` is what the user was told: somebody who is a guest or runs a shop may say so.
    """
    if direction := _STAGE_DIRECTION.search(message):
        return direction[0].strip(" \n.!?…")
    known_words = frozenset(_plain_words(facts_text))
    sentences = [(" ".join(_plain_words(text)), "?" in end) for text, end in _SENTENCE.findall(message)]
    if not has_begun and all(_ANSWERS.fullmatch(sentence) for sentence, _ in sentences):
        return message.strip()
    for sentence, is_question in sentences:
        match = _AS_AGENT.search(sentence) or _outside(sentence, known_words)
        if match is None and not has_begun:
            match = _FIRST_AS_AGENT.search(sentence)
            if match is None and not is_question and _SPEAKER.isdisjoint(sentence.split()):
                match = _ASSERTED_WISH.search(sentence)
        if match is not None:
            return match[0]
    return ""


def begins_conversation(message: str, facts_text: str) -> bool:
    """Return whether a first message asks, greets, or tells of the speaker or of anything that the user was told."""
    words = _plain_words(message)
    if "?" in message or not _SPEAKER.isdisjoint(words) or _GREETING.fullmatch(" ".join(words)):
        return True
    named = _beginnings(_plain_words(facts_text)) - _beginnings(_NAMES_NOTHING.split())
    return not named.isdisjoint(_beginnings(words))


def _outside(sentence: str, known_words: frozenset[str]) -> re.Match[str] | None:
    """Return where the speaker is somebody else than the user: an assistant, a business, a narrator."""
    for pattern in (_IDENTITY, _NARRATION, _OURS):
        match = pattern.search(sentence)
        if match is not None and known_words.isdisjoint(name for name in match.groupdict().values() if name):
            return match
    return None


def _beginnings(words: list[str]) -> set[str]:
    return {word[:_SAME_BEGINNING] for word in words if len(word) >= _SHORTEST_NAME}


def _plain_words(text: str) -> list[str]:
    """Return the words in lower case, without contractions."""
    text = text.casefold().replace("’", "'")
    for pattern, expansion in _CONTRACTIONS:
        text = pattern.sub(expansion, text)
    return re.findall(r"\w+(?:'\w+)?", text)
