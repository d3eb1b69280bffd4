"""A judge that needs no key and no network: rules over the sentences of an English text."""

from salvo.playbooks.evaluate.judges.rules.engine import KNOWN_CHECKS, judge
from salvo.playbooks.evaluate.judges.rules.finding import RuleFinding

__all__ = ["KNOWN_CHECKS", "RuleFinding", "judge"]
