"""Foreign text in Markdown, read by a real parser: none of it is markup."""

from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from salvo.engine.text import markdown
from salvo.engine.text.unicode_escape import visible
from tests.support.attacks import attack_texts


def parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)


@given(text=attack_texts)
def test_an_inline_text_reads_as_it_was(text: str) -> None:
    [_, inline, _] = parsed(f"x {markdown.inline(text)}")
    assert _words(inline) == " ".join(f"x {visible(text)}".split())


@given(text=attack_texts)
def test_a_hostile_text_stays_in_its_cell_and_in_its_item(text: str) -> None:
    tokens = parsed(f"| a | b |\n| - | - |\n| {markdown.inline(text)} | {markdown.code(text)} |")
    assert [token.type for token in tokens].count("td_open") == 2
    tokens = parsed(f"- {markdown.inline(text)}")
    assert {token.type for token in tokens} <= {
        *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
        *("paragraph_open", "paragraph_close", "inline"),
    }


def _words(token: Token) -> str:
    return "".join(child.content for child in token.children or ())
