"""How well an evaluator agrees with reviewers, and the pass rate of a series corrected by their decisions."""
