"""English is told from other languages by its function words."""

from __future__ import annotations

import pytest

from salvo.playbooks.evaluate.judges.rules.language import other_language

TEXTS = {
    None: "The clause may be valid under German law (§ 307 BGB), but the court in Munich has not decided the question yet.",
    "German": "Die Klausel ist nach dem Gesetz nicht wirksam, und der Auftragnehmer hat die Daten auf Verlangen zu löschen.",
    "French": "La clause est conforme au règlement, et le responsable du traitement doit informer les personnes dans un mois.",
    "Spanish": "La cláusula es válida según la ley, y el responsable debe informar a los trabajadores de los cambios del contrato.",
    "Italian": "La clausola è conforme al regolamento e il titolare deve informare gli interessati della modifica del contratto.",
    "Romanian": "Clauza este valabilă și operatorul trebuie să informeze persoanele care nu sunt de acord cu prelucrarea datelor.",
    "Portuguese": "A cláusula não é válida e o responsável deve informar os titulares dos dados em caso de uma violação.",
    "Dutch": "De bepaling is niet geldig en de verwerker moet het register van de verwerking aan het bedrijf geven.",
    "a language in Cyrillic script": "Эта оговорка является действительной и обязывает стороны хранить сведения в тайне.",
}


@pytest.mark.parametrize("language,text", TEXTS.items(), ids=str)
def test_the_language_of_a_text_is_told(language: str | None, text: str) -> None:
    assert other_language([text]) == language


def test_no_words_are_no_language() -> None:
    assert other_language(["§ 3, 4; 5"]) is None


def test_addresses_are_in_no_language() -> None:
    """The ending "com" is a word of Portuguese."""
    assert other_language(["https://example.com/terms www.example.com mail@example.com"] * 50) is None
