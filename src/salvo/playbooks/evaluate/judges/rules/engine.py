"""The rules evaluator: one verdict on one check of one text, from the words of the text alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from salvo.playbooks.evaluate.judges.rules.assumptions import judge_assumptions
from salvo.playbooks.evaluate.judges.rules.certainty import judge_certainty
from salvo.playbooks.evaluate.judges.rules.escalation import judge_escalation
from salvo.playbooks.evaluate.judges.rules.finding import UNDECIDED, RuleFinding, Span
from salvo.playbooks.evaluate.judges.rules.language import other_language, words
from salvo.playbooks.evaluate.judges.rules.sentences import Sentence, read
from salvo.playbooks.evaluate.judges.rules.unchecked import judge_unchecked

_JUDGES: dict[str, Callable[[Sequence[Sentence]], RuleFinding]] = {
    "assumption_disclosure": judge_assumptions,
    "certainty_language": judge_certainty,
    "escalation_signal": judge_escalation,
    "unchecked_areas_disclosure": judge_unchecked,
}
KNOWN_CHECKS = frozenset(_JUDGES)

# About fifty words are asked for; a text of 45 is about fifty.
_FEWEST_WORDS = 45
# The first words tell whether there are enough.
_ENOUGH = 2_000


def judge(check_id: str, text: str, ignore: Sequence[Span] = ()) -> RuleFinding:
    """The verdict of the rules on one check. Text in an ignored span counts as if it were not there.

    Deterministic, and linear in the text. A FAIL always names the sentences it rests on, as exact slices of the text.
    """
    if check_id not in _JUDGES:
        return _undecided(
            "unknown-check", "The rules know the four judged checks of the starter playbook, and not this one."
        )
    sentences = read(text, tuple((start, end) for start, end in ignore))
    said = " ".join(sentence.plain for sentence in sentences)
    count = len(words(said[:_ENOUGH]))
    if count < _FEWEST_WORDS:
        return _undecided("too-short", f"The text has {count} words; the rules need about 50 to judge by.")
    language = other_language(said)
    if language:
        return _undecided("not-english", f"The rules work in English, and the text appears to be in {language}.")
    return _JUDGES[check_id](sentences)


def _undecided(rule: str, notes: str) -> RuleFinding:
    return RuleFinding("indeterminate", UNDECIDED, (), rule, notes)
