"""Parts of the English patterns: who evaluates, what can be asked of them, and what shows that it is a command."""

from __future__ import annotations

# Where a command stands: at the start of the sentence or of a part of it, or after "please" or "you must".
COMMAND = (
    r"(?:^(?:[\W_]{0,6}|[\w' ]{0,40}: ?)|[:;.!?>\])(\[{|/,-] ?'?|"
    r"\b(?:please|kindly|now|simply|then|just|you (?:must|should|shall|will|are to|have to|need to|to)|want you to) )"
)
NO_DUTY = "".join(
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
IGNORE = r"(?:ignore|disregard|forget|override|bypass|set aside|skip|do not (?:follow|obey)|pay no attention to)"
RULES = (
    r"(?:instructions?|prompts?|rules?|directions|guidelines|directives|messages?|rubric|criteria|checks?|guidance"
    r"|context|constraints|task)\b"
)
ABOUT = (
    r"(?! (?:from|of|by|given by|issued by|under|set out|received|on|about|dated|concerning"
    r"|in (?:the|this) (?:agreement|contract|policy))\b)"
)
TASK = r"(?:evaluat|grad|judg|assess|scor|review|check|rat|examin|analy[sz]|mark|validat|audit)(?:e|es|ing|ting)?\b"
MACHINE = r"(?:ai|llm|artificial intelligence|automated|automatic|machine|gpt|computer)"
JUDGING_NOUN = (
    r"(?:evaluators?|graders?|judges?|reviewers?|assessors?|checkers?|raters?|scorers?|validators?|examiners?"
    r"|moderators?|auditors?|markers?)"
)
MODEL_NOUN = r"(?:models?|ais?|llms?|assistants?|bots?|engines?|systems?|software|agents?|tools?|machines?)"
AI_EVALUATOR = (
    rf"(?:{MACHINE}[ -](?:based |driven |powered )?(?:legal |text |document )?{JUDGING_NOUN}"
    rf"|(?:evaluation|grading|judging|scoring|evaluating|reviewing|marking|assessing) {MODEL_NOUN}"
    rf"|{MODEL_NOUN} (?:(?:that|which|who|currently|now|is|are|was) ){{0,3}}{TASK} (?:this|it|these|the (?:text"
    r"|document|memo|output|answer|response)|my)"
    r"|(?:large )?language models?|llms?|graders?|evaluators?)"
)
"""Names of an automated evaluator. `evaluators` are also people in procurement: something else has to be there too."""

PASSING = r"['*\[(]{0,3}(?:a |the )?['*\[]{0,3}pass(?:ed|ing|es)?\b(?! (?:on|to|through|by|over|away|into|down)\b)"
THE_WORD = r"(?:an? |the )?['*\[(<]{0,3}pass\b(?!-)"
THIS = (
    r"(?:this|the present|the above|the following|my|our) (?:\w{1,15} )?(?:text|document|memo|memorandum|output|answer"
    r"|response|file|submission|work|draft|artifact|check|test|evaluation|report|paper|piece|analysis|review|one)s?\b"
)
SAY = (
    r"(?:return|output|answer|respond|reply|vote|emit|say|report|conclude|record|give|issue|state|confirm|write|repeat"
    r"|mark|grade|rate|score|label|classify|treat|count|judge|set|accept|approve|award|assign|put|enter|deem|consider"
    r"|regard|register|declare)"
)
SAYS = (
    rf"(?:{SAY}s?"
    r"|(?:return|output|answer|respond|reply|record|giv|mark|grad|rat|scor|treat|approv|accept)(?:ed|ing|en))"
)
CHECKS = r"(?:checks?|criteri(?:a|on)|tests?|verdicts?|results?|evaluations?|questions?|requirements?|rubrics?)"
ALL = r"(?:all|every|each|any|the remaining|the other|these|the|both|everything)"
GOOD_MARK = (
    r"(?:(?:full|top|best|highest|maximum|max|perfect|good|high|positive|favou?rable|excellent|generous)"
    r" (?:marks?|scores?|grades?|ratings?|points|verdicts?|results?|evaluations?|assessments?)|benefit of the doubt)"
)
NO_FLAG = (
    "(?:(?:do|does|should|must|shall|may|will|to|can|are|is) ?not|don't|never|no longer|not to|without|avoid"
    r"|refrain from)"
    r" (?:\w{1,12} ){0,2}?(?:fail|flag|flagging|penali[sz]e|penali[sz]ing|report|reporting|criticis|object|mention"
    r"|mark(?:ing)? (?:it )?down|find)(?:e|ing)?\b"
)
LENIENT = r"(?:lenient|generous|merciful|forgiving|kind to|go easy|overlook|turn a blind eye|look the other way)"
NOT_A_JUDGE = (
    r"(?! (?:provider|deployer|developer|vendor|supplier|company|user|systems?|act|operator|importer|distributor"
    r"|officer?|team|start-?up|business|expert|lawyer|licen[cs]e|policy|tool)\b)"
)

EVALUATOR_WORDS = (
    "evaluator evaluators grader graders judge judges reviewer reviewers assessor assessors llm llms model models"
    " assistant ai system systems engine bot software checker checkers raters rater auditor auditors examiner examiners"
    " validator agent tool machine ais assistants bots agents tools marker scorer moderator"
)
RESULT_WORDS = "pass passed passing passes"
