"""The database of playbook runs: evaluations, votes, baselines and the audit log.

`records` is what goes in and comes out; `store.Store` is the one door. Loading it loads SQLAlchemy.
"""
