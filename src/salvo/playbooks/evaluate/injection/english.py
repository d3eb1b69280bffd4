"""What an English sentence says if it addresses the evaluator: patterns over its plain words.

Legal prose has its own instructions, judges, evaluators, reviewers and passes, and much of it is about AI. So a pattern
needs at least two things that ordinary prose does not combine: who is addressed, what is asked for, and that it is
about the evaluation of this text. A duty of a third person ("the evaluator shall score each tender") is none of them.
"""

from __future__ import annotations

import re

from salvo.playbooks.evaluate.injection import english_addresses, english_requests

PATTERNS = (*english_addresses.PATTERNS, *english_requests.PATTERNS)
"""A sentence has the kind of the first one that fits."""

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
