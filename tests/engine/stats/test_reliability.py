"""Agent or judge: against published examples, numpy, and made-up judges whose variance is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.stats.voting import (
    Components,
    Reliability,
    components,
    reliability,
)

rows_of_verdicts = st.lists(st.lists(st.sampled_from([True, False, None]), max_size=6), max_size=12)


def test_krippendorffs_two_observers_of_binary_data_have_the_published_alpha() -> None:
    meg, owen = "0100000010", "1110010000"
    assert reliability(list(zip(meg, owen, strict=True))).alpha == pytest.approx(0.095, abs=5e-4)


def test_krippendorffs_four_observers_with_missing_data_have_the_published_alpha() -> None:
    observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    units = [[None if verdict == "." else verdict for verdict in unit] for unit in zip(*observers, strict=True)]
    assert reliability(units).alpha == pytest.approx(0.743, abs=5e-4)


def test_a_judge_that_always_says_the_same_of_a_transcript_never_flips() -> None:
    assert reliability([[True] * 3, [False] * 3]) == Reliability(2, 0.0, 1.0, 1.0)


def test_where_all_verdicts_are_alike_agreement_cannot_be_told_from_chance() -> None:
    assert reliability([[True] * 3, [True] * 3]) == Reliability(2, 0.0, 1.0, None)


def test_one_flip_in_four_transcripts() -> None:
    found = reliability([["pass", "pass", "fail"], ["pass"] * 3, ["fail"] * 3, ["fail"] * 3])
    assert found.flip_rate == 0.25
    assert found.agreement == pytest.approx((1 / 3 + 1 + 1 + 1) / 4)


def test_a_transcript_judged_once_says_nothing_about_the_judge() -> None:
    assert reliability([[True], [None, False], []]) == Reliability(0, None, None, None)
    assert components([[True], [None, False], []]) is None
    assert reliability([[True, None, False], [True, None]]).transcripts == 1


def test_one_transcript_shows_the_judges_variance_and_not_the_agents() -> None:
    found = components([[True, False, True, False]])
    assert found is not None
    assert found.agent is None
    assert found.judge == pytest.approx(1 / 3)
    assert found.judge_share is None


def test_where_nothing_varies_there_is_nothing_to_share() -> None:
    found = components([[True] * 3, [True] * 3])
    assert found == Components(0.0, 0.0)
    assert found is not None
    assert found.judge_share is None


@given(rows_of_verdicts)
def test_the_components_are_those_of_the_analysis_of_variance(rows: list[list[bool | None]]) -> None:
    judged = [np.array([float(v) for v in row if v is not None]) for row in rows]
    judged = [row for row in judged if len(row)]
    verdicts = np.concatenate(judged) if judged else np.array([])
    if len(verdicts) == len(judged):
        assert components(rows) is None
        return
    found = components(rows)
    assert found is not None
    within = sum(((row - row.mean()) ** 2).sum() for row in judged) / (len(verdicts) - len(judged))
    assert found.judge == pytest.approx(within)
    if len(judged) == 1:
        assert found.agent is None
        return
    sizes = np.array([len(row) for row in judged])
    between = sum(len(row) * (row.mean() - verdicts.mean()) ** 2 for row in judged) / (len(judged) - 1)
    typical = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(judged) - 1)
    assert found.agent == pytest.approx(max(0.0, (between - within) / typical), abs=1e-12)


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_a_judge_that_errs_so_often_is_found_out(noise: float) -> None:
    chance = np.random.default_rng(51)
    passes = chance.random(4_000) < 0.7
    verdicts = passes[:, None] ^ (chance.random((4_000, 4)) < noise)
    found = components(verdicts.tolist())
    assert found is not None
    judge, agent = noise * (1 - noise), 0.7 * 0.3 * (1 - 2 * noise) ** 2
    assert found.judge == pytest.approx(judge, abs=0.01)
    assert found.agent == pytest.approx(agent, abs=0.01)
    assert found.judge_share == pytest.approx(judge / (agent + judge), abs=0.03)
