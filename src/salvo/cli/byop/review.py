"""`byop review`: what people decide about a report."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import NamedTuple

import click

from salvo.cli.byop.database import load_report, open_for_listing, open_store
from salvo.cli.output import echo, echo_json
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import pluralize, truncate
from salvo.engine.text.terminal import table
from salvo.engine.text.unicode_escape import printable
from salvo.errors import UsageError
from salvo.playbooks.enums import Result
from salvo.playbooks.report.report import Report
from salvo.playbooks.review import wording
from salvo.playbooks.review.build_section import review_section
from salvo.playbooks.review.events import ReviewAction, ReviewDraft, ReviewEvent, ReviewStanding
from salvo.playbooks.review.queue import QueueAssigned, QueueFilter, QueueItem
from salvo.playbooks.review.rules import checked_draft
from salvo.playbooks.review.state import ReviewState, state
from salvo.playbooks.store.queueing.process_owner import system_user
from salvo.playbooks.store.store import EvaluationStore

_LISTED = 50


@click.command
@click.argument("report_id", required=False, metavar="[REPORT]")
@click.option("--accept", "accepted", multiple=True, metavar="CHECK[#N]", help="Agree with the evaluator's result.")
@click.option(
    "--override",
    "overridden",
    multiple=True,
    metavar="CHECK=RESULT",
    help="Give another result: pass, fail or indeterminate. CHECK#N rejects a passage. Needs --reason.",
)
@click.option("--reason", default="", metavar="TEXT", help="Why; for an override, amendment, withdrawal or sign-off.")
@click.option("--comment", metavar="TEXT", help="Say something about the report, or about what --on names.")
@click.option(
    "--assign", metavar="NAME", help='Ask a person to look at the report, or at what --on names; "" for nobody.'
)
@click.option("--on", "about", metavar="CHECK[#N]", help="What --comment or --assign is about.")
@click.option("--sign-off", metavar="NAME", help="Sign the report with all decisions and comments so far.")
@click.option("--withdraw", metavar="EVENT", help="Take back an earlier step of your own. It stays in the history.")
@click.option("--amend", metavar="EVENT", help="Replace the text of an earlier step of your own, with --reason.")
@click.option(
    "--result",
    type=click.Choice([result.value for result in Result]),
    help="The new result, for --amend of an override.",
)
@click.option("--by", metavar="NAME", help="Who you are; by default the operating system's user name.")
@click.option("--blind", is_flag=True, help="You have not seen the evaluator's result: nor does this show it.")
@click.option("--for", "mine", metavar="NAME", help="Without REPORT: list what is assigned to NAME or to nobody.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def review(
    report_id: str | None,
    accepted: tuple[str, ...],
    overridden: tuple[str, ...],
    reason: str,
    comment: str | None,
    assign: str | None,
    about: str | None,
    sign_off: str | None,
    withdraw: str | None,
    amend: str | None,
    result: str | None,
    by: str | None,
    blind: bool,
    mine: str | None,
    as_json: bool,
) -> None:
    """Review a report: accept, override, comment, assign, sign off; or list what waits.

    REPORT is a report's id, a prefix of it, or `latest`. Without it, the checks that wait for a decision are listed:
    disagreements first, then failures. With a report alone, its review is shown: both results of each check, comments,
    sign-offs, and every step with its id.

    \b
    byop review latest --accept certainty_language
    byop review latest --override certainty_language=pass --reason "It quotes the contract."
    byop review latest --override certainty_language#2 --reason "This passage is a heading."
    byop review latest --comment "Is this the final text?" --on certainty_language
    byop review latest --assign "Bob Lee" --on certainty_language
    byop review latest --sign-off "Ada Brown"
    byop review latest --withdraw EVENT

    CHECK#N is passage N of a check; #N alone is finding N in the text. The evaluator's own result is never changed:
    both are shown. Every step is an entry in the audit log, signed if there is a key (`byop keys new`), and verified by
    `byop verify`. Names are as typed, and nobody checks them. A sign-off names by its hash what was signed, and is
    marked as stale if something is decided or said afterwards. `byop show --reviewed` lets the reviewed results count.
    """
    request = _Request(accepted, overridden, reason, comment, assign, about, sign_off, withdraw, amend, result, blind)
    if report_id is None:
        if any(request):
            raise click.UsageError("Name the report: byop review REPORT …")
        _list_queue(mine, as_json=as_json)
        return
    drafts = list(_drafts(request, by or system_user()))
    with open_store() as store:
        stored, report = load_report(store, report_id)
        added = _add(store, stored.id, report, drafts)
        events = store.review_events(stored.id)
    if as_json:
        section = review_section(report, events, decides=True)
        echo_json(json_codec.dumps(asdict(section) if section else {}, indent=2))
    elif added:
        _confirm(report, events, added, blind=blind)
    else:
        _show(report, events)


class _Request(NamedTuple):
    """The options that ask for a step."""

    accepted: tuple[str, ...]
    overridden: tuple[str, ...]
    reason: str
    comment: str | None
    assign: str | None
    about: str | None
    sign_off: str | None
    withdraw: str | None
    amend: str | None
    result: str | None
    blind: bool


class _Place(NamedTuple):
    check_id: str | None
    finding: int | None


_PLACE = re.compile(r"(?P<check>[^#]*)(#(?P<finding>\d{1,6}))?")


def _place(text: str) -> _Place:
    match = _PLACE.fullmatch(text.strip())
    if match is None or not text.strip():
        raise click.UsageError(f"{text!r} is neither a check nor a finding (CHECK, CHECK#2, or #2).")
    return _Place(match["check"] or None, int(match["finding"]) if match["finding"] else None)


def _drafts(request: _Request, actor: str) -> Iterator[ReviewDraft]:
    """Yield the steps that the options ask for, in a fixed order: decisions first, a sign-off last."""
    if request.about is not None and request.comment is None and request.assign is None:
        raise click.UsageError("--on says what --comment or --assign is about.")
    for text in request.accepted:
        yield ReviewDraft(ReviewAction.ACCEPT, actor, **_place(text)._asdict())
    for text in request.overridden:
        yield _override(text, request, actor)
    about = _Place(None, None) if request.about is None else _place(request.about)
    if request.comment is not None:
        yield ReviewDraft(ReviewAction.COMMENT, actor, **about._asdict(), reason=request.comment)
    if request.assign is not None:
        yield ReviewDraft(ReviewAction.ASSIGN, actor, **about._asdict(), assignee=request.assign)
    if request.withdraw is not None:
        yield ReviewDraft(ReviewAction.WITHDRAW, actor, target=request.withdraw, reason=request.reason)
    if request.amend is not None:
        result = None if request.result is None else Result(request.result)
        yield ReviewDraft(ReviewAction.AMEND, actor, target=request.amend, reason=request.reason, result=result)
    elif request.result is not None:
        raise click.UsageError("--result belongs to --amend. An override is --override CHECK=RESULT.")
    if request.sign_off is not None:
        statement = "" if request.overridden else request.reason
        yield ReviewDraft(ReviewAction.SIGN_OFF, request.sign_off, reason=statement)


def _override(text: str, request: _Request, actor: str) -> ReviewDraft:
    name, equals, word = text.rpartition("=")
    place = _place(name if equals else text)
    if not equals and place.finding is None:
        raise click.UsageError(f"--override needs a result: --override {text}=pass, =fail or =indeterminate.")
    try:
        result = Result(word.strip().lower()) if equals else None
    except ValueError:
        raise click.UsageError(f"{word!r} is not a result: use pass, fail or indeterminate.") from None
    return ReviewDraft(
        ReviewAction.OVERRIDE, actor, **place._asdict(), result=result, reason=request.reason, blind=request.blind
    )


def _add(store: EvaluationStore, report_id: str, report: Report, drafts: Sequence[ReviewDraft]) -> list[ReviewEvent]:
    """Add all steps. Each is checked before the first is stored, so that a mistake stores nothing."""
    events = store.review_events(report_id)
    for draft in drafts:
        checked_draft(draft, report, events)
    return [store.reviews.add(report_id, draft) for draft in drafts]


def _confirm(report: Report, events: Sequence[ReviewEvent], added: Sequence[ReviewEvent], *, blind: bool) -> None:
    by_id = {event.event_id: event for event in events}
    first = added[0].sequence
    before = state(report, [event for event in events if event.sequence < first])
    for event in added:
        # A blind reviewer must not learn from the action whether the evaluator came to the same result.
        shown = replace(event, action=ReviewAction.OVERRIDE) if event.blind else event
        _print(f"{event.event_id}  {wording.event_sentence(shown, by_id)}")
        if not blind:
            _print_replaced(before, event)
    if not blind and (section := review_section(report, events)) is not None:
        _print(section.headline)
        for sign_off in section.sign_offs:
            _print(sign_off.sentence)


def _print_replaced(before: ReviewState, event: ReviewEvent) -> None:
    """Say whose decision this one replaces: on a command line nobody may have looked before."""
    earlier = before.check(event.check_id or "")
    if earlier is None or event.finding is not None or event.action not in (ReviewAction.ACCEPT, ReviewAction.OVERRIDE):
        return
    for decision in earlier.decisions:
        if decision.actor != event.actor and decision.result is not event.result:
            _print(f"This replaces what {decision.actor} decided: {(decision.result or '').upper()}.")


def _show(report: Report, events: Sequence[ReviewEvent]) -> None:
    now = state(report, events)
    section = review_section(report, events, decides=True)
    if section is None:  # it is not, as the review decides
        raise UsageError("There is no review.")
    _print(section.headline)
    header = ("CHECK", "SEVERITY", "EVALUATOR", "REVIEWED", "STATE", "ASSIGNED TO", "PASSAGES")
    severities = {check.check_id: check.severity for check in report.check_results}
    rows = [
        (
            printable(check.check_id),
            severities[check.check_id],
            check.evaluator_result.upper(),
            "" if check.standing is ReviewStanding.UNDECIDED else check.reviewed_result.upper(),
            "derived" if check.derived and not check.decisions else check.standing,
            truncate(printable(check.assignee or now.assignee or ""), 30),
            str(len(check.findings) or ""),
        )
        for check in now.checks
    ]
    echo("\n".join(["", *table(header, rows), ""]))
    for check in section.checks:
        for line in check.lines:
            _print(f"{check.check_id}: {line}")
    for line in (*section.lines, *(signed.sentence for signed in section.sign_offs)):
        _print(line)
    if not section.sign_offs:
        _print(wording.NOT_SIGNED_OFF)
    if events:
        echo(f"\n{wording.HISTORY_TITLE}")
    for event, sentence in zip(events, section.history, strict=True):
        _print(f"{event.event_id}  {sentence}")


def _list_queue(mine: str | None, *, as_json: bool) -> None:
    assigned = QueueAssigned.ANYBODY if mine is None else QueueAssigned.ME_OR_NOBODY
    with open_for_listing() as store:
        queue = store.reviews.queue(QueueFilter(assigned=assigned, me=mine or ""), limit=_LISTED)
    if as_json:
        echo_json(json_codec.dumps(asdict(queue), indent=2))
        return
    if not queue.items:
        echo("Nothing waits for a decision.")
        return
    header = ("REPORT", "CHECK", "SEVERITY", "EVALUATOR", "WHY FIRST", "ASSIGNED TO", "SUBJECT")
    echo("\n".join(table(header, [_queue_row(item) for item in queue.items])))
    more = queue.total - len(queue.items)
    echo(
        f"\n{pluralize(queue.waiting, 'check waits', 'checks wait')} for a decision{f', {more} more' if more else ''}."
    )


def _queue_row(item: QueueItem) -> tuple[str, ...]:
    reasons = (
        ("reviewers disagree", item.standing is ReviewStanding.DISPUTED),
        ("judges disagree", item.judges_disagree),
        ("votes differ", item.votes_split),
    )
    return (
        item.report_id,
        truncate(printable(item.check_id), 40),
        item.severity,
        item.evaluator_result.upper(),
        ", ".join(reason for reason, applies in reasons if applies),
        truncate(printable(item.assignee or ""), 24),
        truncate(printable(item.subject), 24),
    )


def _print(text: str) -> None:
    """Print a sentence with foreign text in it, wrapped, and without control characters."""
    width = max(shutil.get_terminal_size().columns, 40)
    line = printable(" ".join(text.split()))
    echo("\n".join(textwrap.wrap(line, width, subsequent_indent="  ", break_on_hyphens=False)))
