"""Whether a message of a simulated user is what an agent would say, or a narrator. English only. Pure.

A user asks for service. Whoever offers it, welcomes the other, acts on the other's affairs, tells the other what they
want or tells about itself from outside has left the role. That is a matter of who does what to whom, so these rules are
a small grammar over classes of words and not a list of sentences. They look at one sentence at a time, in lower case,
without punctuation and contractions: `I'll check that for you!` is `i will check that for you`.

Each repetition is bounded, so that a long message takes time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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
        "analyz|analys|examin|explain|fetch|pull|retriev|start|begin|continu|understand|receiv|regard|answer|return|noted|"
        "record|register|escalat|valu|plann?|design|customi[sz]|organi[sz]|draft|tailor"
    )
    + r"|look(?:ing|ed)? (?:(?:it|this|that|them) up|into|up|at|for|after|over|through)|tak(?:e|en|ing) (?:good )?care"
    r" of|work(?:ing|ed)? on)"
)
_DECISION = _forms("process|approv|reimburs|waiv|expedit|dispatch|initiat|refund|investigat|compensat|troubleshoot")
_GIVE = r"(?:give|send|offer|provide|show|get|bring|find)"
_SERVICE_THING = (
    "refund|replacement|discount|voucher|coupon|confirmation|solutions?|options|recommendations?|suggestions?|steps|guidance|"
    "assistance|help|support|service|quote|tips|insights?"
)
_SERVICE_KIND = "service|services|support|assistance|guidance|advice|help|information to help"
_MY_BUSINESS = "services?|support team|help ?desk|customer (?:service|support)"
_AFFAIR = (
    "order|orders|account|booking|reservation|refund|purchase|purchases|portfolio|appointment|subscription|package|parcel|"
    "ticket|case|claim|payment|issue|problem|problems|concern|concerns|needs|inquiry|enquiry|return|stay|trip|profile|budget|"
    "balance|chat|session|conversation|membership|deposit|child|son|daughter|kids?|baby|wife|husband|tooth|teeth|toothache|"
    "fever|symptoms|identity|privacy|luggage|baggage|passport|kitchen"
)
"""What is the customer's and not the agent's."""
_SELLERS = (
    "website|site|webpage|page|app|shop|store|warehouse|policy|policies|terms|conditions|link|form|faq|e-?mails?|mail|"
    "messages?|reply|replies|answers?|advice|address|instructions?|suggestions?|offers?|catalogu?e|menu|manual|office|branch|"
    "headquarters|company|team|department|desk|counter|colleagues?|manager|boss|supervisor|support|service|services|help|"
    "system|process|window|label|line|hotline|button|notice|letter|guide|documentation|prices?|hours|questions?|"
    "mistakes?|faults?|errors?|name|number|confirmation|bank|clinic|hotel|tracking|side|ideas?|tips?|steps?|"
    "bank details|fees?|rules|costs"
)
"""What is the agent's, so that a customer may check it or send something to it."""
_BUSINESS = (
    "customers?|clients?|guests?|patients?|stores?|shops?|hotels?|clinic|bank|staff|polic(?:y|ies)|services?|products?|"
    "website|site|representatives?|agents?|support|help ?desk|technicians?|catalogu?e|menu|prices?|terms"
)
_SERVANT = (
    "assistant|agent|bot|chatbot|robot|representative|operator|receptionist|advisor|adviser|consultant|concierge|ai|"
    "a i|llm|language model|model|computer program|virtual \\w+|automated \\w+|help ?desk|service desk|"
    "call cent(?:er|re)|(?:support|service) team|team of|specialist|technician"
)
_BUYER = "customer|client|guest|patient|caller|user|buyer|shopper"
_PARTY = f"{_BUYER}|speaker|person|human"
_SOMEBODY = "man|woman|lady|gentleman|guy|boy|girl|voice|agent"
_OTHERS = (
    "people|others|everyone|everybody|anyone|someone|somebody|folks|those|"
    "(?:the |our |other |all )?(?:customers|clients|guests|users|students|patients)|"
    "(?:an? |any |all )(?:\\w+ ){0,2}(?:who|with)"
)
"""Whom an agent serves, apart from the other."""
_HELPING = "(?:help|assist|serve|support|advise|accommodate)(?: out)?"
_HELPERS = "they|he|she|desk|team|one|someone|business|company|service"
_SELF = "i|we|me|us|by|in|of|am|are|just|to"
_TELLS = (
    "says|said|wants|wanted|needs|needed|asks|asked|replies|replied|answers|answered|responds|responded|writes|wrote|"
    "tells|told|knows|thinks|would|should|has|had|is|was|claims|claimed|reports|reported|"
    "states|stated|mentions|mentioned|complains|complained|describes|described|believes|believed|feels|felt|likes|liked|"
    "prefers|preferred|requests|requested|tries|tried|seems|seemed|looks|looked|explains|explained|adds|added|gives|gave|"
    "(?:just )?(?:called|came in)|comes in|referred"
)
_WISHES = (
    "want|need|wish|seem|should|must|would like|would love|are looking|are trying|are asking|are interested|are facing|"
    "are having|are experiencing|have (?:an?|some|any|many|several|more|lots|the) (?:\\w+ )?"
    "(?:questions?|requests?|concerns?|problems?|issues?)"
)
_FEELING = r"(?:frustrat|disappoint|annoy|ang[er]r|upset|stress|inconvenien|worr|distress)\w*"
"""What the customer feels, so that an agent shows that it understands it."""
_OUR_STAFF = "team|staff|colleagues?|department|experts?|specialists?|engineers?|technicians?|representatives?|support"
_STAFF_DOES = "get back|contact|help|assist|reach|look|review|follow|investigate|support|be in touch|be happy|happy"
_STAFF = "technician|engineer|doctor|dentist|nurse|colleague|specialist|agent|representative|manager|assessor|driver"
_IN_NEED = (
    r"(?:want|wish|need|would like|are (?:worried|having|looking|experiencing)|have (?:an?|some) (?:\w+ )?"
    r"(?:problem|issue|question))"
)
_SETTLED = (
    "cancelled|canceled|ended|updated|approved|confirmed|booked|refunded|(?:de)?activated|suspended|renewed|upgraded|reset|"
    "estimated|rescheduled|extended|waived|credited"
)
_NUMBERED = "contract|tracking|policy|customer|member|insurance|serial|ticket|patient|voucher"
_PROOF = (
    "photos?|pictures?|copy|scan|screenshots?|list|video|receipt|link|number|signature|document|form|letter|key|card|code|"
    "reference|id|proof|statement|password|name|date|reason|invoice|confirmation|hint|minute|moment|day|week"
)
"""What a customer may offer."""
_SETTLES = (
    "change|cancel|exchange|return|buy|order|book|upgrade|switch|continue|proceed|try|talk|discuss|learn|know more|"
    "know about|hear about|hear more|schedule|reserve|renew|pay|move|speak"
)
_HAS_DONE = (
    r"(?:check|follow|tri|open|answer|call|visit|receiv|us|return|contact|notic|ignor|fill|sign|pass|accept|need|want|miss|"
    r"remember|ask|review|copi|attach|download|install|scann|watch|enjoy|lik|lov)ed\b"
)
"""What a customer has done with what is the agent's: I have checked your page."""
_PLACE = "(?:rebook|enroll?|upgrade|register|book|schedule|sign|seat|squeeze)(?:e?d|ing)?"
_DESK = "gym|bank|hotel|clinic|helpline|hotline|reception|support|service|desk|practice"
_DEPARTMENT = "support|service|sales|claims|help|care|booking"
_PROMOTED = r"events?|opportunit\w+|offers?|deals?|selection|range|promotions?"
_ADVISING = "i (?:(?:would|strongly|highly) ){0,2}(?:recommend|suggest|advise)"
_SOME = "an?|another|some|any|many|several|more|(?:a lot|lots) of"
_IS_DONE = (
    r"(?:is|was|are|were|will|has|have|had|can|could)(?: (?:not|now|already|been|being|be|soon|successfully)){0,3}"
)
_VISITING = "contacting|calling|choosing|reaching|visiting|shopping|joining|using"
_VISIT = "order|purchase|[ie]nquiry|business|interest|call|visit|stay|feedback|question|request"
_CLOSE, _NEAR = r"(?: \w+){0,3}", r"(?: \w+){0,6}"

_AGENT_GRAMMAR = (
    # offers and promises
    rf"\b{_OFFERING} (?:help|assist)(?= (?:you|them|with|in|further|any ?more|any longer|today)\b|$)",
    rf"\b{_OFFERING}{_CLOSE} {_SERVE_PERSON} you\b",
    rf"\b{_OFFERING}{_CLOSE} {_SERVICE}{_CLOSE} your\b(?!(?: \w+)? (?:{_SELLERS})\b)",
    rf"\b(?:i|we|me|us|{_OFFERING}){_NEAR} {_SERVICE}{_NEAR} for you\b",
    rf"\blet (?:me|us){_NEAR} for you\b",
    rf"\b{_OFFERING}{_CLOSE} {_GIVE} you{_NEAR} (?:{_SERVICE_THING})\b",
    rf"\b{_OFFERING} provide (?:you|(?:any |the |more )?(?:information|assistance|support|help))\b(?!{_NEAR} my\b)",
    rf"\b{_OFFERING}{_NEAR} to (?:help|assist|serve) you\b",
    rf"\b{_OFFERING} (?:take (?:good )?care of|look into|get (?:right )?on|see what (?:i|we) can do)\b",
    (
        rf"\b(?:{_OFFERING}|(?:i|we) (?:just |only )?want to)(?: \w+)? {_HELPING} (?:you|them|{_OTHERS})\b"
        r"(?! \w+ (?:my|our)\b)"
    ),
    rf"\bhelping (?:you|{_OTHERS})\b(?! like me\b)",
    r"\bwhat (?:i|we) can offer\b|\bhere is (?:an?|the) (?:sample|list|overview|summary) of\b|\bwe can get you\b",
    r"\b(?:happy|glad|pleased) to (?:give|offer) you\b",
    r"\b(?:best|right|perfect|ideal|suitable) (?:\w+ )?for you\b",
    r"\byour (?:best|ideal|perfect) (?:choice|option|bet|plan)\b",
    r"\b(?:great|excellent|wonderful|amazing) (?:choice|question)\b",
    r"\b(?:ways?|just want(?:ed)?|only want(?:ed)?) to help\b(?! (?:me|us|my|him|her|it)\b)",
    r"\bwhat (?:kind|sort|type) of (?:help|assistance|support|service)\b|^(?:and )?here is your\b",
    r"\b(?:glad|happy|good|great) to (?:hear|see) (?:that )?you are\b",
    r"\b(?:glad|happy|thankful) (?:that )?you (?:have )?(?:reached|called|contacted|came|asked|chose|chosen|joined)\b",
    r"\bwe (?:\w+ )?(?:work with|serve|help) (?:clients|customers|people|guests)\b",
    rf"\b(?:for (?:me|us)|here|there|(?:am|are|just|only) trying) to {_HELPING}(?= (?:you|but|and|as|{_OTHERS})\b|$)",
    rf"\b(?:{_HELPERS}) (?:who |that )?(?:can|will|could|would)(?: \w+)? (?:help|assist) (?:you|{_OTHERS})\b",
    (
        rf"\b(?:{_SELF})(?: \w+)? (?:deliver|provid|offer)(?:e|ing)?(?: \w+){{0,2}} (?:{_SERVICE_KIND})\b"
        rf"(?!{_NEAR} (?:to|for) (?:me|us)\b)"
    ),
    rf"\b{_OFFERING} offer (?:some|a lot|lots|many|several|a few|all|any|it)\b",
    rf"\b{_OFFERING} (?:be )?offer(?:ing)? (?:an?|the) (?:\w+ ){{0,2}}(?:trial|refund|discount|voucher|free)\b",
    r"\bwe are (?:\w+ )?working on\b|\bi will work with you\b",
    r"\bwe (?:\w+ )?have (?:an? )?(?:\w+ )?(?:numbers?|rooms?|slots?) available\b",
    r"\bi would suggest (?:starting|trying|going|using|checking|visiting|contacting|the)\b",
    r"\b(?:people|customers?|clients?|users?) like you\b",
    r"\bi am sure you (?:can|will) (?:find|love|like|enjoy|be (?:happy|satisfied))\b",
    r"\bif you would prefer to\b",
    rf"\b{_OFFERING} (?:make (?:it|this|that|things) right|tell you what to expect)\b",
    r"\b(?:the one|what|which) (?:i|we) (?:(?:would|will|can|strongly|highly) ){0,2}(?:recommend|suggest)\b",
    r"\bi (?:(?:would|can|strongly|highly) ){0,2}recommend (?:it|the|our|these|\w+ing)\b",
    r"\bwhat to recommend\b|\bknow how to (?:help|assist)(?! (?:my|him|her|it|myself)\b)",
    r"\bif you (?:need|want) (?:any |some |more )?(?:anything|help|assistance|support)\b(?!(?: \w+)? from (?:me|us)\b)",
    r"\bif you have (?:any|further|more)(?: \w+)? (?:questions|concerns|problems|issues|trouble)\b",
    r"\byou can (?:always )?(?:talk|speak|come|turn|reach out) to (?:me|us) (?:any|if|when|about|with)",
    r"\b(?:i|we) think you (?:might|may|will|would) (?:enjoy|love|like)\b|\byou (?:might|may) be interested in\b",
    rf"\b{_OFFERING} (?:explain (?:to you )?what you|ask you (?:a|some|several)(?: \w+){{0,2}} questions)\b",
    rf"\b{_DECIDING} {_DECISION}\b",
    r"\bleave (?:it|that|this|everything) to (?:me|us)\b|\bi am here for you\b|\bi am on it\b",
    r"\b(?:happy|glad|here|pleased|delighted|ready|eager) to (?:help|assist|serve)\b",
    r"\b(?:be of|at your) (?:service|assistance)\b",
    r"\b(?:can|may|could|shall|should|do|might) (?:i|we) (?:help|assist|serve)\b(?! (?:my|him|her|them|it|myself)\b)",
    r"\bwhat (?:can|may|could|should|else can) (?:i|we) do for you\b|\banything else (?:that )?(?:i|we) can\b",
    r"\bis there anything else(?: you would like\b|$)|\bwould you like (?:me|us) to\b",
    rf"\b(?:(?:i|we)(?: (?:{_AUXILIARY})){{0,6}}) do (?:that|this|it|so|anything|something) for you\b",
    rf"\b{_OFFERING} (?:take|bring|lead|drive|accompany|introduce) you\b",
    rf"\b{_OFFERING}{_CLOSE} (?:make|ensure|guarantee|improve|plan|design) your\b(?! (?:\w+ )?(?:{_SELLERS})\b)",
    r"\b(?:can|may|could|shall|should|do) (?:i|we)(?: \w+){0,2} to (?:help|assist)(?= you\b|$)",
    r"\b(?:can|may|could|shall|should|do) (?:i|we)(?: \w+){0,2} make (?:this|it|that|things) right\b",
    r"\bhold(?: on| the line)? while (?:i|we)\b|\byou are all set\b",
    r"\bhere are (?:some|a few|several|the)(?: \w+){0,2} (?:options|steps|tips|suggestions)\b",
    rf"\b{_ADVISING} (?:that )?you\b(?!{_NEAR} (?:me|us|my|our|your)\b)",
    r"\bi am the one (?:to|who (?:can|will)) (?:help|assist)\b|\byou are (?:\w+ )?(?:in|at) the right place\b",
    rf"\b{_OFFERING} make sure(?: that)?(?: to \w+)? you\b",
    r"\b(?:transfer|connect|redirect|forward)(?:ed|ing)? you (?:to|with)\b(?! my\b)",
    r"\b(?:i|we) (?:will|can) send (?:someone|somebody|an? \w+) to (?:look|check|fix|repair|inspect)\b",
    r"\bwe will (?:\w+ )?(?:send|give|issue|offer) you (?:an?|the) (?:new|corrected|replacement|free|prepaid)\b",
    r"\bwhat can (?:i|we) (?:get|find|bring|book|show|offer)(?: for)? you\b|\bwill that be all\b",
    r"\bwould you prefer\b(?! (?:that i|if i|me)\b)",
    r"\bplease (?:take a seat|arrive early|come in|stay on the line|hold the line|have your|be advised)\b",
    rf"\bplease (?:bring|restart|unplug|reset|type|take|keep|sign) your\b(?! (?:\w+ )?(?:{_SELLERS})\b)",
    r"\bhave you (?:already )?(?:restarted|tried (?:to )?(?:turn|restart|reset|unplug|clear|reboot|log))",
    r"\bdid you restart\b|\b(?:thank you|thanks) for (?:waiting|holding)$",
    rf"(?<!my )\b(?:{_STAFF}) will (?:\w+ )?(?:see|visit|contact|call|be with|get back to|reach out to) you\b",
    r"\bhave a (?:safe|pleasant|good|nice|great) (?:journey|trip|flight|stay|crossing|meal)\b",
    r"\b(?:this|that|it) (?:answers?|solves?) your (?:question|problem)\b|\b(?:to|so i can|before i) help you\b",
    r"\banything (?:i|we) can do for you\b|\bthere is nothing (?:more |else )?(?:i|we) can do(?= for you\b|$)",
    r"\blet us (?:get|find|book|set) you\b|\bplease (?:calm down|fill (?:in|out) (?:the|this))\b|^dear customer\b",
    r"\bnot (?:allowed|authori[sz]ed|permitted) to (?:give|refund|share|disclose|issue|offer)\b",
    r"\bhow can (?:i|we) be of\b|\bwas there anything else\b|\b(?:sorry|apologi[sz]e) for the (?:long )?wait\b",
    r"\b(?:it has been|was) a pleasure (?:talking|speaking|chatting|helping)\b|\b(?:where|how) we can reach you\b",
    # a business
    r"\byour (?:call|opinion|health|safety) is (?:\w+ )?important to us\b|\b(?:someone|somebody|one) (?:from|of) our\b",
    r"\bmy job is\b|\bit is my job\b|\bmy company (?:sells|offers|provides)\b|\bi represent (?:the|an?|our|your)\b",
    r"\bi (?:run|own|manage|am the owner of) (?:this|your) \w|\b(?:years|lot) of experience (?:with|in)\b",
    r"\bworking in customer (?:service|support|care)\b|\bi am part of an? (?:\w+ )?(?:company|team)\b",
    r"\bi have a team\b|\bwe apologi[sz]e\b",
    r"\bwe (?:can|can not|do not) (?:refund|reimburse|exchange|issue)\b|\baccording to our\b|\bhere at \w+ we\b",
    r"\bwe (?:always|really|all) (?:try|care|strive)\b|\bwe (?:care about|strive)\b|\bwe take (?:\w+ ){1,2}seriously\b",
    r"\bat our \w+ we\b|\bthank(?:s| you) for (?:letting us know|bringing (?:this|that|it) to our|your question)\b",
    rf"\bthis is (?:\w+ ){{1,3}}(?:{_DESK})$|\byou are speaking (?:with|to) \w",
    rf"\bi (?:am|work) (?:a member of|part of|from|with|in|at) the (?:\w+ )?(?:{_DEPARTMENT}) (?:team|department)\b",
    r"\bi work (?:for|at) (?:the|this) (?:\w+ )?(?:company|bank|hotel|shop|store|gym|clinic|firm)(?= and\b|$)",
    r"\bwe are (?:\w+ )?(?:looking into|sad to see you|sorry to hear|open (?:until|from|daily)|closed (?:on|until))\b",
    r"\bwe (?:(?:do not|still|only) ){0,2}have(?: \w+){1,3} (?:left|free)\b",
    r"\bour (?:opening )?hours\b|\bour (?:inventory|warehouse|branch|branches)\b",
    rf"\bmy (?:{_MY_BUSINESS})\b(?! (?:\w+ )?(?:contract|number|plan|agreement|provider|hotline|history|record))",
    r"^(?:help ?desk|customer (?:service|support|care)|support|reception|front desk)(?: \w+)? here\b",
    r"\bhere at (?:the |our )?(?:help ?desk|support|customer)\b",
    r"\bour (?:basic|premium|standard|best|special|new|family) (?:\w+ )?(?:plans?|offers?|options?|packages?)\b",
    r"\b(?:customers|clients|guests) (?:that )?we have\b",
    r"\bteam of(?: \w+){0,4} (?:experts|professionals|specialists|technicians|agents)\b",
    rf"\bwe (?:\w+ )?have{_CLOSE} (?:special|exciting|exclusive|wonderful|upcoming|unique)(?: \w+)? (?:{_PROMOTED})\b",
    rf"\b(?:i|we) (?:\w+ )?(?:understand|see|hear|know|acknowledge) (?:your|how)(?: \w+)? (?:{_FEELING})\b",
    r"\bwe (?:\w+ )?(?:apologi[sz]e|are (?:\w+ )?sorry) for (?:the|any|this|your)\b",
    r"\bwe (?:\w+ )?(?:value|appreciate|treasure) your\b(?! (?:help|effort|efforts|time|honesty|answer|reply)\b)",
    r"\byour (?:\w+ )?(?:satisfaction|feedback|business|comfort|trust) (?:is|means|matters)\b",
    r"(?<!do )(?<!can )\bwe (?:(?:do not|no longer|also|only|currently|always) )?(?:offer|sell|stock|speciali[sz]e)\b",
    r"(?<!do )\bwe have(?: \w+){1,5} (?:available|in stock|on offer|to choose from|for sale)\b",
    rf"\bour (?:\w+ )?(?:{_OUR_STAFF})(?: \w+)? (?:will|can|would|is|are)(?: \w+)? (?:{_STAFF_DOES}){_NEAR} your?\b",
    r"\b(?:covered|excluded|included|allowed|permitted) (?:by|under|in|from) our\b",
    r"\b(?:forwarded|escalated|passed) (?:this|it|that)(?: \w+)? to (?:our|the (?:responsible|relevant|appropriate))\b",
    # hosts
    r"\bwhat (?:brings|brought) you\b",
    r"^(?:hello |hi |hey )?(?:and )?welcome\b(?! back to me)|\byou have reached\b|\byou are welcome to\b",
    r"\b(?:pleasure|honou?r|great|good|nice|lovely|delighted|glad|happy|pleased) to (?:have|serve|host|welcome) you\b",
    r"\bpleasure to meet you\b",
    rf"\bthank(?:s| you)(?: very much| so much)? for (?:{_VISITING}|your (?:{_VISIT}))\b",
    r"\b(?:this is|you are speaking (?:to|with)) (?:the |our )?(?:customer|technical|guest) (?:support|service|care)\b",
    r"\bthis is (?:the|your|our) (?:shop|store|hotel|bank|clinic|help ?desk|reception|front desk)(?:$| speaking| how)",
    r"\b(?:feel free|do not hesitate) to\b",
    r"\blet (?:me|us) know (?:if|what|how|when) you (?:need|have|want|would|wish)\b",
    r"\b(?:apologi[sz]e|sorry) for (?:the|any|your) (?:\w+ )?inconvenience\b",
    r"\b(?:apologi[sz]e|sorry) for any\b",
    r"\bsorry for your (?:\w+ )?(?:loss|trouble|problems?|experience|wait|frustration|situation)\b",
    r"^(?:and )?enjoy your (?:meal|stay|trip|flight|purchase|visit|new)\b",
    r"\bwelcome to (?:(?:the|our|my|this) )?(?:\w+ )?(?:support|service|help ?desk|store|shop|hotel|bank|clinic)\b",
    # the other's affairs
    rf"\b(?:i|we) have(?: just| already| also)? (?!{_HAS_DONE})\w{{3,20}}ed your\b",
    rf"\b(?:i|we)(?: (?:{_AUXILIARY})){{1,3}} {_PLACE} you\b|\bput you through\b",
    r"\byou have been (?:upgraded|registered|enrolled|selected|assigned|approved|accepted|subscribed|booked)\b",
    r"\b(?:can|could|may) (?:i|we) (?:take|see|have) your (?:\w+ )?(?:surname|passport|id|date of birth|details)\b",
    r"\bhow long have you been (?:feeling|having|experiencing|using|a)\b|\bhave you been here before\b",
    r"\bwhich \w+ are you interested in\b|\bare you (?:taking any|allergic to|interested in)\b|\byou qualify for our\b",
    r"\bfor security (?:reasons|purposes)\b|\bis on its way to you\b",
    r"\bdo you have an? (?:loyalty|membership|bonus) card\b",
    rf"(?<!appreciate )\byour (?:\w+ )?(?:{_AFFAIR})\b(?! (?:\w+ )?(?:{_SELLERS})\b(?<!number)(?<!name))",
    r"\b(?:please|to|can you|could you|must) (?:enter|verify|share|provide)(?: me| us)?(?: with)? your\b",
    rf"\byour (?:request|[ie]nquiry|complaint|application) {_IS_DONE} {_SERVICE}\b",
    rf"^(?:in order )?to {_SERVICE} your\b(?! (?:\w+ )?(?:{_SELLERS}|question|point)\b)",
    r"^(?:(?:please|simply|just|then|first|now) ){0,3}(?:click (?:on|the)|navigate to|follow (?:the|these) steps)\b",
    rf"\byour \w+(?: \w+)? (?:has been|have been|is|was|are|were|will be)(?: \w+ly| now| already)? (?:{_SETTLED})\b",
    rf"\b(?:what is|have|need|confirm|provide|tell me|give me) your (?:{_NUMBERED})(?: \w+)? (?:number|code|id)\b",
    r"^(?:in order )?to (?:proceed|continue)\b(?!.* my\b)|\byour (?:[\w-]+ ){1,3}to (?:proceed|continue|verify)\b",
    r"\bdo you have (?:an? (?:reservation|membership)|your(?! own))\b",
    r"\bare you (?:already )?(?:a member|registered|insured)\b",
    # what the other wants
    rf"\b(?:do you (?:want|need)|would you like) (?:an?|some|another) (?!(?:\w+ )?(?:{_PROOF})\b)\w",
    rf"\b(?:do you want|would you like) to (?:{_SETTLES})\b(?!(?: \w+)? (?:my|our)\b)",
    r"\bdo you have any (?:(?:other|more|further) )?questions\b(?! for (?:me|us)\b)|\bask (?:me|us) anything\b",
    r"\b(?:what )?are you looking for\b|\bwhat can you tell me about yourself\b|\bhere to (?:listen|answer|explain)\b",
    r"\bthat must (?:be|have been) (?:\w+ )?(?:hard|frustrating|difficult|stressful|annoying|upsetting|worrying)\b",
    r"\b(?:sorry|apologi[sz]e)(?: that)? you (?:had to|have to|feel|went through|experienced)\b|\bdo not panic\b",
    r"\bis this your first (?:time|visit|order)\b|\bare you ready to order\b|\bhow did you hear about us\b",
    r"\bwhat \w+ would you like\b|\bwhat (?:model|make|brand|version) is your\b|\bwhich (?:\w+ )?plan are you on\b",
    r"\bhow long have you had (?:the|this|these) (?:pain|problem|issue|symptoms?|fever)\b|\bwhere do you live\b",
    r"\bwhen did you (?:buy|purchase|order|last (?:pay|eat|visit))\b",
    r"\bwhat does (?:the|your) (?:screen|display|message) say\b",
    r"\b(?:can you|could you|please)(?: \w+)? describe (?:the|your) (?:problem|pain|issue|damage|symptoms|situation)\b",
    r"\byou are (?:calling|writing|contacting us) (?:about|because|regarding)\b",
    rf"\b(?:see|understand|hear|seems|sounds|looks|appears)(?: that| like| as if)? you {_IN_NEED}\b",
    r"\b(?:see|understand|hear)(?: that)? you (?:have )?(?:booked|bought|ordered|purchased|reserved)\b",
    r"\bwhy (?:do )?you (?:want|wish|would like) to(?! \w+ my\b)|\bwhy you are (?:leaving|calling|contacting)\b",
    rf"\bis there (?:some|any)thing(?: \w+)? (?:that )?you (?:are looking for|would like|want)\b(?!{_NEAR} from me\b)",
    r"\bwhat seems to be the (?:problem|issue|trouble|matter)\b",
    (
        r"\bwhat is (?:wrong|going on|happening|the (?:problem|issue|matter)) with your\b"
        rf"(?! (?:\w+ )?(?:{_SELLERS})\b)"
    ),
    r"\bthe (?:problem|issue)s? (?:that )?you (?:have|face)\b",
    r"\b(?:what|how|where|when) would you like\b|\bhow may (?:i|we)\b",
    r"\bwhat do you want to (?:do|buy|order|hear|see|ask|talk about)\b",
    r"\bdo you (?:want|need|require)(?: any| some| my| our)? (?:help|assistance|support)\b(?! from)",
    r"\b(?:sorry|hope|glad|sure)(?: \w+){0,4} what you are looking for\b|\bwhat is your business\b",
    r"^(?:so |and )?you are (?:always )?(?:looking (?:for|to)|interested in)\b",
    r"\byou are (?:\w+ )?(?:here to(?! (?:help|assist|serve) (?:me|us)\b)|referring to)\b",
    r"\byou are asking (?:why|whether|if|how|about their)\b",
    r"\bdo you want to take a (?:\w+ )?look\b",
    r"\bwhat is your (?:request|question|concern|[ie]nquiry)\b",
    r"\b(?:problem|issue|difficult(?:y|ies)|trouble)s? (?:that )?you are (?:facing|having|experiencing)\b",
    r"\btell (?:me|us)(?: \w+){0,3} what (?:it is )?(?:that )?you (?:would like|want|need)\b",
    r"\byou are asking (?:for|about) something\b|\byou want to know about\b|(?<!if )(?<!as )(?<!when )\byou wish to\b",
    rf"(?<!do )\byou have (?:got )?(?:{_SOME})(?: \w+){{0,2}} (?:questions?|requests?|concerns?)\b",
    # a language model
    r"\bi (?:was|am|have been) (?:created|designed|built|trained|programmed) to\b",
    r"\bi (?:do not have|have no) (?:\w+ )?(?:personal|human) (?:opinions?|feelings|preferences|emotions)\b",
)
_AS_AGENT = re.compile("|".join(_AGENT_GRAMMAR))
_FIRST_AS_AGENT = re.compile(
    rf"\b{_OFFERING} (?:\w+ )?take a (?:\w+ )?look\b|^here (?:is|are)\b|^the (?:\w+ )?answer is\b"
    r"|\b(?:answer|ready for) (?:your|any|all)(?: \w+)? questions\b"
    r"|\bwhat do you (?:want|need)\b(?! from me)|\byour (?:request|[ie]nquiry)\b"
    r"|\b(?:glad|happy|pleased) (?:that )?you (?:\w+ )?(?:found|like|liked|love|loved|enjoy|enjoyed)\b"
    r"|\bdo you (?:want|wish)\b(?! to see\b)(?!(?: \w+){0,4} (?:my|me|us|our)\b)"
    r"|\byou are asking (?:for|about)\b|\btell me what is wrong\b|\bwhat is on your mind\b"
    r"|\b(?:what|everything|anything|whatever|which|that|the \w+) you (?:want|wanted|need|needed|would like|wish)\b"
)
"""In the first message. Later it may be what the user asks back."""
_ASSERTED_WISH = re.compile(rf"^(?:so |and |well |hello |hi )?you (?:\w+ly )?(?:{_WISHES})\b")
"""In the first message, in the first clause of a sentence: `You need to know how to use a card.`"""
_TELLS_OTHER = re.compile(
    r"\byou (?:(?:also|just|really|already|now|still|always|probably) )?"
    r"(?:have|had|need|want|wanted|will|should|must|can|could|may|might|feel|know|own)\b"
)
"""In a first message that asks nothing and says nothing of the speaker: `You have a sofa with a broken leg.`"""
_ADVICE = re.compile(
    r"\byou (?:can|could|might|may|just need to)(?: (?:also|always|then|just))?"
    r" (?:find|get|choose|pick|select|visit|expect|browse|check|pay|reach|download|upgrade|apply|request|log)\b"
    r"|\byou (?:will |just |would |only ){0,2}(?:have|need) to"
    r" (?:log|click|contact|visit|fill|enter|create|sign|download|select)\b"
    r"|\byou (?:need|have) to (?:type|press|restart|reset|reboot|unplug|register|scan)\b"
    r"|\byou (?:will|are going to) (?:\w+ )?(?:enjoy|love|find)\b"
    r"|\byou (?:will|should) (?:\w+ )?(?:receive|hear back|be (?:charged|contacted|notified|refunded|informed|able))\b"
    r"|\byou (?:are|may be|might be) (?:entitled|eligible|required|qualified)\b|^(?:so |and |then )?you would like to\b"
    r"|\bwill be (?:replaced|refunded|shipped|sent|credited|processed)(?: \w+){0,2} (?:as soon|shortly|soon|within)\b"
    r"|\bit is (?:best|recommended|advisable) to\b|\b(?:not|no)(?: (?:have|need) to)? worry\b"
)
"""In a statement that says nothing of the speaker: `You can find it on the second floor.`"""
_SPEAKER = frozenset({"i", "me", "my", "mine", "we", "us", "our"})
_QUOTED = "said|told|promised|wrote|suggested|asked|advised|explained|who|that|offered|confirmed|recommended|mentioned"
"""What follows somebody who is not the speaker: as your agent said."""
_IDENTITY = re.compile(
    rf"\bcall me (?:an? |your )?(?:{_SERVANT})\b"
    r"|\b(?:(?:i am|this is|as) (?:(?:more than|just|only|not|here as) ){0,2}(?:an?|the|your)(?: \w+){0,3}"
    rf" (?P<servant>{_SERVANT})(?! (?:\w+ )?(?:{_QUOTED})\b)"
    r"|i am (?:an?|the) (?:\w+ ){0,2}(?P<skilled>expert|helper|professional|dentist|doctor|nurse|technician)"
    r"|as an? (?P<expert>doctor|dentist|nurse|technician|expert|professional|specialist|lawyer) i"
    rf"|i am (?:just|only|not) an? (?P<sort>{_BUYER})(?! (?:yet|any|anymore|of|at|in)\b)"
    rf"|(?:you are|are you) (?:(?:just|only|not|also) )?(?:an?|my|our) (?:\w+ )?(?P<other>{_BUYER})"
    r"(?! (?:service|support)\b)"
    r"|i am (?:(?:just|only) )?(?:an?|the) (?:\w+ )?(?P<device>computer|drone|machine|program|robot|server)(?! \w)"
    rf"|i am (?:an?|the) (?P<party>{_PARTY})(?! \w)|i (?:am|will be) your "
    rf"(?!(?:\w+ ){{0,2}}(?:{_PARTY}|tenant|member|subscriber|neighbou?r)\b))\b"
)
_NARRATION = re.compile(
    r"^(?:and |then )?(?:said|says|wanted|wants|asked|asks|replied|replies|answered|responds|responded|thanked|told)\b"
    rf"|\b(?:said|says|asked|asks|replied|replies) (?:the|an?|my|one) (?:\w+ )?(?P<speaker>{_BUYER}|{_SOMEBODY})\b"
    rf"|\bthe (?P<saying>{_BUYER}) (?:says|asks|replies|writes|responds|wants|needs)\b"
    rf"|\bthis is an? (?P<shown>{_BUYER}) (?:who|that)\b"
    r"|\bhelp(?:ing)? my (?P<served>students|customers|clients|patients|guests|users)\b"
    r"|\bmy (?P<mine>customers?|patients?|callers?|shop|store)\b"
    r"(?! (?:number|id|card|code|name|account|service|support|reference|file)\b)"
    rf"|\b(?:an?|one|that) (?P<one>{_BUYER}) (?:came in|(?:who|that) (?:wants|needs|talks|asks|is|says))\b"
    r"|\b(?:in|play|playing|have) the role of\b"
    rf"|^(?:the|an?|this) (?:\w+ )?(?P<party>{_PARTY}) (?:{_TELLS})\b"
    r"|\b(?:the|an?|this|that) (?P<owner>customer|client|caller|buyer)'s\b"
)
_OURS = re.compile(rf"\bour (?:\w+ )?(?P<business>{_BUSINESS})\b")
_STAGE_DIRECTION = re.compile(
    r"(?:^|[.!?…\n]\s{0,3})[*(\[]\s?(?:(?:in|with) (?:an?|the|his|her|my)\b[^*()\[\]\n]{0,40}"
    r"\b(?:voice|tone|smile|sigh|look|accent|whisper)\b"
    rf"|(?:the|an?) (?:\w+ ){{0,2}}(?:{_BUYER}|{_SOMEBODY})\b)[^*()\[\]\n]{{0,80}}[*)\]]"
    r"|[*(\[](?:\w+ ){0,2}(?:smile|grin|sigh|laugh|pause|wink|shrug|nod|chuckle|giggle)s?[*)\]]|"
    r"(?:^|[.!?…\n]\s{0,3})(?:\*(?!\*)|[(\[])\s?(?!thanks|yes|always|this|plus|its|is|as|was)[a-z]{2,20}(?:s|ing)\b"
    r"[^*()\[\]\n]{0,40}[*)\]]",
    re.IGNORECASE,
)
_ANSWERS = re.compile(
    r"(?:(?:done|yes|no|ok|okay|sure|fine|right|none|nothing|goodbye|bye|true|false|null|good|great|correct)(?: |$))*"
)
"""What answers a question, and so says nothing before one was asked."""
_BEGINS_ANSWER = re.compile(
    r"(?:sure|certainly|absolutely|of course|no problem|you are (?:very )?welcome|(?:my|our) pleasure"
    r"|(?:what an? )?(?:brilliant|excellent|fantastic|good|great|interesting|lovely|nice|perfect|wonderful) "
    r"(?:choice|idea|plan|question|suggestion)|(?:that|this|it) sounds"
    r"|sounds (?:good|great|perfect|fine|interesting|like)|thank you for (?:asking|your (?:reply|answer|response)))\b"
)
"""How an answer begins, and so no first message."""
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
        (r"\bcan(?:'?t|not)\b", "can not"),
        (r"\bwon'?t\b", "will not"),
        (r"\b(do|does|did|is|are|was|has|have|would|could|should)nt\b", r"\1 not"),
        (r"n't\b", " not"),
        (r"\blet's\b", "let us"),
        (r"'ll\b", " will"),
        (r"\b(you|they)re\b", r"\1 are"),
        (r"'re\b", " are"),
        (r"\b(i|you|they)ve\b", r"\1 have"),
        (r"'ve\b", " have"),
        (r"\bim\b", "i am"),
        (r"'m\b", " am"),
        (r"'d\b", " would"),
        (r"\b(what|that|it|here|there|who|how|where)'s\b", r"\1 is"),
    )
)
_SENTENCE = re.compile(r"([^.!?;\n]+)([.!?;\n]*)")
_FIRST_CLAUSE = re.compile(r"([^.!?;\n,:]+)[^.!?;\n]*([.!?;\n]*)")
"""That of each sentence, and the end of the sentence."""


def agent_speech(message: str, facts_text: str, *, has_begun: bool) -> str:
    """Return what in the message an agent would say, or a narrator, but no user; else nothing.

    `facts_text` is what the user was told: somebody who is a guest or runs a shop may say so.
    """
    if direction := _STAGE_DIRECTION.search(message):
        return direction[0].strip(" \n.!?…")
    known_words = frozenset(plain_words(facts_text))
    sentences = [(" ".join(plain_words(text)), "?" in end) for text, end in _SENTENCE.findall(message)]
    if not has_begun and (phrase := _said_by_who_answers(message, sentences)):
        return phrase
    for sentence, is_question in sentences:
        match = _AS_AGENT.search(sentence) or _outside(sentence, known_words)
        if match is None and not has_begun:
            match = _FIRST_AS_AGENT.search(sentence)
        if match is None and not is_question and _SPEAKER.isdisjoint(sentence.split()):
            match = _ADVICE.search(sentence)
        if match is not None:
            return match[0]
    return ""


def begins_conversation(message: str, facts_text: str) -> bool:
    """Return whether a first message asks, greets, or tells of the speaker or of anything that the user was told."""
    words = plain_words(message)
    if "?" in message or not _SPEAKER.isdisjoint(words) or _GREETING.fullmatch(" ".join(words)):
        return True
    named = _beginnings(plain_words(facts_text)) - _beginnings(_NAMES_NOTHING.split())
    return not named.isdisjoint(_beginnings(words))


def _said_by_who_answers(message: str, sentences: Sequence[tuple[str, bool]]) -> str:
    """Return what in a first message answers, or tells the other of themselves; else nothing."""
    if all(_ANSWERS.fullmatch(sentence) for sentence, _ in sentences):
        return message.strip()
    if match := _BEGINS_ANSWER.match(sentences[0][0]):
        return match[0]
    if not any(is_question or not _SPEAKER.isdisjoint(sentence.split()) for sentence, is_question in sentences):
        match = next(filter(None, (_TELLS_OTHER.search(sentence) for sentence, _ in sentences)), None)
    for text, end in _FIRST_CLAUSE.findall(message):
        words = plain_words(text)
        if match is None and "?" not in end and _SPEAKER.isdisjoint(words):
            match = _ASSERTED_WISH.search(" ".join(words))
    return match[0] if match else ""


def _outside(sentence: str, known_words: frozenset[str]) -> re.Match[str] | None:
    """Return where the speaker is somebody else than the user: an assistant, a business, a narrator."""
    for pattern in (_IDENTITY, _NARRATION, _OURS):
        match = pattern.search(sentence)
        if match is not None and known_words.isdisjoint(name for name in match.groupdict().values() if name):
            return match
    return None


def _beginnings(words: list[str]) -> set[str]:
    return {word[:_SAME_BEGINNING] for word in words if len(word) >= _SHORTEST_NAME}


def plain_words(text: str) -> list[str]:
    """Return the words in lower case, without contractions."""
    text = text.casefold().replace("’", "'")
    for pattern, expansion in _CONTRACTIONS:
        text = pattern.sub(expansion, text)
    return re.findall(r"\w+(?:'\w+)?", text)
