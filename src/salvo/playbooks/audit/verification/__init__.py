"""Verification: whether stored evaluations and report files are what the audit log says."""
