"""A tag that nothing inside the fences can contain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.chat import judge
from salvo.engine.chat.judge import fence_tag


@given(contents=st.lists(st.text("0123456789abcdefABCDEF", max_size=30), max_size=3))
def test_a_tag_that_does_occur_is_replaced_by_one_that_does_not(contents: list[str]) -> None:
    whole = judge._digest

    def short(text: str) -> str:
        return whole(text)[:2]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(judge, "_digest", short)
        tag = fence_tag(contents)
        assert not any(tag in content.lower() for content in contents)
        assert tag == fence_tag(contents)
