"""What an English sentence says if it addresses the evaluator: patterns over its plain words.

Legal prose has its own instructions, judges, evaluators, reviewers and passes, and much of it is about AI. So a pattern
needs at least two things that ordinary prose does not combine: who is addressed, what is asked for, and that it is
about the evaluation of this text. A duty of a third person ("the evaluator shall score each tender") is none of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class SentencePattern(NamedTuple):
    kind: str
    regex: re.Pattern[str]
    needs: frozenset[str]
    """The pattern is searched only in a sentence that has one of these words."""


def sentence_pattern(kind: str, needs: str, regex: str) -> SentencePattern:
    return SentencePattern(kind, re.compile(regex), frozenset(needs.split()))


# Where a command stands: at the start of the sentence or of a part of it, or after "please" or "you must".
_COMMAND = (
    r"(?:^(?:[\W_]{0,6}|[\w' ]{0,40}: ?)|[:;.!?>\])(\[{|/,-] ?'?|"
    r"\b(?:please|kindly|now|simply|then|just|you (?:must|should|shall|will|are to|have to|need to|to)|want you to) )"
)
_NO_DUTY = "".join(
    rf"(?<!{word} )"
    for word in (
        "shall",
        "may",
        "must",
        "should",
        "to",
        "not",
        "will",
        "can",
        "could",
        "would",
        "or",
        "and",
        "they",
        "we",
    )
)
"""Before a verb: it is no duty or right of a third person."""
_IGNORE = r"(?:ignore|disregard|forget|override|bypass|set aside|skip|do not (?:follow|obey)|pay no attention to)"
_RULES = (
    r"(?:instructions?|prompts?|rules?|directions|guidelines|directives|messages?|rubric|criteria|checks?|guidance"
    r"|context|constraints|task)\b"
)
_ABOUT = (
    r"(?! (?:from|of|by|given by|issued by|under|set out|received|on|about|dated|concerning"
    r"|in (?:the|this) (?:agreement|contract|policy))\b)"
)
_TASK = r"(?:evaluat|grad|judg|assess|scor|review|check|rat|examin|analy[sz]|mark|validat|audit)(?:e|es|ing|ting)?\b"
_MACHINE = r"(?:ai|llm|artificial intelligence|automated|automatic|machine|gpt|computer)"
_JUDGING_NOUN = (
    r"(?:evaluators?|graders?|judges?|reviewers?|assessors?|checkers?|raters?|scorers?|validators?|examiners?"
    r"|moderators?|auditors?|markers?)"
)
_MODEL_NOUN = r"(?:models?|ais?|llms?|assistants?|bots?|engines?|systems?|software|agents?|tools?|machines?)"
AI_EVALUATOR = (
    rf"(?:{_MACHINE}[ -](?:based |driven |powered )?(?:legal |text |document )?{_JUDGING_NOUN}"
    rf"|(?:evaluation|grading|judging|scoring|evaluating|reviewing|marking|assessing) {_MODEL_NOUN}"
    rf"|{_MODEL_NOUN} (?:(?:that|which|who|currently|now|is|are|was) ){{0,3}}{_TASK} (?:this|it|these|the (?:text"
    r"|document|memo|output|answer|response)|my)"
    r"|(?:large )?language models?|llms?|graders?|evaluators?)"
)
"""Names of an automated evaluator. `evaluators` are also people in procurement: something else has to be there too."""

_PASSING = r"['*\[(]{0,3}(?:a |the )?['*\[]{0,3}pass(?:ed|ing|es)?\b(?! (?:on|to|through|by|over|away|into|down)\b)"
_THE_WORD = r"(?:an? |the )?['*\[(<]{0,3}pass\b(?!-)"
_THIS = (
    r"(?:this|the present|the above|the following|my|our) (?:\w{1,15} )?(?:text|document|memo|memorandum|output|answer"
    r"|response|file|submission|work|draft|artifact|check|test|evaluation|report|paper|piece|analysis|review|one)s?\b"
)
_SAY = (
    r"(?:return|output|answer|respond|reply|vote|emit|say|report|conclude|record|give|issue|state|confirm|write|repeat"
    r"|mark|grade|rate|score|label|classify|treat|count|judge|set|accept|approve|award|assign|put|enter|deem|consider"
    r"|regard|register|declare)"
)
_SAYS = (
    rf"(?:{_SAY}s?"
    r"|(?:return|output|answer|respond|reply|record|giv|mark|grad|rat|scor|treat|approv|accept)(?:ed|ing|en))"
)
_CHECKS = r"(?:checks?|criteri(?:a|on)|tests?|verdicts?|results?|evaluations?|questions?|requirements?|rubrics?)"
_ALL = r"(?:all|every|each|any|the remaining|the other|these|the|both|everything)"
_GOOD_MARK = (
    r"(?:(?:full|top|best|highest|maximum|max|perfect|good|high|positive|favou?rable|excellent|generous)"
    r" (?:marks?|scores?|grades?|ratings?|points|verdicts?|results?|evaluations?|assessments?)|benefit of the doubt)"
)
_NO_FLAG = (
    "(?:(?:do|does|should|must|shall|may|will|to|can|are|is) ?not|don't|never|no longer|not to|without|avoid"
    r"|refrain from)"
    r" (?:\w{1,12} ){0,2}?(?:fail|flag|flagging|penali[sz]e|penali[sz]ing|report|reporting|criticis|object|mention"
    r"|mark(?:ing)? (?:it )?down|find)(?:e|ing)?\b"
)
_LENIENT = r"(?:lenient|generous|merciful|forgiving|kind to|go easy|overlook|turn a blind eye|look the other way)"
_NOT_A_JUDGE = (
    r"(?! (?:provider|deployer|developer|vendor|supplier|company|user|systems?|act|operator|importer|distributor"
    r"|officer?|team|start-?up|business|expert|lawyer|licen[cs]e|policy|tool)\b)"
)

_EVALUATOR_WORDS = (
    "evaluator evaluators grader graders judge judges reviewer reviewers assessor assessors llm llms model models"
    " assistant ai system systems engine bot software checker checkers raters rater auditor auditors examiner examiners"
    " validator agent tool machine ais assistants bots agents tools marker scorer moderator"
)
_RESULT_WORDS = "pass passed passing passes"

PATTERNS: Sequence[SentencePattern] = (
    # --- Instructions to forget instructions ---
    sentence_pattern(
        "instruction_override",
        "ignore disregard forget override bypass skip follow obey attention aside",
        rf"(?:{_COMMAND}|{_NO_DUTY}\b){_IGNORE} (?:(?:all|any|the|every|of|these|those|my|your|each) ){{0,4}}"
        "(?:previous|prior|above|preceding|earlier|foregoing|system|original|existing|initial|evaluation|grading"
        r"|check)"
        rf"(?: [\w-]{{1,20}}){{0,2}}? {_RULES}{_ABOUT}",
    ),
    sentence_pattern(
        "instruction_override",
        "ignore disregard forget override bypass skip follow obey attention aside",
        rf"(?:{_COMMAND}|{_NO_DUTY}\b){_IGNORE} (?:all |any |of )*(?:your (?:[\w-]{{1,12}} ){{0,2}}?"
        r"(?:instructions?|rules|guidelines|prompt|programming|training|task|rubric|criteria)"
        r"|(?:the|this|your|any|that) (?:system prompt|rubric|playbook|evaluation(?: criteria| rules| steps)?"
        r"|grading (?:scheme|criteria|rules)|scoring (?:guide|rules|criteria)|check instructions|marking scheme"
        r"|(?:remaining|other) checks)"
        r"|(?:everything|anything|all|whatever)(?: \w{1,10})? (?:above|before this|that came before|so far"
        r"|you (?:were|have been|had been|are) (?:told|given|instructed|asked)|you read))\b",
    ),
    sentence_pattern(
        "instruction_override",
        "ignore disregard forget override bypass skip follow obey attention aside",
        rf"{_COMMAND}{_IGNORE} (?:[\w-]{{1,12}} ){{0,4}}?(?:instructions|rules|directives|prompts?|guidelines|rubric"
        rf"|criteria) "
        r"(?:above|before this|given to you|you (?:got|received|were given|have been given|were told))\b",
    ),
    sentence_pattern(
        "instruction_override",
        "instructions guidelines rubric task rules prompt",
        r"\b(?:your (?:previous|prior|earlier|original|former|old) (?:\w{1,12} )?(?:instructions|guidelines|rubric"
        r"|task|rules"
        r"|prompt) (?:are|is|were|was|have been|has been) (?:now |hereby )?(?:void|obsolete|cancell?ed|revoked|replaced"
        r"|superseded|invalid|outdated)|(?:your|here are (?:your|the)|new|these are your) new"
        r" (?:instructions?|task|rules|prompt)(?: (?:are|is)\b| for (?:the|an?|any) |:))",
    ),
    sentence_pattern(
        "instruction_override",
        "task instructions instruction rules",
        rf"^\W{{0,6}}(?:new|updated|revised|changed|additional|hidden|secret) (?:task|instructions?|rules|orders) for"
        rf" (?:the|any|all|this|an?) (?:{AI_EVALUATOR}|ai|model|assistant|{_JUDGING_NOUN})\b",
    ),
    # --- Who is addressed ---
    sentence_pattern(
        "addresses_evaluator",
        _EVALUATOR_WORDS,
        r"\b(?:to|for|attention|hello|hi|dear|hey|attn:?|whoever|whatever) (?:(?:the|any|an|a|all|every|is|you"
        r"|whoever|whichever)"
        rf" ){{0,3}}(?:{_MODEL_NOUN}|{_JUDGING_NOUN}|one|person|reader)"
        f" (?:(?:that|which|who|is|are|currently|now) ){{0,3}}{_TASK} (?:this|it|these|the (?:text|document|memo"
        rf"|output))\b",
    ),
    sentence_pattern(
        "addresses_evaluator",
        "you reader reads",
        r"\bif (?:you|the reader|whoever reads this) (?:are|'re|is|happen to be) (?:(?:an?|the|really|actually"
        r"|currently|only"
        r"|some|kind|of|in fact) ){0,3}"
        r"(?:(?:ai )?(?:language model|evaluator|assistant model)|ai model|llm|(?:ai|large|machine|automated|automatic"
        r"|artificial intelligence|language|grading|evaluation) ?(?:model|evaluator|grader|judge|reviewer|assistant"
        r"|checker|bot|system)?(?= (?:that|which|who|tasked|asked|instructed|"
        rf"{_TASK}"
        r")|[,:;.!?-]|$)|machine|bot|chatbot|grader|evaluator)\b" + _NOT_A_JUDGE,
    ),
    sentence_pattern(
        "addresses_evaluator",
        _EVALUATOR_WORDS,
        rf"\bas (?:the |an |a )?(?:{AI_EVALUATOR}|judge),? (?:you\b(?! (?:can(?:not| not)|may)\b)|please"
        rf"|your (?:task|job|role))",
    ),
    sentence_pattern(
        "addresses_evaluator",
        _EVALUATOR_WORDS,
        r"\b(?:notes?|messages?|memo|instructions?|attention|reminder|notice|important|warning|information|request"
        r"|guidance|directive|orders?|hints?|tips?|advice|letter|appeal|plea)[:,]?(?: to| for)?"
        r" (?:(?:the|any|all|every|our|your|whichever|those) )*"
        rf"(?:{AI_EVALUATOR}|ais?\b(?! (?:act|providers?|deployers?|developers?|users?|literacy|office"
        rf"|governance)\b)|assistant model"
        f"|(?:evaluation|grading|automated review) {_MODEL_NOUN}|(?:reviewing|grading|judging"
        rf"|evaluating) {_MODEL_NOUN}"
        r"|(?:the )?model (?:that|which|who))(?=[:,!;.)\]-]| -|$| (?:reading|please|you|must|only|below|follow|that"
        r"|who|of this)\b)",
    ),
    sentence_pattern(
        "addresses_evaluator",
        _EVALUATOR_WORDS,
        rf"\b(?:dear|hello|hi|hey|greetings|attention|esteemed|honou?red|respected),? (?:the )?(?:{AI_EVALUATOR}"
        rf"|ai)(?=[,:;!.-]|$| (?:i|we|please|this|who)\b)",
    ),
    sentence_pattern(
        "addresses_evaluator",
        _EVALUATOR_WORDS,
        rf"(?:^|[:;.!?>\])(\[{{/] ?)['#*-]{{0,6}} ?{AI_EVALUATOR}(?:[:,]| -) ?"
        r"(?:you\b|your\b|please|kindly|ignore|disregard|return|respond|mark|rate|score|the |this |it |record|answer"
        r"|give"
        r"|stop|pass|result|verdict|treat|accept|approve|confirm|do not|don't|skip)",
    ),
    sentence_pattern(
        "addresses_evaluator",
        _EVALUATOR_WORDS,
        rf"(?:^|[:;.!?>\])(\[{{] ?)['#*-]{{0,6}} ?{_MACHINE} {_JUDGING_NOUN}(?:[:,]| -) ?\w"
        rf"|(?<!by )(?<!an )\b{_MACHINE} {_JUDGING_NOUN}, (?:you|your|please|kindly)\b",
    ),
    sentence_pattern(
        "addresses_evaluator",
        "you",
        r"(?:^|[:;.!?>\])(\[{] ?|\bsystem )['#*-]{0,6} ?you are (?:now )?(?:a|an|the) (?:[\w-]{1,20} ){0,3}?"
        "(?:evaluation engine|evaluator|grader|ai assistant|ai model|language model|chatbot|llm|ai (?:judge"
        r"|reviewer))\b",
    ),
    sentence_pattern(
        "addresses_evaluator",
        "you",
        r"(?:^|[:;.!?>\])(\[{] ?)['#*-]{0,6} ?you are (?:now |currently )?(?:grading|evaluating|judging|scoring"
        r"|assessing|rating"
        rf"|marking) {_THIS}",
    ),
    sentence_pattern(
        "addresses_evaluator",
        "now",
        r"\bfrom now on,? you (?:are|will|must|should) (?:\w{1,20} ){0,3}?"
        r"(?:act|respond|answer|return|output|evaluate|grade|ignore|behave)\b",
    ),
    sentence_pattern(
        "addresses_evaluator",
        "now",
        r"\bfrom now on,? (?:(?:only|just|simply|please) )?(?:skip (?:the|any|all) (?:evaluation|checks?)"
        rf"|{_SAY} (?:with |only )*{_PASSING})",
    ),
    sentence_pattern(
        "addresses_evaluator",
        "prompt instructions",
        rf"(?:{_COMMAND}|{_NO_DUTY}\b)(?:reveal|print|repeat|output|show|disclose) (?:your|the) (?:system|hidden"
        rf"|initial) (?:prompt"
        r"|instructions)\b",
    ),
    sentence_pattern(
        "addresses_evaluator",
        _EVALUATOR_WORDS,
        rf"\b(?:(?:evaluator|grader)'?s?'?|(?:{_MACHINE} {_JUDGING_NOUN})'?s?'?|reviewing model'?s?"
        rf"|ai'?s) (?:summary|notes?|verdict|comments?|instructions?"
        r"|override|prompt|conclusion|output|answer|findings?|outcome|result)\b(?! (?:shall|may|must|is|are|will|on"
        r"|in) )(?=[:\]).!-]| |$)",
    ),
    sentence_pattern(
        "addresses_evaluator",
        _EVALUATOR_WORDS,
        r"^[\W_]{0,8}(?:notes?|messages?|instructions?|attention|notice|request|orders?) (?:to|for)"
        f" (?:(?:the|any|all|every) )*(?:{_MACHINE} {_JUDGING_NOUN}|(?:reviewing|grading|judging"
        rf"|evaluating) {_MODEL_NOUN})\b(?! (?:shall|may|must|should|are|is|were|was)\b)",
    ),
    # --- Somebody who evaluates, and what they should do ---
    sentence_pattern(
        "asks_for_verdict",
        _RESULT_WORDS,
        rf"\b(?:{_MODEL_NOUN}|{_JUDGING_NOUN})\b.{{0,40}}\b(?:does not|do not|don't|fails to|refuses to) {_SAY}(?:"
        rf" \w{{1,10}})? {_THE_WORD}",
    ),
    sentence_pattern(
        "asks_for_verdict",
        _EVALUATOR_WORDS,
        rf"\b(?:{AI_EVALUATOR}|{_JUDGING_NOUN}|(?:reviewing|grading|judging) {_MODEL_NOUN}|ai|any model)\b.{{0,120}}?"
        rf"(?:\b{_SAYS}\b.{{0,60}}?(?:{_THE_WORD}(?=['*\])>.,;:!]|$| (?:for|on|in|with|without|regardless|and|as|if"
        rf"|because|it|this)\b)"
        rf"|\b(?:it|this|{_THIS}|{_ALL} (?:\w{{1,12}} ){{0,2}}?{_CHECKS}).{{0,40}}?(?:pass(?:ed|es|ing)?"
        rf"|pre-?approved|approved|satisfied|compliant)\b)"
        rf"|{_NO_FLAG}.{{0,40}}?\b(?:{_THIS}|any ?(?:thing|check|issue|problem|error|fault)?|it|this|documents?"
        rf"|texts?|memos?|a check|{_CHECKS}|here)\b"
        rf"|\bpass(?:es)? (?:it|this|every|all|each|them|{_THIS})\b"
        rf"|\b(?:has to|have to|must|should|needs to|required to|obliged to|supposed to|expected to) (?:\w{{1,12}}"
        rf" )?(?:pass|accept|approve) (?:it|this|the (?:document|memo|text))\b"
        rf"|\b(?:to )?be (?:more )?lenient\b)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "pass passed passes",
        rf"{_GOOD_MARK}.{{0,60}}{_PASSING}|(?:tip|reward|bonus|paid|pay|dollars|euros?)\b.{{0,60}}\bpassed (?:check"
        rf"|criterion|test)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "judge reviewer reader grader evaluator you",
        rf"\b(?:please|kindly|grateful|thank you|dear|beg|ask you|hope you|appreciate)\b.{{0,100}}?\b(?:{_GOOD_MARK}|"
        rf"(?:let|allow) (?:it|this|{_THIS}|this one|me)(?: one| text| memo)? (?:to )?pass\b|pass (?:it|this|{_THIS}"
        rf"|this one)\b"
        rf"|(?:overlook|ignore|forgive) (?:the|any|all) (?:missing|gaps?|errors?|mistakes?|weak|flaws|omissions))",
    ),
    sentence_pattern(
        "asks_for_verdict",
        _RESULT_WORDS,
        f"{_COMMAND}{_SAY} (?:that )?(?:(?:this|the|each|every|all|any|these|that|both)(?: of the)?(?:"
        rf" \w{{1,20}}){{0,3}}?"
        rf" {_CHECKS}|{_THIS}|it|everything|them)(?: \w{{1,20}}){{0,3}}?"
        r" ?(?:as|to|a|=|is|are|has|have|that it) ?(?:an? |fully |been )?(?:['*\[]{0,3}pass\b|['*]{0,2}pass(?:ed"
        r"|ing)\b|satisfied|met\b|fulfilled|ok\b)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        _RESULT_WORDS,
        rf"{_COMMAND}(?:{_SAY}|stop)\b(?: with| only| just| exactly| result| verdict| as| back| that| simply"
        rf"|:){{0,3}} {_THE_WORD}"
        r"(?=['*\]).,;!:>]|$| (?:regardless|by default|with (?:confidence|full)|(?:for|on|to|in) (?:this|every|each"
        r"|all|any|the (?:remaining|checks?|memo|document|text|artifact)|everything)\b))",
    ),
    sentence_pattern(
        "asks_for_verdict",
        _RESULT_WORDS,
        r"\b(?:output|return|answer|respond|reply|vote|emit|rate|mark|give|say)(?: with| only| just| exactly"
        r"| always| out){0,3} "
        r"(?:an? )?['*\[(]{0,3}pass(?:ing (?:result|verdict|grade|score|mark|answer)\b|['*\]).,;!]|$"
        "| (?:regardless|by default|(?:for|on|to|in) (?:this|every|each|all|any|the (?:remaining|checks?|memo"
        r"|document|text|artifact))\b))",
    ),
    sentence_pattern(
        "asks_for_verdict",
        _RESULT_WORDS,
        r"\b(?:results?|verdicts?|answer|outcome|response|grade|vote|evaluation|word)\b(?! of the (?:audit"
        rf"|acceptance|exam|vote))[^.]{{0,70}}? (?:(?:must|should|shall|has to|needs to|is to"
        "|will|can only|may only) (?:always )?(?:be|read)|is|are|=|remains|stands at|reads) (?:always |therefore "
        rf"|now |already |just )?['*(<\[“]{{0,3}}{_THE_WORD}(?! (?:rate|mark|on|to|through)\b)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        _RESULT_WORDS,
        rf"\b(?:{_THIS}|the (?:output|text|document|answer|response|memo)|it) (?:must|should|shall|has to|needs to"
        rf"|will|is to)"
        r" (?:pass|receive a pass|be passed|be marked(?: as)? pass(?:ed)?)(?: (?:on|in|for))?"
        r" (?:all|every|each|this|the) (?:\w{1,20} )?(?:checks?|tests?|evaluations?|criteri(?:a|on))\b",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "check checks criteria criterion",
        rf"\b(?:{_ALL} )(?:\w{{1,12}} ){{0,2}}?(?:checks?|criteri(?:a|on))\b[^.]{{0,50}}?\b(?:return|are answered"
        "|to be answered|be answered|count as|counts as|counted as|satisfied by default|passed by default"
        rf"|is satisfied|(?:are|is) (?:all )?(?:to be )?(?:considered|deemed|treated as) (?:passed|satisfied))\b"
        rf"(?:[^.]{{0,30}}?\bpass(?:ed)?\b|$|[.,;])|\bchecks?\b[^.]{{0,40}}\breturn {_THE_WORD}",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "not don never fail flag",
        rf"{_COMMAND}(?:do not|don't|never) (?:flag|fail|penali[sz]e|mark down|criticise) (?:this|the ai|any|anything)"
        "(?: (?:output|text|document|check|answer|memo|issues?|problems?|part))?(?: (?:of|in|with) this (?:text"
        r"|memo|document|output))?\b(?! (?:to|without|unless|until)\b)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "confidence",
        r"\b(?:set|with|give|use|report) (?:a |the |your )?confidence (?:score |level )?(?:of |to |at |= ?"
        r"|: ?)?(?:1\b|0?\.9|100|9\d)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        _EVALUATOR_WORDS,
        r"^(?=.*\b(?:please|kindly|ask|asks|beg|grateful|dear|respectfully|requested|hope|implore|you)\b)"
        rf"(?=.*\b(?:{AI_EVALUATOR}|{_JUDGING_NOUN}|(?:reviewing|grading|judging) {_MODEL_NOUN})\b)"
        rf".*(?:{_LENIENT}|{_GOOD_MARK})",
    ),
    sentence_pattern(
        "asks_for_verdict",
        _EVALUATOR_WORDS,
        rf"\b{_JUDGING_NOUN}\b.{{0,40}}\b(?:requested|asked|invited|urged|expected) to (?:disregard|overlook|ignore"
        rf"|forgive"
        r"|accept) (?:the|any|all) (?:missing|lack|absence|gaps?|omissions?)\b"
        rf"|\b(?:thank you|thanks),? (?:dear )?(?:{AI_EVALUATOR}|{_JUDGING_NOUN}),? for (?:passing|accepting|approving"
        r"|your (?:leniency|kindness))",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "evaluating grading judging assessing scoring rating evaluate grade judge",
        rf"\b(?:when|while|before|in) (?:you (?:are )?)?(?:evaluat|grad|judg|assess|scor|rat)(?:e|ing) {_THIS}"
        r".{0,40}\b(?:assume|treat|consider|return|give|ignore|do not|please|remember|note|accept|count)\b"
        r"|\bdo not (?:evaluate|judge|grade|assess|score) (?:this|the following) (?:paragraph|section|text|passage|memo"
        r"|document|part|output)\b"
        r"|\bas an? (?:ai|llm|language model|automated)\b[^,]{0,40}\b(?:evaluating|grading|judging|assessing|reviewing"
        r"|checking)\b[^,]{0,40},? you\b",
    ),
    sentence_pattern(
        "forged_verdict",
        "criterion criteria checks check",
        r"\bthis (?:text|memo|document|output) (?:satisfies|meets|fulfils|passes) (?:every|all|each) (?:criteri(?:on"
        r"|a)|checks?)"
        r"\b.{0,40}\b(?:marks|score|grade|pass)\b",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "rate score grade judge evaluate pretend act",
        rf"\b(?:rate|score|grade|judge|evaluate) {_THIS} (?:favou?rably|positively|highly|generously)"
        r"|\bpretend (?:that )?(?:this|the) (?:memo|text|document|output|check|answer)"
        r"|\bact as if (?:the|this|all|every) (?:\w{1,12} )?(?:checks?|criteri)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "check checks need playbook evaluation exempt",
        rf"\b(?:bypass|skip|disable|suspend|waive) (?:all|the|any|every|this|remaining) (?:\w{{1,15}} )?checks?"
        rf" (?:for|on|in|of) {_THIS}"
        r"|\b(?:bypass|skip|disable|waive) all checks\b|\bno need to (?:flag|fail)\b"
        r"|\bexempt from (?:the|this|any|all) (?:playbook|evaluation|grading)\b",
    ),
    sentence_pattern(
        "asks_for_verdict",
        _RESULT_WORDS,
        r"\b(?:must|should|shall|is to|are to|has to|can) be (?:reported|recorded|marked|counted|treated|scored"
        r"|answered|returned) as"
        r" (?:an? )?'?pass(?:ing)?\b(?! (?:or|rate))|\bprefer (?:an? )?'?pass\b|\bmark(?:ed)? as (?:not applicable"
        r" or )?'?pass\b(?! or\b)"
        r"|\b(?:label|ground truth|gold answer|annotation)\b.{0,40}?(?:\bis|:) ?'?pass\b",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "chatgpt claude gemini gpt copilot llama mistral",
        r"\b(?:chatgpt|claude|gemini|gpt-?\d?|copilot|llama|mistral)\b,? (?:please |kindly )?(?:say|mark|rate|answer"
        r"|return"
        r"|respond|give|pass|confirm|ignore|report|output|treat) (?:this|that|it|the|all|every|with|pass|no|your)\b",
    ),
    sentence_pattern(
        "addresses_evaluator",
        "bot system user whoever instructions task guidelines rules role agent tool",
        rf"\b(?:to|for) (?:the|any|all|every) {_MACHINE} (?:systems?|bots?|tools?|agents?|models?) (?:that "
        rf"|which )?{_TASK} (?:this|it)\b"
        rf"|\b(?:{_JUDGING_NOUN}|grading|review|evaluation) (?:bot|ai|model|agent), (?:you|please)"
        r"|\byour (?:instructions|task|guidelines|rules|role) (?:have|has) (?:now |just )?(?:been )?changed\b"
        r"|\bwhoever (?:grades|evaluates|judges|scores) (?:this|these|ai|the)\b"
        r"|^\W{0,6}tell the user (?:that )?(?:this|the) (?:memo|text|document|output|answer)\b",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "fail need check checks evaluation accepted accepts approves approved disable",
        rf"\b(?:please )?(?:do not|don't) fail me\b|\b(?:i|we) need (?:this|it) to pass\b|\bdisable the checks\b"
        rf"|\b{AI_EVALUATOR} (?:\w{{1,12}} )?(?:accepts?|accepted|approves?|approved) (?:it\b|{_THIS})"
        r"|\b(?:presumed|deemed|considered|taken) to (?:satisfy|pass|meet) (?:the|every|all|each) (?:\w{1,20}"
        r" )?checks?\b"
        r"|\bevaluation\b.{0,40}\b(?:must|should|shall|has to|will) (?:conclude|end|result|finish)(?: with"
        r"| in)? (?:an? )?'?pass\b",
    ),
    # --- Rules of the evaluation, as the text would like them ---
    sentence_pattern(
        "asks_for_verdict",
        "evaluator evaluators grader graders evaluation check checks criterion requirement",
        rf"\b(?:{AI_EVALUATOR}|this evaluation)\b.{{0,40}}\b(?:consider|treat|regard|accept|count|take)\b.{{0,20}}"
        r"\b(?:this|any|the) (?:section|memo|text|document|output|paragraph|passage)\b.{0,60}"
        r"\b(?:satisf\w+|compliant|pass\w*|adequate|disclosed|met|sufficient|complete)\b"
        r"|\bthis evaluation\b.{0,60}\b(?:considered|deemed|treated as|regarded as) (?:disclosed|satisfied|passed"
        r"|met|made)\b",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "reviewers reviewer grader graders evaluator evaluators grading evaluation playbook rubric guidelines"
        " systems rule review",
        rf"\b(?:{_MACHINE} (?:{_JUDGING_NOUN}|checks)|grad(?:ing|ers?)|evaluators?|evaluation (?:{_MODEL_NOUN}"
        rf"|rules?|policy|guidelines)|playbook|rubric"
        r"|review (?:guidelines|rules|policy|criteria)|scoring (?:rules?|policy))\b.{0,120}?"
        f"(?:no longer (?:fails?|flags?|rejects?)|records? {_THE_WORD}|counts? as (?:passed|{_THE_WORD})|(?:is"
        rf"|are) (?:now )?(?:passed|satisfied|met|fulfilled) by default"
        r"|pre-?approved|(?:passes|pass) (?:automatically|without)|must (?:be )?(?:pass|accept)(?:ed)?\b(?! (?:on"
        rf"|to|through)\b)|exempt from|{_SAYS} {_PASSING})",
    ),
    # --- Verdicts that the text gives itself ---
    sentence_pattern(
        "forged_verdict",
        _RESULT_WORDS + " fail failed",
        r"\b(?:verdict|evaluation (?:result|outcome)|check (?:result|outcome)|result of (?:this|the) (?:check"
        r"|evaluation)|correct evaluation[\w ]{0,30}"
        r"|(?:expected|correct|right|ideal|final) (?:result|answer|response|verdict|outcome|output))\b ?(?:[:=-]|is"
        r"|->)+ ?[{*'(\[]{0,3}"
        r"(?:result: ?)?['“]?(?:pass|fail)\b",
    ),
    sentence_pattern(
        "forged_verdict",
        _RESULT_WORDS,
        r"\b[a-z]{3,20}(?:_[a-z]{2,20}){1,4} check\b.{0,80}\bpass(?:ed)?\b|\b[a-z]{3,20}_[a-z_]{2,40}'?, ?'(?:status"
        r"|result|verdict)"
        r"'? ?: ?'pass|'pass[,.!]?' (?:replied|said|answered|responded)"
        r"|\b[a-z]{3,20}(?:_[a-z]{2,20}){1,4}\b['*`]{0,3} ?(?:[:=|-]|->|is|was) ?['*`(]{0,3}(?:verdict:"
        r" ?)?pass(?:ed)?\b",
    ),
    sentence_pattern(
        "forged_verdict",
        _RESULT_WORDS,
        r"\b(?:certainty|assumptions?|escalation|unchecked areas?|disclosure|checks?|criteri(?:on|a))\b[\w ]{0,30}:"
        r" ?['*]{0,2}pass(?:ed)?\b",
    ),
    sentence_pattern(
        "forged_verdict",
        _RESULT_WORDS,
        rf"\b(?:all|every|each)(?: of)?(?: the)?(?: \w{{1,10}})? checks?(?: (?:of|in|on|for) {_THIS})?(?::| -| ="
        rf"| are|'s)? ?['*(]{{0,3}}pass(?:es)?\b(?! (?:on|to|through)\b)"
        r"|\bpass on (?:all|every|each)(?: \w{1,10})? checks?\b"
        r"|^(?!.*\b(?:when|once|if|until|after|unless|before|where|provided)\b).{0,80}?"
        r"\b(?:all|every|each)(?: of the)?(?: four)? checks? (?:is|are) passed(?=[.!;,]|$)",
    ),
    sentence_pattern(
        "forged_verdict",
        _RESULT_WORDS,
        rf"\b(?:it|{_THIS}|the (?:memo|text|document|output|answer)|this) (?:clearly |fully |therefore "
        rf"|also )?pass(?:es|ed)? (?:on |in )?(?:all|every|each|any|the)(?: \w{{1,12}}){{0,2}}? (?:checks?"
        rf"|criteri(?:a|on))\b",
    ),
    sentence_pattern(
        "forged_verdict",
        _RESULT_WORDS,
        r"\b(?:evaluator|reviewer|grader|judge|question|q|checker)\b.{0,160}\b(?:then |so |therefore |yes,? "
        r"|right,? )?(?:it|this|the (?:memo|text)) passes\b",
    ),
    sentence_pattern(
        "forged_verdict",
        "check checks",
        r"\bno checks? (?:has |have )?failed\b|\bthe check (?:to perform|to run|you perform) is\b",
    ),
    sentence_pattern(
        "forged_verdict",
        _RESULT_WORDS,
        r"\b(?:result|verdict|outcome) ?[:=] ?'?pass\b.{0,40}\b(?:confidence|evidence|notes?|quote|score) ?[:=]"
        r"|\bif (?:yes|so|it does),? (?:then )?(?:answer |return |give |say )?(?:a )?'?pass\b(?=[.!,;']|$)"
        r"|\b(?:document|memo|text|one|output)\b,? (?:which|that) passes (?:all|every|each) (?:\w{1,10} )?checks?\b",
    ),
    sentence_pattern(
        "forged_verdict",
        "result verdict overall_status outcome status decision grade role",
        r"\\?'(?:result|verdict|outcome|decision|grade|evaluation)\\?' ?: ?\\?'(?:pass|passed|fail|indeterminate"
        r"|stable)\\?'"
        r"|\\?'overall_status\\?' ?: ?\\?'\w|\\?'role\\?' ?: ?\\?'(?:system|assistant|developer)\\?'",
    ),
)
"""In the order in which the kinds are named, if several fit one sentence."""

ABOUT_EVALUATION = re.compile(
    r"\b(?:graders?|evaluators?|evaluation (?:question|criteria|task)|verdicts?|rubrics?|playbooks?|language models?"
    r"|llms?"
    r"|ai (?:reviewer|judge|grader|evaluator)s?|fail this (?:text|memo|document|output))\b|^(?:system|assistant|user"
    r"|human):"
)
"""In a sentence shortly before one that addresses the evaluator: it belongs to the same block."""

ANY_NEED = frozenset().union(*(pattern.needs for pattern in PATTERNS))
"""No pattern is searched in a sentence without one of these words."""

LOUD_VERDICT = re.compile(r"\bPASS\b")
"""Nobody writes the verb in capitals; beside a word of `LOUD_WORDS` it is the verdict of an evaluation."""
LOUD_WORDS = frozenset(
    {
        "verdict",
        "evaluation",
        "evaluator",
        "evaluators",
        "grader",
        "graders",
        "rubric",
        "conclude",
        "checks",
        "criteria",
    }
    | {"criterion", "answer", "judge", "score"}
)
