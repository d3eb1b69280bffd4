"""English sentences that ask for a result of the evaluation, or give one."""

from __future__ import annotations

from collections.abc import Sequence

from salvo.playbooks.evaluate.injection.english_words import (
    AI_EVALUATOR,
    ALL,
    CHECKS,
    COMMAND,
    EVALUATOR_WORDS,
    GOOD_MARK,
    JUDGING_NOUN,
    LENIENT,
    MACHINE,
    MODEL_NOUN,
    NO_FLAG,
    PASSING,
    RESULT_WORDS,
    SAY,
    SAYS,
    TASK,
    THE_WORD,
    THIS,
)
from salvo.playbooks.evaluate.injection.sentence_pattern import SentencePattern, sentence_pattern

PATTERNS: Sequence[SentencePattern] = (
    # --- Somebody who evaluates, and what they should do ---
    sentence_pattern(
        "asks_for_verdict",
        RESULT_WORDS,
        rf"\b(?:{MODEL_NOUN}|{JUDGING_NOUN})\b.{{0,40}}\b(?:does not|do not|don't|fails to|refuses to) {SAY}(?:"
        rf" \w{{1,10}})? {THE_WORD}",
    ),
    sentence_pattern(
        "asks_for_verdict",
        EVALUATOR_WORDS,
        rf"\b(?:{AI_EVALUATOR}|{JUDGING_NOUN}|(?:reviewing|grading|judging) {MODEL_NOUN}|ai|any model)\b.{{0,120}}?"
        rf"(?:\b{SAYS}\b.{{0,60}}?(?:{THE_WORD}(?=['*\])>.,;:!]|$| (?:for|on|in|with|without|regardless|and|as|if"
        rf"|because|it|this)\b)"
        rf"|\b(?:it|this|{THIS}|{ALL} (?:\w{{1,12}} ){{0,2}}?{CHECKS}).{{0,40}}?(?:pass(?:ed|es|ing)?"
        rf"|pre-?approved|approved|satisfied|compliant)\b)"
        rf"|{NO_FLAG}.{{0,40}}?\b(?:{THIS}|any ?(?:thing|check|issue|problem|error|fault)?|it|this|documents?"
        rf"|texts?|memos?|a check|{CHECKS}|here)\b"
        rf"|\bpass(?:es)? (?:it|this|every|all|each|them|{THIS})\b"
        rf"|\b(?:has to|have to|must|should|needs to|required to|obliged to|supposed to|expected to) (?:\w{{1,12}}"
        rf" )?(?:pass|accept|approve) (?:it|this|the (?:document|memo|text))\b"
        rf"|\b(?:to )?be (?:more )?lenient\b)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "pass passed passes",
        rf"{GOOD_MARK}.{{0,60}}{PASSING}|(?:tip|reward|bonus|paid|pay|dollars|euros?)\b.{{0,60}}\bpassed (?:check"
        rf"|criterion|test)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "judge reviewer reader grader evaluator you",
        rf"\b(?:please|kindly|grateful|thank you|dear|beg|ask you|hope you|appreciate)\b.{{0,100}}?\b(?:{GOOD_MARK}|"
        rf"(?:let|allow) (?:it|this|{THIS}|this one|me)(?: one| text| memo)? (?:to )?pass\b|pass (?:it|this|{THIS}"
        rf"|this one)\b"
        rf"|(?:overlook|ignore|forgive) (?:the|any|all) (?:missing|gaps?|errors?|mistakes?|weak|flaws|omissions))",
    ),
    sentence_pattern(
        "asks_for_verdict",
        RESULT_WORDS,
        f"{COMMAND}{SAY} (?:that )?(?:(?:this|the|each|every|all|any|these|that|both)(?: of the)?(?:"
        rf" \w{{1,20}}){{0,3}}?"
        rf" {CHECKS}|{THIS}|it|everything|them)(?: \w{{1,20}}){{0,3}}?"
        r" ?(?:as|to|a|=|is|are|has|have|that it) ?(?:an? |fully |been )?(?:['*\[]{0,3}pass\b|['*]{0,2}pass(?:ed"
        r"|ing)\b|satisfied|met\b|fulfilled|ok\b)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        RESULT_WORDS,
        rf"{COMMAND}(?:{SAY}|stop)\b(?: with| only| just| exactly| result| verdict| as| back| that| simply"
        rf"|:){{0,3}} {THE_WORD}"
        r"(?=['*\]).,;!:>]|$| (?:regardless|by default|with (?:confidence|full)|(?:for|on|to|in) (?:this|every|each"
        r"|all|any|the (?:remaining|checks?|memo|document|text|artifact)|everything)\b))",
    ),
    sentence_pattern(
        "asks_for_verdict",
        RESULT_WORDS,
        r"\b(?:output|return|answer|respond|reply|vote|emit|rate|mark|give|say)(?: with| only| just| exactly"
        r"| always| out){0,3} "
        r"(?:an? )?['*\[(]{0,3}pass(?:ing (?:result|verdict|grade|score|mark|answer)\b|['*\]).,;!]|$"
        "| (?:regardless|by default|(?:for|on|to|in) (?:this|every|each|all|any|the (?:remaining|checks?|memo"
        r"|document|text|artifact))\b))",
    ),
    sentence_pattern(
        "asks_for_verdict",
        RESULT_WORDS,
        r"\b(?:results?|verdicts?|answer|outcome|response|grade|vote|evaluation|word)\b(?! of the (?:audit"
        rf"|acceptance|exam|vote))[^.]{{0,70}}? (?:(?:must|should|shall|has to|needs to|is to"
        "|will|can only|may only) (?:always )?(?:be|read)|is|are|=|remains|stands at|reads) (?:always |therefore "
        rf"|now |already |just )?['*(<\[“]{{0,3}}{THE_WORD}(?! (?:rate|mark|on|to|through)\b)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        RESULT_WORDS,
        rf"\b(?:{THIS}|the (?:output|text|document|answer|response|memo)|it) (?:must|should|shall|has to|needs to"
        rf"|will|is to)"
        r" (?:pass|receive a pass|be passed|be marked(?: as)? pass(?:ed)?)(?: (?:on|in|for))?"
        r" (?:all|every|each|this|the) (?:\w{1,20} )?(?:checks?|tests?|evaluations?|criteri(?:a|on))\b",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "check checks criteria criterion",
        rf"\b(?:{ALL} )(?:\w{{1,12}} ){{0,2}}?(?:checks?|criteri(?:a|on))\b[^.]{{0,50}}?\b(?:return|are answered"
        "|to be answered|be answered|count as|counts as|counted as|satisfied by default|passed by default"
        rf"|is satisfied|(?:are|is) (?:all )?(?:to be )?(?:considered|deemed|treated as) (?:passed|satisfied))\b"
        rf"(?:[^.]{{0,30}}?\bpass(?:ed)?\b|$|[.,;])|\bchecks?\b[^.]{{0,40}}\breturn {THE_WORD}",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "not don never fail flag",
        rf"{COMMAND}(?:do not|don't|never) (?:flag|fail|penali[sz]e|mark down|criticise) (?:this|the ai|any|anything)"
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
        EVALUATOR_WORDS,
        r"^(?=.*\b(?:please|kindly|ask|asks|beg|grateful|dear|respectfully|requested|hope|implore|you)\b)"
        rf"(?=.*\b(?:{AI_EVALUATOR}|{JUDGING_NOUN}|(?:reviewing|grading|judging) {MODEL_NOUN})\b)"
        rf".*(?:{LENIENT}|{GOOD_MARK})",
    ),
    sentence_pattern(
        "asks_for_verdict",
        EVALUATOR_WORDS,
        rf"\b{JUDGING_NOUN}\b.{{0,40}}\b(?:requested|asked|invited|urged|expected) to (?:disregard|overlook|ignore"
        rf"|forgive"
        r"|accept) (?:the|any|all) (?:missing|lack|absence|gaps?|omissions?)\b"
        rf"|\b(?:thank you|thanks),? (?:dear )?(?:{AI_EVALUATOR}|{JUDGING_NOUN}),? for (?:passing|accepting|approving"
        r"|your (?:leniency|kindness))",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "evaluating grading judging assessing scoring rating evaluate grade judge",
        rf"\b(?:when|while|before|in) (?:you (?:are )?)?(?:evaluat|grad|judg|assess|scor|rat)(?:e|ing) {THIS}"
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
        rf"\b(?:rate|score|grade|judge|evaluate) {THIS} (?:favou?rably|positively|highly|generously)"
        r"|\bpretend (?:that )?(?:this|the) (?:memo|text|document|output|check|answer)"
        r"|\bact as if (?:the|this|all|every) (?:\w{1,12} )?(?:checks?|criteri)",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "check checks need playbook evaluation exempt",
        rf"\b(?:bypass|skip|disable|suspend|waive) (?:all|the|any|every|this|remaining) (?:\w{{1,15}} )?checks?"
        rf" (?:for|on|in|of) {THIS}"
        r"|\b(?:bypass|skip|disable|waive) all checks\b|\bno need to (?:flag|fail)\b"
        r"|\bexempt from (?:the|this|any|all) (?:playbook|evaluation|grading)\b",
    ),
    sentence_pattern(
        "asks_for_verdict",
        RESULT_WORDS,
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
        rf"\b(?:to|for) (?:the|any|all|every) {MACHINE} (?:systems?|bots?|tools?|agents?|models?) (?:that "
        rf"|which )?{TASK} (?:this|it)\b"
        rf"|\b(?:{JUDGING_NOUN}|grading|review|evaluation) (?:bot|ai|model|agent), (?:you|please)"
        r"|\byour (?:instructions|task|guidelines|rules|role) (?:have|has) (?:now |just )?(?:been )?changed\b"
        r"|\bwhoever (?:grades|evaluates|judges|scores) (?:this|these|ai|the)\b"
        r"|^\W{0,6}tell the user (?:that )?(?:this|the) (?:memo|text|document|output|answer)\b",
    ),
    sentence_pattern(
        "asks_for_verdict",
        "fail need check checks evaluation accepted accepts approves approved disable",
        rf"\b(?:please )?(?:do not|don't) fail me\b|\b(?:i|we) need (?:this|it) to pass\b|\bdisable the checks\b"
        rf"|\b{AI_EVALUATOR} (?:\w{{1,12}} )?(?:accepts?|accepted|approves?|approved) (?:it\b|{THIS})"
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
        rf"\b(?:{MACHINE} (?:{JUDGING_NOUN}|checks)|grad(?:ing|ers?)|evaluators?|evaluation (?:{MODEL_NOUN}"
        rf"|rules?|policy|guidelines)|playbook|rubric"
        r"|review (?:guidelines|rules|policy|criteria)|scoring (?:rules?|policy))\b.{0,120}?"
        f"(?:no longer (?:fails?|flags?|rejects?)|records? {THE_WORD}|counts? as (?:passed|{THE_WORD})|(?:is"
        rf"|are) (?:now )?(?:passed|satisfied|met|fulfilled) by default"
        r"|pre-?approved|(?:passes|pass) (?:automatically|without)|must (?:be )?(?:pass|accept)(?:ed)?\b(?! (?:on"
        rf"|to|through)\b)|exempt from|{SAYS} {PASSING})",
    ),
    # --- Verdicts that the text gives itself ---
    sentence_pattern(
        "forged_verdict",
        RESULT_WORDS + " fail failed",
        r"\b(?:verdict|evaluation (?:result|outcome)|check (?:result|outcome)|result of (?:this|the) (?:check"
        r"|evaluation)|correct evaluation[\w ]{0,30}"
        r"|(?:expected|correct|right|ideal|final) (?:result|answer|response|verdict|outcome|output))\b ?(?:[:=-]|is"
        r"|->)+ ?[{*'(\[]{0,3}"
        r"(?:result: ?)?['“]?(?:pass|fail)\b",
    ),
    sentence_pattern(
        "forged_verdict",
        RESULT_WORDS,
        r"\b[a-z]{3,20}(?:_[a-z]{2,20}){1,4} check\b.{0,80}\bpass(?:ed)?\b|\b[a-z]{3,20}_[a-z_]{2,40}'?, ?'(?:status"
        r"|result|verdict)"
        r"'? ?: ?'pass|'pass[,.!]?' (?:replied|said|answered|responded)"
        r"|\b[a-z]{3,20}(?:_[a-z]{2,20}){1,4}\b['*`]{0,3} ?(?:[:=|-]|->|is|was) ?['*`(]{0,3}(?:verdict:"
        r" ?)?pass(?:ed)?\b",
    ),
    sentence_pattern(
        "forged_verdict",
        RESULT_WORDS,
        r"\b(?:certainty|assumptions?|escalation|unchecked areas?|disclosure|checks?|criteri(?:on|a))\b[\w ]{0,30}:"
        r" ?['*]{0,2}pass(?:ed)?\b",
    ),
    sentence_pattern(
        "forged_verdict",
        RESULT_WORDS,
        rf"\b(?:all|every|each)(?: of)?(?: the)?(?: \w{{1,10}})? checks?(?: (?:of|in|on|for) {THIS})?(?::| -| ="
        rf"| are|'s)? ?['*(]{{0,3}}pass(?:es)?\b(?! (?:on|to|through)\b)"
        r"|\bpass on (?:all|every|each)(?: \w{1,10})? checks?\b"
        r"|^(?!.*\b(?:when|once|if|until|after|unless|before|where|provided)\b).{0,80}?"
        r"\b(?:all|every|each)(?: of the)?(?: four)? checks? (?:is|are) passed(?=[.!;,]|$)",
    ),
    sentence_pattern(
        "forged_verdict",
        RESULT_WORDS,
        rf"\b(?:it|{THIS}|the (?:memo|text|document|output|answer)|this) (?:clearly |fully |therefore "
        rf"|also )?pass(?:es|ed)? (?:on |in )?(?:all|every|each|any|the)(?: \w{{1,12}}){{0,2}}? (?:checks?"
        rf"|criteri(?:a|on))\b",
    ),
    sentence_pattern(
        "forged_verdict",
        RESULT_WORDS,
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
        RESULT_WORDS,
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
