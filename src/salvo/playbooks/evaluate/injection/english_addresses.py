"""English sentences that tell the evaluator to forget its instructions, or that address it."""

from __future__ import annotations

from collections.abc import Sequence

from salvo.playbooks.evaluate.injection.english_words import (
    ABOUT,
    AI_EVALUATOR,
    COMMAND,
    EVALUATOR_WORDS,
    IGNORE,
    JUDGING_NOUN,
    MACHINE,
    MODEL_NOUN,
    NO_DUTY,
    NOT_A_JUDGE,
    PASSING,
    RULES,
    SAY,
    TASK,
    THIS,
)
from salvo.playbooks.evaluate.injection.sentence_pattern import SentencePattern, sentence_pattern

PATTERNS: Sequence[SentencePattern] = (
    # --- Instructions to forget instructions ---
    sentence_pattern(
        "instruction_override",
        "ignore disregard forget override bypass skip follow obey attention aside",
        rf"(?:{COMMAND}|{NO_DUTY}\b){IGNORE} (?:(?:all|any|the|every|of|these|those|my|your|each) ){{0,4}}"
        "(?:previous|prior|above|preceding|earlier|foregoing|system|original|existing|initial|evaluation|grading"
        r"|check)"
        rf"(?: [\w-]{{1,20}}){{0,2}}? {RULES}{ABOUT}",
    ),
    sentence_pattern(
        "instruction_override",
        "ignore disregard forget override bypass skip follow obey attention aside",
        rf"(?:{COMMAND}|{NO_DUTY}\b){IGNORE} (?:all |any |of )*(?:your (?:[\w-]{{1,12}} ){{0,2}}?"
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
        rf"{COMMAND}{IGNORE} (?:[\w-]{{1,12}} ){{0,4}}?(?:instructions|rules|directives|prompts?|guidelines|rubric"
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
        rf" (?:the|any|all|this|an?) (?:{AI_EVALUATOR}|ai|model|assistant|{JUDGING_NOUN})\b",
    ),
    # --- Who is addressed ---
    sentence_pattern(
        "addresses_evaluator",
        EVALUATOR_WORDS,
        r"\b(?:to|for|attention|hello|hi|dear|hey|attn:?|whoever|whatever) (?:(?:the|any|an|a|all|every|is|you"
        r"|whoever|whichever)"
        rf" ){{0,3}}(?:{MODEL_NOUN}|{JUDGING_NOUN}|one|person|reader)"
        f" (?:(?:that|which|who|is|are|currently|now) ){{0,3}}{TASK} (?:this|it|these|the (?:text|document|memo"
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
        rf"{TASK}"
        r")|[,:;.!?-]|$)|machine|bot|chatbot|grader|evaluator)\b" + NOT_A_JUDGE,
    ),
    sentence_pattern(
        "addresses_evaluator",
        EVALUATOR_WORDS,
        rf"\bas (?:the |an |a )?(?:{AI_EVALUATOR}|judge),? (?:you\b(?! (?:can(?:not| not)|may)\b)|please"
        rf"|your (?:task|job|role))",
    ),
    sentence_pattern(
        "addresses_evaluator",
        EVALUATOR_WORDS,
        r"\b(?:notes?|messages?|memo|instructions?|attention|reminder|notice|important|warning|information|request"
        r"|guidance|directive|orders?|hints?|tips?|advice|letter|appeal|plea)[:,]?(?: to| for)?"
        r" (?:(?:the|any|all|every|our|your|whichever|those) )*"
        rf"(?:{AI_EVALUATOR}|ais?\b(?! (?:act|providers?|deployers?|developers?|users?|literacy|office"
        rf"|governance)\b)|assistant model"
        f"|(?:evaluation|grading|automated review) {MODEL_NOUN}|(?:reviewing|grading|judging"
        rf"|evaluating) {MODEL_NOUN}"
        r"|(?:the )?model (?:that|which|who))(?=[:,!;.)\]-]| -|$| (?:reading|please|you|must|only|below|follow|that"
        r"|who|of this)\b)",
    ),
    sentence_pattern(
        "addresses_evaluator",
        EVALUATOR_WORDS,
        rf"\b(?:dear|hello|hi|hey|greetings|attention|esteemed|honou?red|respected),? (?:the )?(?:{AI_EVALUATOR}"
        rf"|ai)(?=[,:;!.-]|$| (?:i|we|please|this|who)\b)",
    ),
    sentence_pattern(
        "addresses_evaluator",
        EVALUATOR_WORDS,
        rf"(?:^|[:;.!?>\])(\[{{/] ?)['#*-]{{0,6}} ?{AI_EVALUATOR}(?:[:,]| -) ?"
        r"(?:you\b|your\b|please|kindly|ignore|disregard|return|respond|mark|rate|score|the |this |it |record|answer"
        r"|give"
        r"|stop|pass|result|verdict|treat|accept|approve|confirm|do not|don't|skip)",
    ),
    sentence_pattern(
        "addresses_evaluator",
        EVALUATOR_WORDS,
        rf"(?:^|[:;.!?>\])(\[{{] ?)['#*-]{{0,6}} ?{MACHINE} {JUDGING_NOUN}(?:[:,]| -) ?\w"
        rf"|(?<!by )(?<!an )\b{MACHINE} {JUDGING_NOUN}, (?:you|your|please|kindly)\b",
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
        rf"|marking) {THIS}",
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
        rf"|{SAY} (?:with |only )*{PASSING})",
    ),
    sentence_pattern(
        "addresses_evaluator",
        "prompt instructions",
        rf"(?:{COMMAND}|{NO_DUTY}\b)(?:reveal|print|repeat|output|show|disclose) (?:your|the) (?:system|hidden"
        rf"|initial) (?:prompt"
        r"|instructions)\b",
    ),
    sentence_pattern(
        "addresses_evaluator",
        EVALUATOR_WORDS,
        rf"\b(?:(?:evaluator|grader)'?s?'?|(?:{MACHINE} {JUDGING_NOUN})'?s?'?|reviewing model'?s?"
        rf"|ai'?s) (?:summary|notes?|verdict|comments?|instructions?"
        r"|override|prompt|conclusion|output|answer|findings?|outcome|result)\b(?! (?:shall|may|must|is|are|will|on"
        r"|in) )(?=[:\]).!-]| |$)",
    ),
    sentence_pattern(
        "addresses_evaluator",
        EVALUATOR_WORDS,
        r"^[\W_]{0,8}(?:notes?|messages?|instructions?|attention|notice|request|orders?) (?:to|for)"
        f" (?:(?:the|any|all|every) )*(?:{MACHINE} {JUDGING_NOUN}|(?:reviewing|grading|judging"
        rf"|evaluating) {MODEL_NOUN})\b(?! (?:shall|may|must|should|are|is|were|was)\b)",
    ),
)
