"""Indexes of the runs in a store, so that a list does not read every run. Each can be made again from the runs."""
