"""The database of playbook runs: evaluations, votes, baselines and the audit log.

`store.EvaluationStore` is the interface, and `records` has its values. Importing `store` imports SQLAlchemy.
"""
