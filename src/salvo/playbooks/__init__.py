"""Playbooks: a frozen AI output is checked, three times a check, by an evaluator that must quote its evidence."""
