"""Salvo measures how far an AI can be relied on, by never trusting one run."""

__version__ = "0.1.0.dev0"
