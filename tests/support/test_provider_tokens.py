"""Usage as each provider counts it, and what its prompt cache does to it."""

from typing import Any

import pytest

from tests.support.http_client import ASKING, ask_anthropic, ask_openai
from tests.support.provider import Fault, LoopbackProvider, Say
from tests.support.provider.tokens import AnthropicCache, OpenAICache, Prompt, tokens

FIVE_MINUTES = {"type": "ephemeral"}
ONE_HOUR = {"type": "ephemeral", "ttl": "1h"}


def words(count: int, letter: str = "x") -> str:
    """Text of exactly that many tokens."""
    return letter * (4 * count)


def block(count: int, mark: dict[str, str] | None = None, letter: str = "x") -> dict[str, Any]:
    marked = {"cache_control": mark} if mark else {}
    return {"type": "text", "text": words(count, letter), **marked}


def prompt(*content: dict[str, Any], model: str = "claude-sonnet-4-6", **fields: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": list(content)}], **fields}


def buckets(met: Prompt) -> tuple[int, int, int]:
    used = met.usage(output=1)
    return used.input, used.cache_write, used.cache_read


def test_a_token_is_four_characters_rounded_up() -> None:
    assert [tokens(count) for count in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]


class TestAnthropic:
    def test_without_a_mark_nothing_is_cached(self) -> None:
        cache = AnthropicCache()
        for _ in range(2):
            met = cache.meet(prompt(block(2000)))
            cache.keep(met)
            assert buckets(met) == (2000, 0, 0)

    def test_the_first_answered_request_writes_and_the_next_one_reads(self) -> None:
        cache = AnthropicCache()
        first = cache.meet(prompt(block(1500, FIVE_MINUTES), block(10)))
        cache.keep(first)
        second = cache.meet(prompt(block(1500, FIVE_MINUTES), block(20)))
        assert buckets(first) == (10, 1500, 0)
        assert buckets(second) == (20, 0, 1500)

    def test_what_arrives_before_the_first_answer_does_not_read(self) -> None:
        cache = AnthropicCache()
        first, second = (cache.meet(prompt(block(1500, FIVE_MINUTES))) for _ in range(2))
        cache.keep(first)
        assert buckets(first) == buckets(second) == (0, 1500, 0)

    @pytest.mark.parametrize(
        "model, floor",
        [
            ("claude-sonnet-4-6", 1024),
            ("claude-opus-4-8", 1024),
            ("claude-haiku-4-5", 4096),
            ("claude-haiku-4-5-20251001", 4096),
            ("claude-opus-4-6", 4096),
            ("claude-opus-5", 512),
        ],
    )
    def test_below_the_models_floor_nothing_is_cached(self, model: str, floor: int) -> None:
        cache = AnthropicCache()
        assert cache.meet(prompt(block(floor - 1, FIVE_MINUTES), model=model)).cache_write == 0
        assert cache.meet(prompt(block(floor, FIVE_MINUTES), model=model)).cache_write == floor

    def test_the_prefix_runs_from_tools_over_system_to_messages(self) -> None:
        cache = AnthropicCache()
        tool = {"name": "track", "description": words(1000), "input_schema": {"type": "object"}}
        system = [block(1000, FIVE_MINUTES)]
        cache.keep(cache.meet(prompt(block(10), tools=[tool], system=system)))
        assert cache.meet(prompt(block(20), tools=[tool], system=system)).cache_read > 2000
        assert cache.meet(prompt(block(20), tools=[{**tool, "name": "trace"}], system=system)).cache_read == 0
        assert cache.meet(prompt(block(20), tools=[tool], system=[block(1000, FIVE_MINUTES, "y")])).cache_read == 0

    def test_a_cache_belongs_to_its_model(self) -> None:
        cache = AnthropicCache()
        cache.keep(cache.meet(prompt(block(1500, FIVE_MINUTES))))
        assert cache.meet(prompt(block(1500, FIVE_MINUTES), model="claude-sonnet-5")).cache_read == 0

    def test_where_one_block_ends_and_the_next_begins_matters(self) -> None:
        cache = AnthropicCache()
        cache.keep(cache.meet(prompt(block(1000), block(1000, FIVE_MINUTES))))
        assert cache.meet(prompt(block(1001), block(999, FIVE_MINUTES))).cache_read == 0

    def test_a_growing_conversation_reads_what_it_wrote_and_writes_the_rest(self) -> None:
        cache = AnthropicCache()
        cache.keep(cache.meet(prompt(block(1500, FIVE_MINUTES))))
        longer = cache.meet(prompt(block(1500), block(100), block(200, FIVE_MINUTES), block(7)))
        cache.keep(longer)
        assert buckets(longer) == (7, 300, 1500)
        assert buckets(cache.meet(prompt(block(1500), block(100), block(200, FIVE_MINUTES)))) == (0, 0, 1800)

    def test_a_prefix_too_many_blocks_back_is_out_of_sight(self) -> None:
        cache = AnthropicCache()
        cache.keep(cache.meet(prompt(block(1500, FIVE_MINUTES))))
        near = prompt(block(1500), *[block(1)] * 19, block(1, FIVE_MINUTES))
        far = prompt(block(1500), *[block(1)] * 20, block(1, FIVE_MINUTES))
        assert cache.meet(near).cache_read == 1500
        assert cache.meet(far).cache_read == 0

    def test_each_lifetime_is_counted_by_itself(self) -> None:
        met = AnthropicCache().meet(prompt(block(2000, ONE_HOUR), block(500, FIVE_MINUTES), block(3)))
        assert (met.cache_write, met.cache_write_1h) == (2500, 2000)

    def test_a_mark_on_the_request_marks_its_last_block(self) -> None:
        cache = AnthropicCache()
        met = cache.meet(prompt(block(1000), block(1000), cache_control=ONE_HOUR))
        assert (buckets(met), met.cache_write_1h) == ((0, 2000, 0), 2000)

    async def test_an_unanswered_request_writes_nothing(self) -> None:
        system = [block(1500, FIVE_MINUTES)]
        with LoopbackProvider([Fault.overloaded(), Say("Hello."), Say("Hello.")]) as provider:
            answers = [await ask_anthropic(provider, system=system) for _ in range(3)]
        usages = [answer.body["usage"] for answer in answers[1:]]
        assert [usage["cache_creation_input_tokens"] for usage in usages] == [1500, 0]
        assert [usage["cache_read_input_tokens"] for usage in usages] == [0, 1500]

    async def test_thinking_is_part_of_the_output(self) -> None:
        with LoopbackProvider(Say(words(10), thinking=words(30))) as provider:
            usage = (await ask_anthropic(provider)).body["usage"]
        assert (usage["output_tokens"], usage["output_tokens_details"]["thinking_tokens"]) == (40, 30)


class TestOpenAI:
    def meet(self, cache: OpenAICache, *contents: str, model: str = "gpt-5.4") -> Prompt:
        messages = [{"role": "user", "content": content} for content in contents]
        return cache.meet({"model": model, "messages": messages})

    def test_short_prompts_are_not_cached(self) -> None:
        cache = OpenAICache()
        cache.keep(self.meet(cache, words(1000)))
        assert self.meet(cache, words(1000)).cache_read == 0

    def test_a_prefix_is_read_in_steps_once_it_was_answered(self) -> None:
        cache = OpenAICache()
        first, early = self.meet(cache, words(1500)), self.meet(cache, words(1500))
        cache.keep(first)
        late = self.meet(cache, words(1500), "And then?")
        assert (first.cache_read, early.cache_read) == (0, 0)
        assert late.cache_read == 1024 + 3 * 128
        assert late.usage(output=1).input == late.tokens - late.cache_read

    def test_reading_stops_where_the_prompts_part(self) -> None:
        cache = OpenAICache()
        cache.keep(self.meet(cache, words(1200) + words(800)))
        assert self.meet(cache, words(1200) + words(800, "y")).cache_read == 1024 + 128
        assert self.meet(cache, words(100, "y") + words(1900)).cache_read == 0

    def test_a_cache_belongs_to_its_model(self) -> None:
        cache = OpenAICache()
        cache.keep(self.meet(cache, words(1500)))
        assert self.meet(cache, words(1500), model="gpt-5.5").cache_read == 0

    def test_a_later_family_counts_what_it_writes(self) -> None:
        cache = OpenAICache()
        first = self.meet(cache, words(1500), model="gpt-5.6-sol")
        cache.keep(first)
        longer = self.meet(cache, words(1500), words(500), model="gpt-5.6-sol")
        assert (first.cache_read, first.cache_write) == (0, 1408)
        assert (longer.cache_read, longer.cache_write) == (1408, 512)

    async def test_an_unanswered_request_caches_nothing(self) -> None:
        messages = [{"role": "system", "content": words(1500)}, *ASKING]
        with LoopbackProvider([Fault.server_error(), Say("Hello."), Say("Hello.")]) as provider:
            answers = [await ask_openai(provider, messages=messages) for _ in range(3)]
        cached = [answer.body["usage"]["prompt_tokens_details"]["cached_tokens"] for answer in answers[1:]]
        assert cached == [0, 1408]
