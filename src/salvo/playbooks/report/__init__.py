"""The report: how it is built from votes, and how it is rendered."""
