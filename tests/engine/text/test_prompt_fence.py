"""A tag that nothing inside the fences can contain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.text import prompt_fence
from salvo.engine.text.prompt_fence import fence_tag


@given(contents=st.lists(st.text("0123456789abcdefABCDEF", max_size=30), max_size=3))
def test_a_tag_that_does_occur_is_replaced_by_one_that_does_not(contents: list[str]) -> None:
    whole = prompt_fence._digest

    def short(text: str) -> str:
        return whole(text)[:2]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(prompt_fence, "_digest", short)
        tag = fence_tag(contents)
        assert not any(tag in content.lower() for content in contents)
        assert tag == fence_tag(contents)
