"""Evaluations that this server runs or has queued."""
