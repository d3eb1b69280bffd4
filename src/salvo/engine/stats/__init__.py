"""What a number of runs can show. Pure, without dependencies, and exact where it says so.

rates       a pass rate and its interval, pass@k, pass^k        quantiles   percentiles
gating      is the rate good enough?                            sequence    the same, looking after every run
beta        the one function they stand on
"""

from salvo.engine.stats.gating import Gate, GateVerdict, fixed_runs_needed, gate, settled
from salvo.engine.stats.quantiles import percentile
from salvo.engine.stats.rates import Interval, Tally, clopper_pearson, pass_at_k, pass_hat_k, wilson
from salvo.engine.stats.sequence import confidence_sequence

__all__ = [
    "Gate",
    "GateVerdict",
    "Interval",
    "Tally",
    "clopper_pearson",
    "confidence_sequence",
    "fixed_runs_needed",
    "gate",
    "pass_at_k",
    "pass_hat_k",
    "percentile",
    "settled",
    "wilson",
]
