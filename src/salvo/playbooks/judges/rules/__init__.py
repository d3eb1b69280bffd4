"""A judge that needs no key and no network: rules over the sentences of an English text."""

from salvo.playbooks.judges.rules.engine import KNOWN_CHECKS, judge
from salvo.playbooks.judges.rules.finding import Finding

__all__ = ["KNOWN_CHECKS", "Finding", "judge"]
