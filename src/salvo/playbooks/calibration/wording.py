"""How well an evaluator agrees with reviewers, in words. Pure."""

from __future__ import annotations

from salvo.engine.stats.wording import drop_sentence, interval_text, pair_sentence
from salvo.engine.text.formatting import percent, pluralize
from salvo.playbooks.calibration.analysis import CheckCalibration

KINDS = {"passed": "judged passed", "failed": "judged failed", "split": "with split votes"}


def corrected_rate(row: CheckCalibration) -> str:
    """Return the pass rate corrected by reviews, never without its interval."""
    if row.corrected_interval is None:
        return "unknown: there is no report in which it was judged"
    rate = "unknown" if row.corrected_rate is None else percent(row.corrected_rate, *row.corrected_interval)
    missing = [KINDS[item.verdict] for item in row.counts if item.drawn == item.unclear]
    note = f"; no clear review of a text {' or '.join(missing)} that was drawn" if missing else ""
    return f"{rate}, 95% interval {interval_text(row.corrected_interval)}, of {pluralize(row.reports, 'report')}{note}"


def judged_rate(row: CheckCalibration) -> str:
    return "unknown" if row.judged_pass_rate is None else percent(row.judged_pass_rate)


def reviewed(row: CheckCalibration) -> str:
    """Return how many reports were reviewed, and what that is evidence of."""
    text = f"{row.reviewed} of {pluralize(row.reports, 'report')} reviewed, {row.blind} of them blind"
    if row.reviewed and not row.is_random:
        drawn = sum(item.drawn for item in row.counts)
        text += (
            f". Only {drawn} of them were drawn at random; the others somebody chose, so the agreement may differ "
            "from that of all reports"
        )
    return f"{text}."


def notices(row: CheckCalibration) -> list[str]:
    return [drop_sentence(drop, verdict, "texts") for verdict, drop in row.drops.items()]


def reviewer_sentences(row: CheckCalibration) -> list[str]:
    return [f"{pair_sentence(pair.reviewers, pair.agreement)}." for pair in row.reviewer_pairs]
