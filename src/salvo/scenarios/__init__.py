"""Scenarios: a live agent with tools, run N times, scored by assertions."""
