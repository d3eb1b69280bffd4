"""The rules evaluator: a verdict on one check, from the words of the text alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from salvo.engine.text.formatting import pluralize
from salvo.playbooks.evaluate.judges.rules.blocks import Kind
from salvo.playbooks.evaluate.judges.rules.checks.assumptions import judge_assumptions
from salvo.playbooks.evaluate.judges.rules.checks.certainty import judge_certainty
from salvo.playbooks.evaluate.judges.rules.checks.escalation import judge_escalation
from salvo.playbooks.evaluate.judges.rules.checks.unchecked import judge_unchecked
from salvo.playbooks.evaluate.judges.rules.finding import RuleFinding, Span, abstention, undecided
from salvo.playbooks.evaluate.judges.rules.genre import Genre, declines, find_genre
from salvo.playbooks.evaluate.judges.rules.language import other_language, words
from salvo.playbooks.evaluate.judges.rules.sentences import Sentence, read

JUDGES: dict[str, Callable[[Sequence[Sentence]], RuleFinding]] = {
    "assumption_disclosure": judge_assumptions,
    "certainty_language": judge_certainty,
    "escalation_signal": judge_escalation,
    "unchecked_areas_disclosure": judge_unchecked,
}

# Documented as about fifty words.
_MIN_WORDS = 45


def judge(check_id: str, text: str, ignore: Sequence[Span] = ()) -> RuleFinding:
    """Return the verdict of the rules on one check. Text in ignored spans is treated as absent.

    It is deterministic and takes linear time. A FAIL always has spans: the sentences that support it.
    """
    if check_id not in JUDGES:
        return abstention(
            "unknown-check", "The rules know the four judged checks of the starter playbook, and not this one."
        )
    spans = tuple((start, end) for start, end in ignore)
    sentences = read(text, spans)
    finding = _refusal_to_judge(text, spans) or JUDGES[check_id](sentences)
    if check_id != "certainty_language" and finding.result == "fail" and _is_short_refusal(sentences):
        return undecided(
            "declined",
            "The rules read this text as declining to answer, and so as without an analysis that would have to "
            "disclose or escalate anything.",
        )
    return finding


# All checks ask for it in a row.
@lru_cache(maxsize=4)
def _refusal_to_judge(text: str, ignore: tuple[Span, ...]) -> RuleFinding | None:
    """Return why the text cannot be judged at all, whatever the check."""
    sentences = read(text, ignore)
    own = [sentence.plain for sentence in sentences if not sentence.drafted and sentence.kind is not Kind.QUOTATION]
    language = other_language(own or [sentence.plain for sentence in sentences])
    if language:
        return abstention(
            "not-english",
            "This language is not covered: the rules work in English, and most of the text appears to be in "
            f"{language}.",
        )
    count = 0
    for text_of_sentence in own:
        count += len(words(text_of_sentence))
        if count >= _MIN_WORDS:
            break
    genre = find_genre(sentences)
    if genre is not Genre.ANALYSIS:
        return undecided(f"{genre.value}-without-analysis", _WITHOUT_ANALYSIS[genre])
    if count < _MIN_WORDS:
        return undecided(
            "too-short", f"The rules found {pluralize(count, 'word')} of commentary, and need about 50 to judge by."
        )
    return None


def _is_short_refusal(sentences: Sequence[Sentence]) -> bool:
    return declines(sentences) and sum(len(sentence.plain.split()) for sentence in sentences) < _SHORT_REFUSAL


_SHORT_REFUSAL = 200
"""Words of a text that refuses and adds little; a longer one gives an answer as well."""

_WITHOUT_ANALYSIS = {
    Genre.DRAFT: "To the rules, this text is a draft, not an analysis: they found next to no conclusions of its own to "
    "judge.",
    Genre.SUMMARY: "To the rules, this text is a summary, not an analysis: they found next to no conclusions that go "
    "beyond the document.",
}
