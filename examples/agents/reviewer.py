"""An agent that is a plain function: it takes the request, and what it returns is the final output."""

from pathlib import Path

from salvo import AdapterRequest

WRITTEN = Path(__file__).parents[1] / "outputs" / "dpa_review.md"


def review(_request: AdapterRequest) -> str:
    """Stands in for a model: hands back what one wrote."""
    return WRITTEN.read_text(encoding="utf-8")
