"""The words of a text: its language, recognised by script and function words, and whether it names anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

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

# These occur in other languages as well.
_AMBIGUOUS = """
a i in on an so to do me no he is as was at per we us my up out all more his had did its or am
"""
_DISTINCT_ENGLISH = ENGLISH - frozenset(_AMBIGUOUS.split())

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
    "Swedish": "och att det som på är av för med den till ett inte om har kan ska eller från vid enligt",
    "Danish": "og at det som på er af til med den et ikke om har kan skal eller fra ved ifølge",
    "Norwegian": "og å det som på er av til med den et ikke om har kan skal eller fra ved etter",
    "Finnish": "ja on ei että se tai kuin ovat voi mukaan sekä joka jos myös tämä sen ole",
    "Czech": "a v na se že je s z do o k pro jako nebo jsou podle může být není této",
    "Hungarian": "a az és hogy nem is egy vagy szerint ha meg kell lehet ezt azt van",
    "Turkish": "ve bir bu için ile olarak veya de da olan göre gibi değil kadar ise",
}
_OTHER_WORDS = {language: frozenset(words.split()) for language, words in _OTHERS.items()}
_SCRIPTS = {
    "Japanese": re.compile("[\u3040-\u30ff]"),
    "Korean": re.compile("[\u1100-\u11ff\uac00-\ud7af]"),
    "Chinese": re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"),
    "a language in Cyrillic script": re.compile("[\u0400-\u052f]"),
    "Greek": re.compile("[\u0370-\u03ff]"),
    "a language in Arabic script": re.compile("[\u0600-\u06ff\u0750-\u077f]"),
    "Hebrew": re.compile("[\u0590-\u05ff]"),
    "a language in Devanagari": re.compile("[\u0900-\u097f]"),
    "Thai": re.compile("[\u0e00-\u0e7f]"),
}
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_ADDRESS = re.compile(r"\b[a-z]{2,10}://\S+|\bwww\.\S+|@\S+")
# Passages that are enough to recognise the language of most of a text, taken from all over it.
_SAMPLE = 800
# A sentence of so many words has a function word.
_FULL_SENTENCE = 6


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case. An address such as www.example.com is not in any language."""
    return _WORD.findall(_ADDRESS.sub(" ", text.lower()))


def other_language(passages: Sequence[str]) -> str | None:
    """Return None if most of the text is in English, else the most likely language, or "another language"."""
    sample = passages[:: len(passages) // _SAMPLE + 1]
    return _other_script("".join(sample)) or _other_words(sample)


def _other_script(text: str) -> str | None:
    letters = len(_LETTER.findall(text))
    shares = {language: len(script.findall(text)) for language, script in _SCRIPTS.items()}
    # A Chinese character says what takes an English word.
    shares["Chinese"] *= _LETTERS_PER_HAN
    letters += shares["Chinese"] - shares["Chinese"] // _LETTERS_PER_HAN
    if 2 * sum(shares.values()) <= letters:
        return None
    # Japanese is written in Chinese characters as well.
    if shares["Japanese"] * _LETTERS_PER_HAN * 4 > shares["Chinese"] > 0:
        return "Japanese"
    return max(shares, key=lambda language: shares[language])


def _other_words(passages: Sequence[str]) -> str | None:
    in_english = in_others = 0
    marks: Counter[str] = Counter()
    for passage in passages:
        sentence = words(passage)
        english = sum(word in _DISTINCT_ENGLISH for word in sentence)
        counts = {
            language: sum(word in vocabulary for word in sentence) for language, vocabulary in _OTHER_WORDS.items()
        }
        most = max(counts.values(), default=0)
        if english >= max(most, 1):
            in_english += len(sentence)
        elif most > english or len(sentence) >= _FULL_SENTENCE:
            in_others += len(sentence)
            marks.update(counts)
    if in_english >= in_others:
        return None
    language, count = marks.most_common(1)[0]
    return language if count >= _MIN_MARKS * in_others else "another language"


_LETTERS_PER_HAN = 3
_MIN_MARKS = 0.15


def names_something(text: str, *boilerplate: str) -> bool:
    """Return whether the text has a content word or a number outside the groups of boilerplate."""
    for group in boilerplate:
        text = pattern(rf"\b(?:{group})(?![\w-])").sub(" ", text)
    if re.search(r"\d", text):
        return True
    return any(token not in _COMMON and len(token) > 1 for token in re.findall(r"[a-z][\w-]*", text))
