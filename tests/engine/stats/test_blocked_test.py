"""The test over all scenarios: against published examples, scipy, and every way the passes can fall."""

from itertools import product
from math import comb, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact  # type: ignore[import-untyped]  # scipy ships no types

from salvo.engine.stats import multiple_testing
from salvo.engine.stats.multiple_testing import BlockedTest, blocked_test
from salvo.engine.stats.pass_rates import Tally

Blocks = list[tuple[Tally, Tally]]
tallies = st.integers(1, 6).flatmap(lambda runs: st.builds(Tally, st.integers(0, runs), st.just(runs)))

# Penicillin in rabbits, by dose, at once and after 1.5 hours: cured of treated (Mantel 1963; Agresti, Categorical
# Data Analysis). R's mantelhaen.test gives S = 16, exact p = 0.03994; with continuity correction X2 = 3.9286.
RABBITS = [
    (Tally(0, 5), Tally(0, 6)),
    (Tally(0, 6), Tally(3, 6)),
    (Tally(2, 6), Tally(6, 6)),
    (Tally(6, 6), Tally(5, 6)),
    (Tally(5, 5), Tally(2, 2)),
]
# Admissions to Berkeley in 1973 by department, women and men (Bickel, Hammel & O'Connell 1975). In the sum men are
# admitted far more often. R's mantelhaen.test, with continuity correction: X2 = 1.4269, p = 0.2323.
BERKELEY = [
    (Tally(89, 108), Tally(512, 825)),
    (Tally(17, 25), Tally(353, 560)),
    (Tally(202, 593), Tally(120, 325)),
    (Tally(131, 375), Tally(138, 417)),
    (Tally(94, 393), Tally(53, 191)),
    (Tally(24, 341), Tally(22, 373)),
]


def run(blocks: Blocks) -> BlockedTest:
    found = blocked_test(blocks)
    assert found is not None
    return found


def test_the_rabbits_have_the_published_exact_p_value() -> None:
    found = run(RABBITS)
    assert found.exact
    assert found.p_value == pytest.approx(0.03994, abs=5e-6)
    assert found.difference > 0


@pytest.mark.parametrize("blocks, published", [(RABBITS, 0.04747), (BERKELEY, 0.2323)])
def test_beyond_its_size_the_approximation_is_the_published_one(
    blocks: Blocks, published: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multiple_testing, "MAX_PRODUCTS", 0)
    found = run(blocks)
    assert not found.exact
    assert found.p_value == pytest.approx(published, abs=5e-5)


def test_berkeley_preferred_no_one_once_departments_are_compared_with_themselves() -> None:
    by_department = run(BERKELEY)
    assert by_department.exact
    assert by_department.p_value == pytest.approx(0.2323, abs=0.01)
    women, men = (Tally(*map(sum, zip(*side, strict=True))) for side in zip(*BERKELEY, strict=True))
    assert run([(women, men)]).p_value < 1e-10


def test_five_thousand_runs_of_many_scenarios_are_approximated_and_agree_with_the_exact_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blocks = [(Tally(850, 1_000), Tally(862, 1_000)) for _ in range(8)]
    approximate = run(blocks)
    assert not approximate.exact
    monkeypatch.setattr(multiple_testing, "MAX_PRODUCTS", 10**9)
    exact = run(blocks)
    assert exact.exact
    assert approximate.p_value == pytest.approx(exact.p_value, rel=0.01)


@settings(max_examples=50)
@given(st.lists(st.tuples(tallies, tallies), min_size=1, max_size=3))
def test_the_exact_p_value_is_what_counting_every_share_of_the_passes_gives(blocks: Blocks) -> None:
    ways: dict[int, int] = {}
    for shares in product(*(range(b.runs + 1) for _, b in blocks)):
        count = prod(
            comb(b.runs, had) * comb(a.runs, a.passes + b.passes - had) if had <= a.passes + b.passes else 0
            for (a, b), had in zip(blocks, shares, strict=True)
        )
        ways[sum(shares)] = ways.get(sum(shares), 0) + count
    seen, whole = sum(b.passes for _, b in blocks), sum(ways.values())
    up = sum(count for total, count in ways.items() if total >= seen)
    down = sum(count for total, count in ways.items() if total <= seen)
    assert run(blocks).p_value == pytest.approx(min(1.0, 2 * min(up, down) / whole), rel=1e-9)


@settings(max_examples=50)
@given(st.tuples(tallies, tallies))
def test_over_one_scenario_it_is_fishers_test(block: tuple[Tally, Tally]) -> None:
    a, b = block
    table = [[a.passes, b.passes], [a.runs - a.passes, b.runs - b.passes]]
    sides = [fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
    assert run([block]).p_value == pytest.approx(min(1.0, 2 * min(sides)), rel=1e-9)


@given(st.lists(st.tuples(tallies, tallies), min_size=1, max_size=6))
def test_exchanged_sides_have_the_same_p_value_and_the_opposite_difference(blocks: Blocks) -> None:
    found, exchanged = run(blocks), run([(b, a) for a, b in blocks])
    assert exchanged.p_value == pytest.approx(found.p_value, rel=1e-9)
    assert exchanged.difference == pytest.approx(-found.difference, abs=1e-12)


def test_small_losses_in_many_scenarios_are_seen_together() -> None:
    found = run([(Tally(9, 10), Tally(6, 10))] * 5)
    assert found.p_value < 0.01
    assert found.difference == pytest.approx(-0.3)


def test_a_scenario_without_runs_on_a_side_is_left_out() -> None:
    assert run([*RABBITS, (Tally(0, 0), Tally(5, 5))]) == run(RABBITS)
    assert blocked_test([(Tally(0, 0), Tally(5, 5))]) is None
    assert blocked_test([]) is None


@pytest.mark.parametrize("most_products", [0, 10**6])
def test_where_every_run_passed_nothing_differs(most_products: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiple_testing, "MAX_PRODUCTS", most_products)
    assert run([(Tally(10, 10), Tally(10, 10)), (Tally(3, 3), Tally(4, 4))]).p_value == 1.0


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="passes must be"):
        blocked_test([(Tally(4, 3), Tally(1, 3))])
