"""The words of a text: its language, recognised by function words, and whether it names anything.

Every text of fifty words contains function words.
"""

from __future__ import annotations

import re
from collections import Counter

from salvo.playbooks.evaluate.judges.rules.vocabulary import pattern

_ENGLISH = """
the of and to in is that for it as with be by this are or from which not an at on was were has have had its will
may should would could can must shall does did do but if any such these those their there than then when where
who your you we our i they no been being into under before after only so because while whether what how all each
both more a he she his her him them us my me out up about over between during against within without upon per
also just
"""
ENGLISH = frozenset(_ENGLISH.split())
_CONNECTIVES = """
please note however therefore yet again here every some other another own very too well still even get got have
let am not nor neither one two three many much most least since though although until unless once soon through
via etc regarding concerning towards toward among between qqq eg ie e.g i.e yes whenever wherever whose whom
thus
"""
_COMMON = ENGLISH | frozenset(_CONNECTIVES.split())

# Words that are rare in English texts.
_OTHERS = {
    "German": """der die das und ist nicht mit von für auf den dem des ein eine einer eines im zu sich werden wird auch
        oder als bei nach sind durch kann""",
    "French": """le la les des du et est une dans pour que qui sur par pas au aux avec ce cette sont ne il elle ou être
        doit vous nous""",
    "Spanish": """el la los las del y es una en para que por con no se su al como más este esta son puede debe lo un
        sin""",
    "Italian": """il la le gli del della dei delle e è una di per che con non si al alla sono come più questo questa un
        nel nella può deve""",
    "Romanian": """și este nu în la de pe cu sau care pentru din că o un se ale al sunt prin acest această poate
        trebuie fi""",
    "Portuguese": """o os as do da dos das e é uma em para que por com não se no na ao como mais este esta são pode
        deve um""",
    "Dutch": """de het een en van is niet dat op te voor met zijn aan door ook als bij naar worden wordt of deze dit
        kan moet""",
    "Polish": "i w na nie się z do że jest oraz przez dla lub jak po od są może być o ze",
}
_OTHER_WORDS = {language: frozenset(words.split()) for language, words in _OTHERS.items()}
_WORD = re.compile(r"[^\W\d_]+")
# Characters that are enough to recognise a language.
_SAMPLE = 40_000
_MIN_ENGLISH_SHARE = 0.12


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return _WORD.findall(text.lower())


def other_language(text: str) -> str | None:
    """Return None for English, else the most likely language, or "another language" if none fits."""
    sample = Counter(words(text[:_SAMPLE]))
    total = sum(sample.values())
    if not total:
        return None
    english = sum(count for word, count in sample.items() if word in ENGLISH)
    shares = {language: sum(sample[word] for word in vocabulary) for language, vocabulary in _OTHER_WORDS.items()}
    likeliest = max(shares, key=lambda language: shares[language])
    if english >= _MIN_ENGLISH_SHARE * total and english >= shares[likeliest]:
        return None
    return likeliest if shares[likeliest] > english else "another language"


def names_something(text: str, *boilerplate: str) -> bool:
    """Return whether the text has a content word or a number outside the groups of boilerplate."""
    for group in boilerplate:
        text = pattern(rf"\b(?:{group})(?![\w-])").sub(" ", text)
    if re.search(r"\d", text):
        return True
    return any(token not in _COMMON and len(token) > 1 for token in re.findall(r"[a-z][\w-]*", text))
