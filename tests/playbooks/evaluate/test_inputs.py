"""The fingerprint of texts: as earlier versions computed it for theirs, and different for every text."""

from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.evaluate.inputs import Inputs

NO_OTHERS = b',"prompt":null,"source_document":null,"system_instructions":null}'


def test_an_ordinary_text_has_the_fingerprint_of_earlier_versions() -> None:
    inputs = Inputs.from_texts("Clause 7 \\u0041 é 😀")
    assert inputs.fingerprint == Inputs.from_stored({"ai_output": inputs.ai_output}).fingerprint
    assert inputs.fingerprint == sha256('{"ai_output":"Clause 7 \\\\u0041 é 😀"'.encode() + NO_OTHERS)


def test_texts_that_an_earlier_version_stored_keep_their_fingerprint() -> None:
    earlier = [Inputs.from_stored({"ai_output": text}) for text in ("a \ud800", "a \\ud800")]
    assert {inputs.fingerprint for inputs in earlier} == {sha256(b'{"ai_output":"a \\\\ud800"' + NO_OTHERS)}


def test_no_new_fingerprint_of_an_escaped_text_is_one_of_an_earlier_version() -> None:
    texts = ("a \ud800", "a \\ud800", "a \\\\ud800", "a \\\ud800")
    new = {Inputs.from_texts(text).fingerprint for text in texts}
    earlier = {Inputs.from_stored({"ai_output": text}).fingerprint for text in texts}
    assert (len(new), new & earlier) == (4, set())


def test_what_is_stored_comes_back_with_its_fingerprint() -> None:
    inputs = Inputs.from_texts("a \ud800", prompt="b")
    assert Inputs.from_stored(inputs.document) == inputs
    assert Inputs.from_stored(inputs.document).fingerprint == inputs.fingerprint
