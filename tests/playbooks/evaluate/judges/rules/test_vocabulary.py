"""Every entry of the vocabulary has a purpose, and its example shows it at work through the public interface."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from salvo.playbooks.evaluate.judges.rules.engine import JUDGES, judge
from salvo.playbooks.evaluate.judges.rules.folding import fold
from salvo.playbooks.evaluate.judges.rules.vocabulary import VocabularyEntry, VocabularyGroup, groups, pattern

NEUTRAL = (
    "We looked at the new services agreement between the two companies. The term is two years and starts in May. {} The fee is "
    "in clause 4. The annex lists the sites, the contacts and the languages of the service. Invoices come once a month, in "
    "euros, and are paid by bank transfer within the month that follows."
)
WITH_A_RISK = NEUTRAL + " The period of notice might be short."

# These groups are what makes a text one that has to disclose or to escalate; all others are read in such a text.
MAKE_THE_CASE = {"concludes", "at_risk"}


def entries() -> Iterator[tuple[VocabularyGroup, VocabularyEntry]]:
    for group in groups().values():
        for entry in group.entries:
            yield group, entry


def name(value: object) -> str:
    return (
        value.name
        if isinstance(value, VocabularyGroup)
        else value.say[:40]
        if isinstance(value, VocabularyEntry)
        else ""
    )


def verdict(group: VocabularyGroup, sentence: str) -> str:
    carrier = NEUTRAL if group.name in MAKE_THE_CASE else WITH_A_RISK
    return judge(group.check, carrier.format(sentence)).result


@pytest.mark.parametrize("group,entry", list(entries()), ids=name)
def test_an_entry_fires_in_its_example(group: VocabularyGroup, entry: VocabularyEntry) -> None:
    assert pattern(entry.say).search(fold(entry.fires))
    assert verdict(group, entry.fires) == group.judged


@pytest.mark.parametrize("group,entry", [(group, entry) for group, entry in entries() if entry.quiet], ids=name)
def test_an_entry_is_quiet_in_its_near_miss(group: VocabularyGroup, entry: VocabularyEntry) -> None:
    assert entry.quiet
    assert verdict(group, entry.quiet) != group.judged


@pytest.mark.parametrize(
    "group",
    [group for group in groups().values() if group.check == "certainty_language" and group.judged == "pass"],
    ids=name,
)
def test_every_qualifier_is_shown_beside_a_claim_that_fails_without_it(group: VocabularyGroup) -> None:
    assert all(entry.quiet for entry in group.entries)


def test_every_group_belongs_to_a_check_and_says_why_it_is_there() -> None:
    assert {group.check for group in groups().values()} == set(JUDGES)
    assert all(len(group.purpose) > 20 and group.entries for group in groups().values())


def test_no_entry_is_there_twice() -> None:
    said = [(group.name, entry.say) for group, entry in entries()]
    assert len(said) == len(set(said))


def test_no_entry_sets_its_own_word_borders_at_the_start() -> None:
    assert not [entry.say for _, entry in entries() if re.match(r"\\b(?!assumed:)", entry.say)]
