"""What a number of runs can show. Pure, without dependencies, and exact where it says so.

rates                a pass rate and its interval, pass@k, pass^k
quantiles            percentiles
gating               is the rate high enough?
confidence_sequence  the same question, asked after every run
exact_test           do two sides differ?
newcombe             by how much do they differ?
multiple_testing     the correction for several tests
stratified_test      one test over all scenarios
voting, reliability  votes of a judge, and how far they can be relied on
beta                 the beta distribution, which the others use
"""

from salvo.engine.stats.confidence_sequence import confidence_sequence
from salvo.engine.stats.exact_test import exact_p, smallest_visible_difference
from salvo.engine.stats.gating import Gate, GateVerdict, fixed_runs_needed, gate, settled
from salvo.engine.stats.multiple_testing import benjamini_hochberg, needed_p
from salvo.engine.stats.newcombe import newcombe
from salvo.engine.stats.quantiles import percentile
from salvo.engine.stats.rates import Interval, Tally, clopper_pearson, pass_at_k, pass_hat_k, wilson
from salvo.engine.stats.reliability import (
    Advice,
    Components,
    Reliability,
    components,
    more_runs_or_votes,
    reliability,
    standard_error,
)
from salvo.engine.stats.stratified_test import BlockedTest, blocked_test

__all__ = [
    "Advice",
    "BlockedTest",
    "Components",
    "Gate",
    "GateVerdict",
    "Interval",
    "Reliability",
    "Tally",
    "benjamini_hochberg",
    "blocked_test",
    "clopper_pearson",
    "components",
    "confidence_sequence",
    "exact_p",
    "fixed_runs_needed",
    "gate",
    "more_runs_or_votes",
    "needed_p",
    "newcombe",
    "pass_at_k",
    "pass_hat_k",
    "percentile",
    "reliability",
    "settled",
    "smallest_visible_difference",
    "standard_error",
    "wilson",
]
