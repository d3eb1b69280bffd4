"""The reports on a subject over time, as lines of text."""

from inline_snapshot import snapshot

from salvo.playbooks.enums import Mode, Result, Status
from salvo.playbooks.report import terminal
from salvo.playbooks.store.records import TimelinePoint


def test_a_timeline_marks_what_is_special() -> None:
    points = [
        TimelinePoint(
            id=name,
            created_at="2026-11-15T12:00:00.000+00:00",
            title=None,
            mode=mode,
            evaluator="ru\x1bles",
            status=Status.REVIEW,
            consistency=consistency,
            incomplete=incomplete,
            baseline=baseline,
            inputs_fingerprint=fingerprint,
            playbook_hash="p",
            outcomes=outcomes,
        )
        for name, mode, consistency, incomplete, baseline, fingerprint, outcomes in (
            ("a", Mode.FULL, 1.0, False, True, "x", {"one": Result.PASS, "two": Result.FAIL}),
            ("b", Mode.SCREENING, None, True, False, "x", {"two": Result.INDETERMINATE}),
            ("c", Mode.FULL, 0.5, False, False, "y", {"two": Result.PASS, "three": Result.PASS}),
        )
    ]
    assert "\n".join(terminal.timeline("s", points)) == snapshot("""\
REPORT  TIME                 STATUS      CONSISTENCY  TEXT     EVALUATOR  1  2  3
a       2026-11-15T12:00:00  REVIEW      1.00                  ru\\x1bles  P  F  –  baseline
b       2026-11-15T12:00:00  INCOMPLETE  –            same     ru\\x1bles  –  ?  –  screening
c       2026-11-15T12:00:00  REVIEW      0.50         changed  ru\\x1bles  –  P  P

P pass, F fail, ? indeterminate, – not in that playbook. 1 one; 2 two; 3 three.
TEXT shows whether the text is the same as in the row above, EVALUATOR who judged it.\
""")
