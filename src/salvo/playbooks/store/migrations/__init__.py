"""Migrations that create the tables of `tables`, or upgrade them from an earlier version."""
