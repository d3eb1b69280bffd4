"""Measure the rules against the two readers' labels of real outputs, and write the calibration of their confidence.

    python tests/playbooks/labelled/real/measure.py --part held TEXTS.jsonl...
    python tests/playbooks/labelled/real/measure.py --part held --calibrate TEXTS.jsonl...

TEXTS.jsonl has one object per line with the fields `id` and `text`. Only counts are printed, and no text, so that the
part that is kept aside stays unseen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from salvo.engine.stats.pass_rates import clopper_pearson
from salvo.playbooks.evaluate.judges import rules_calibration
from salvo.playbooks.evaluate.judges.rules.engine import JUDGES, judge
from salvo.playbooks.evaluate.judges.rules_judge import RulesJudge

LABELS = Path(__file__).with_name("labels.jsonl")


class Judged(NamedTuple):
    """One text: what each reader and the rules say on each check."""

    one: Mapping[str, str]
    two: Mapping[str, str]
    rules: Mapping[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--part", choices=("dev", "held"), required=True)
    parser.add_argument("--calibrate", action="store_true", help="write the calibration that the package ships")
    arguments = parser.parse_args()
    texts = {entry["id"]: entry["text"] for path in arguments.texts for entry in _lines(path)}
    labels = [entry for entry in _lines(LABELS) if entry["part"] == arguments.part]
    missing = [entry["id"] for entry in labels if entry["id"] not in texts]
    if missing:
        raise SystemExit(f"{len(missing)} of {len(labels)} labelled texts are not in the files.")
    judged = [
        Judged(
            entry["one"],
            entry["two"],
            {check: judge(check, texts[entry["id"]]).result for check in sorted(JUDGES)},
        )
        for entry in labels
    ]
    sys.stdout.write("\n".join(table(judged)) + "\n")
    if arguments.calibrate:
        rules_calibration.PATH.write_text(json.dumps(calibrate(judged), indent=2) + "\n", encoding="utf-8")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def table(judged: list[Judged]) -> Iterator[str]:
    """Yield the lines of a Markdown table: agreement per check, with exact 95% intervals."""
    yield f"{len(judged)} texts. Agreement of the rules with:"
    yield ""
    yield (
        "| check | reader one | reader two | both, where they agree | of these, rules not indeterminate "
        "| always the most frequent | readers with each other | rules indeterminate |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for check in sorted(JUDGES):
        agreed = [entry for entry in judged if entry.one[check] == entry.two[check]]
        decided = [entry for entry in agreed if entry.rules[check] != "indeterminate"]
        [(constant, most)] = Counter(entry.one[check] for entry in agreed).most_common(1)
        cells = [
            _share(sum(entry.rules[check] == entry.one[check] for entry in judged), len(judged)),
            _share(sum(entry.rules[check] == entry.two[check] for entry in judged), len(judged)),
            _share(sum(entry.rules[check] == entry.one[check] for entry in agreed), len(agreed)),
            _share(sum(entry.rules[check] == entry.one[check] for entry in decided), len(decided)),
            f"{most / len(agreed):.2f} ({constant})",
            _share(len(agreed), len(judged)),
            f"{sum(entry.rules[check] == 'indeterminate' for entry in judged)} of {len(judged)}",
        ]
        yield f"| `{check}` | {' | '.join(cells)} |"
    yield ""
    yield "| check | result of the rules | both readers agree with it |"
    yield "|---|---|---|"
    for check in sorted(JUDGES):
        for result, (right, count) in _by_result(judged, check).items():
            yield f"| `{check}` | {result} | {right} of {count} |"


def calibrate(judged: list[Judged]) -> dict[str, Any]:
    """Return how often each result of each check agreed with both readers, where these agree."""
    return {
        "rules": RulesJudge.prompt_id,
        "texts": len(judged),
        "checks": {
            check: {result: {"agreed": right, "texts": count} for result, (right, count) in by_result.items()}
            for check in sorted(JUDGES)
            for by_result in [_by_result(judged, check)]
        },
    }


def _by_result(judged: list[Judged], check: str) -> dict[str, tuple[int, int]]:
    agreed = [entry for entry in judged if entry.one[check] == entry.two[check]]
    counts = Counter((entry.rules[check], entry.one[check]) for entry in agreed)
    totals = Counter(entry.rules[check] for entry in agreed)
    return {result: (counts[result, result], totals[result]) for result in ("pass", "fail", "indeterminate")}


def _share(count: int, total: int) -> str:
    low, high = clopper_pearson(count, total)
    return f"{count / total:.2f} ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
