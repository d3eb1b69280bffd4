"""Report words of Latin letters that contain look-alike letters of another script."""

from __future__ import annotations

from collections.abc import Mapping

from salvo.engine.text.formatting import pluralize
from salvo.playbooks.evaluate.folded_text import FoldedText, is_latin_letter
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.report.report import ArtifactFinding, Location

KIND = "look_alike_letters"
_MAX_LISTED = 5
_MAX_WORD_LENGTH = 60


def look_alike_letters(inputs: Inputs, folded: FoldedText) -> list[ArtifactFinding]:
    """Return one finding, at the first such word, or none. The letters are kept; only matching reads them as Latin."""
    if not folded.mixed_words:
        return []
    text = inputs.ai_output
    lines: dict[str, int] = {}
    for start, end in folded.mixed_words:
        lines.setdefault(text[start:end], inputs.line_number(start))
    first = folded.mixed_words[0]
    return [
        ArtifactFinding(
            KIND,
            f"Latin words contain letters of another script that look like Latin ones: {_example_words(lines)}. "
            "Patterns and quotes are matched as if these were Latin letters.",
            text[slice(*first)],
            Location(first.start, first.end, inputs.line_number(first.start), inputs.position(first.start)),
            count=len(folded.mixed_words),
        )
    ]


def _example_words(lines: Mapping[str, int]) -> str:
    examples = [
        f"“{word[:_MAX_WORD_LENGTH]}” (line {line}: {', '.join(_foreign_codes(word))})"
        for word, line in list(lines.items())[:_MAX_LISTED]
    ]
    others = len(lines) - len(examples)
    return ", ".join(examples) + (f" and {pluralize(others, 'other word')}" if others else "")


def _foreign_codes(word: str) -> list[str]:
    letters = dict.fromkeys(letter for letter in word if letter.isalpha() and not is_latin_letter(letter))
    return [f"U+{ord(letter):04X}" for letter in list(letters)[:_MAX_LISTED]]
