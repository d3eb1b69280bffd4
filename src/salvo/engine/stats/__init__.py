"""What a number of runs can show. Pure, without dependencies, and exact where it says so.

rates             a pass rate and its intervals, pass^k, the interval of a difference
quantiles         percentiles
gating            is the rate high enough?
exact_test        do two sides differ?
multiple_testing  do they differ over all scenarios?
voting            votes of a judge, and how far they can be relied on
beta              the beta distribution, which the others use
"""
