"""The rules evaluator: a verdict on one check, from the words of the text alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from salvo.playbooks.evaluate.judges.rules.assumptions import judge_assumptions
from salvo.playbooks.evaluate.judges.rules.certainty import judge_certainty
from salvo.playbooks.evaluate.judges.rules.escalation import judge_escalation
from salvo.playbooks.evaluate.judges.rules.finding import RuleFinding, Span, undecided
from salvo.playbooks.evaluate.judges.rules.genre import Genre, find_genre
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

# Documented as about fifty words.
_MIN_WORDS = 45
# Characters that are enough to count the words in.
_WORD_COUNT_SAMPLE = 2_000


def judge(check_id: str, text: str, ignore: Sequence[Span] = ()) -> RuleFinding:
    """Return the verdict of the rules on one check. Text in ignored spans is treated as absent.

    It is deterministic and takes linear time. A FAIL always has spans: the sentences that support it.
    """
    if check_id not in _JUDGES:
        return undecided(
            "unknown-check", "The rules know the four judged checks of the starter playbook, and not this one."
        )
    sentences = read(text, tuple((start, end) for start, end in ignore))
    plain_text = " ".join(sentence.plain for sentence in sentences)
    count = len(words(plain_text[:_WORD_COUNT_SAMPLE]))
    if count < _MIN_WORDS:
        return undecided("too-short", f"The text has {count} words; the rules need about 50 to judge by.")
    language = other_language(plain_text)
    if language:
        return undecided("not-english", f"The rules work in English, and the text appears to be in {language}.")
    genre = find_genre(sentences)
    if genre is not Genre.ANALYSIS:
        return undecided(f"{genre.value}-without-analysis", _WITHOUT_ANALYSIS[genre])
    return _JUDGES[check_id](sentences)


_WITHOUT_ANALYSIS = {
    Genre.DRAFT: "This text is a draft, not an analysis: it has next to no conclusions of its own to judge.",
    Genre.SUMMARY: "This text is a summary, not an analysis: it restates a document and has next to no conclusions of its own to judge.",
}
