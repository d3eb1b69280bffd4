"""`make bench`: every comparison, one table each. A timing is never a test, so nothing fails here."""

from __future__ import annotations

from bench import cold_start, completions, scenarios


def main() -> None:
    completions.report()
    scenarios.report()
    cold_start.report()


if __name__ == "__main__":
    main()
