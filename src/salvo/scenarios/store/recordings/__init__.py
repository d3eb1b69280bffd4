"""Recordings of runs: their files, and what they hold for a replay."""
