"""What to evaluate: plain data, complete before the first call, so that it can be stored, resumed and replayed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from salvo.engine.jsonio.surrogates import has_surrogates
from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.errors import NotReplayableError, UsageError
from salvo.playbooks.enums import Mode
from salvo.playbooks.evaluate.inputs import NAMES, Inputs, SourceFile
from salvo.playbooks.playbook.definition import Check, Playbook
from salvo.playbooks.playbook.validate import stored_playbook
from salvo.playbooks.report.report import DocumentIdentity, ModelFingerprint
from salvo.playbooks.store.records import StoredEvaluation
from salvo.records import record

DEFAULT_SUBJECT = "default"
UNKNOWN: Final = "unknown"


@record
class EvaluationRequest:
    report_id: str
    playbook: Playbook
    inputs: Inputs
    evaluator: str
    mode: Mode
    runs: int
    """How often each judged check is asked."""
    subject: str = DEFAULT_SUBJECT
    """The series that this text belongs to: drift is reported within one series."""
    producer: str | None = None
    """The AI that wrote the text, as the user declares it."""
    document_identity: DocumentIdentity | None = None
    """What the document is called, and its file; None if nothing of it is known."""

    @property
    def cases(self) -> list[tuple[Check, int]]:
        """Return every question to ask: each run of each judged check."""
        return [(check, run) for check in self.playbook.judged_checks for run in range(1, self.runs + 1)]


def new_request(
    report_id: str,
    playbook: Playbook,
    inputs: Inputs,
    evaluator: str,
    *,
    mode: Mode = Mode.FULL,
    runs: int | None = None,
    subject: str = DEFAULT_SUBJECT,
    producer: str | None = None,
    title: str | None = None,
    reviewer: str | None = None,
    file: SourceFile | None = None,
) -> EvaluationRequest:
    """Return a new request; raise UsageError if the playbook cannot be run with these inputs and this mode.

    `file` is the one that the AI output was read from.
    """
    names = {"subject": subject, "evaluator": evaluator, "producer": producer, "document": title, "reviewer": reviewer}
    for what, name in names.items():
        if name and ("\0" in name or has_surrogates(name)):
            raise UsageError(
                f"The name of the {what} has characters that cannot be stored: NUL, or bytes that are not UTF-8.",
                hint="Write it in UTF-8.",
            )
    if missing := [name for name in playbook.required_inputs if not getattr(inputs, name)]:
        needed = " and ".join(NAMES[name].lower() for name in missing)
        raise UsageError(
            f"The playbook {playbook.id} cannot be run without {needed}.", hint="Give it, or choose another playbook."
        )
    identity = _document_identity(title, reviewer, file)
    return EvaluationRequest(
        report_id, playbook, inputs, evaluator, mode, runs_for(mode, playbook, runs), subject, producer, identity
    )


def _document_identity(title: str | None, reviewer: str | None, file: SourceFile | None) -> DocumentIdentity | None:
    read_from = () if file is None else (file.name or None, file.sha256, file.pages)
    identity = replace(DocumentIdentity(title or None, *read_from), reviewer=reviewer or None)
    return None if identity == DocumentIdentity() else identity


def requested_by(request: EvaluationRequest, user: str | None) -> EvaluationRequest:
    """Return the request in the name of the user who is logged in. If nobody is, a name in it is as declared."""
    identity = request.document_identity
    if user is not None:
        identity = replace(identity or DocumentIdentity(), reviewer=user, reviewer_authenticated=True)
    elif identity is not None:
        identity = replace(identity, reviewer_authenticated=False)
    return replace(request, document_identity=identity)


def stored_request(stored: StoredEvaluation) -> EvaluationRequest:
    """Return the request of a stored evaluation, to resume or replay it."""
    if stored.inputs is None:
        raise NotReplayableError(
            f"Only hashes of the evaluation {stored.id} are stored, so its texts are not available.",
            hint="Evaluate the text again.",
        )
    playbook = stored_playbook(stored.playbook)
    return copy_fields(EvaluationRequest, stored, report_id=stored.id, playbook=playbook, inputs=stored.inputs)


def runs_for(mode: Mode, playbook: Playbook, runs: int | None) -> int:
    """Return how often to ask each check: once in a screening, by default as often as the playbook says."""
    if mode is Mode.SCREENING:
        if runs not in (None, 1):
            raise UsageError(
                f"A screening asks each check once, not {runs} times.", hint="Use the mode full to ask more often."
            )
        return 1
    minimum = playbook.variance.min_runs
    if runs is not None and runs < minimum:
        raise UsageError(
            f"A full evaluation asks each check at least {minimum} times, not {runs}.",
            hint="For one quick run, which cannot be compared over time, choose the mode screening.",
        )
    return minimum if runs is None else runs


def producer_fingerprint(declared: str | None) -> ModelFingerprint:
    """Return what the user declared about the producer; everything else is unknown."""
    provider, slash, model = (declared or "").partition("/")
    return ModelFingerprint(
        declared_model_name=(model if slash else declared) or UNKNOWN,
        declared_model_version=UNKNOWN,
        provider=provider if slash else UNKNOWN,
        routing_or_mode=UNKNOWN,
        temperature=UNKNOWN,
        system_prompt_id=UNKNOWN,
    )
