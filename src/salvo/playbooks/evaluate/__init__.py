"""Evaluating a text: request, judges, votes and the runner."""
