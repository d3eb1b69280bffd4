"""The bodies of requests about evaluations, and the parameters that many routes have."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from salvo.engine.chat import catalog
from salvo.errors import InputError, MissingKeyError, UsageError
from salvo.playbooks.enums import Mode
from salvo.playbooks.evaluate.inputs import NAMES, Inputs, key_warnings
from salvo.playbooks.evaluate.judges import rules_judge
from salvo.playbooks.evaluate.request import DEFAULT_SUBJECT, EvaluationRequest, new_request
from salvo.playbooks.evaluate.session import MAX_TIMEOUT, EvaluatorConfig, split_evaluator
from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.playbook.validate import playbook as validated
from salvo.playbooks.playbook.validate import read, stored_playbook
from salvo.playbooks.store.records import StoredEvaluation
from salvo.playbooks.store.saved_playbooks import SavedPlaybooks
from salvo.web.read_files import ReadFiles
from salvo.web.settings import Settings

MAX_NAME_LENGTH = 500
MAX_RUNS = 25


def _any_text(value: Any) -> str:
    """Accept lone surrogates as well, which pydantic refuses: they are evidence in a text."""
    if not isinstance(value, str):
        raise ValueError("Input should be a text")  # noqa: TRY004 - pydantic reports a ValueError, not a TypeError
    return value


Text = Annotated[str, PlainValidator(_any_text), WithJsonSchema({"type": "string"})]
Seconds = Annotated[float, Field(gt=0, le=MAX_TIMEOUT, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]
NameQuery = Annotated[str, Query(max_length=MAX_NAME_LENGTH)]
Limit = Annotated[int, Query(ge=1, le=200)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]


class RequestModel(BaseModel):
    """The body of a request. Other fields than its own are refused."""

    model_config = ConfigDict(extra="forbid")


class EvaluationCreate(RequestModel):
    """A new evaluation."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "ai_output": "The clause is compliant. No further review is needed.",
                    "source_document": "7. Liability is limited to the fees paid in the last twelve months.",
                    "prompt": "Is the liability clause acceptable?",
                    "mode": "full",
                    "evaluator": "rules",
                    "subject": "contract reviews",
                    "client_token": "7d1f0f8e",
                }
            ]
        },
    )

    ai_output: Text = Field(description="The frozen text that the AI wrote.")
    source_document: Text | None = Field(None, description="The document that the AI was asked about.")
    prompt: Text | None = Field(None, description="The prompt that the AI was given.")
    system_instructions: Text | None = Field(None, description="The system instructions that the AI had.")
    file_hashes: dict[Literal["ai_output", "source_document", "prompt", "system_instructions"], Name] = Field(
        {},
        description="The sha256 of the file that a text was read from, as /api/documents returned it. The report "
        "has it if this server has read that file and the text is unchanged; otherwise it has the text's hash.",
    )
    playbook_id: Name = Field(library.STARTER, description="The id of a playbook in the library, or of a saved one.")
    playbook_number: int | None = Field(
        None, ge=1, description="The number of a saved version of it. By default the newest is used."
    )
    playbook: dict[str, Any] | Text | None = Field(
        None, description="Your own playbook instead of one in the library: the document, or the text of the file."
    )
    mode: Mode = Mode.FULL
    runs: int | None = Field(None, ge=1, le=MAX_RUNS, description="How many times each check is judged in full mode.")
    evaluator: Name = Field(rules_judge.NAME, description='"rules", or a model such as "anthropic/claude-sonnet-4-6".')
    base_url: Name | None = Field(None, description="Another address for the model, which the server must allow.")
    timeout: Seconds | None = Field(
        None, description="How many seconds one call may take; it is then not repeated. By default 300, with retries."
    )
    subject: Name = Field(DEFAULT_SUBJECT, description="The series that this text belongs to.")
    producer: Name | None = Field(None, description="The AI that wrote the text, as provider/model or any name.")
    title: Name | None = Field(None, description="What the document is called, as it stands in the head of the report.")
    reviewer: Name | None = Field(
        None, description="Who asks for the evaluation, as it stands in the report. If a user is logged in, their name."
    )
    hashes_only: bool = Field(False, description="Store hashes and verdicts, but no texts.")
    batch_id: Name | None = Field(None, description="The batch of documents that it belongs to, if it does.")
    client_token: Name | None = Field(None, description="Requests with the same token start one evaluation.")

    def to_request(
        self, config: EvaluatorConfig, read_files: ReadFiles, saved_playbooks: SavedPlaybooks
    ) -> EvaluationRequest:
        """Return the request for the runner. Blocks, because texts may be long."""
        files = read_files.confirmed(self.file_hashes.items(), self._texts())
        return new_request(
            report_id=config.clock.new_id(),
            playbook=self.chosen_playbook(saved_playbooks),
            inputs=Inputs.from_texts(
                self.ai_output,
                self.source_document,
                self.prompt,
                self.system_instructions,
                files=files,
            ),
            evaluator=config.name,
            mode=self.mode,
            runs=self.runs,
            subject=self.subject,
            producer=self.producer,
            title=self.title,
            reviewer=self.reviewer,
            file=files.get("ai_output"),
        )

    def key_warnings(self) -> tuple[str, ...]:
        """Return a warning for each text that seems to contain a credential. Blocks, because texts may be long."""
        return key_warnings(self._texts())

    def _texts(self) -> dict[str, str | None]:
        return {name: getattr(self, name) for name in NAMES}

    def chosen_playbook(self, saved_playbooks: SavedPlaybooks) -> Playbook:
        if self.playbook is None:
            if self.playbook_id in library.names() or not saved_playbooks.versions(self.playbook_id):
                return library.load(self.playbook_id)
            return stored_playbook(saved_playbooks.load(self.playbook_id, self.playbook_number).document)
        if isinstance(self.playbook, str):
            return read(self.playbook.encode("utf-8", "surrogatepass"), "The playbook")
        return validated(self.playbook, "The playbook")


class EvaluationResume(RequestModel, json_schema_extra={"examples": [{}]}):
    """The continuation of an evaluation. The API key must be sent again."""

    base_url: Name | None = Field(None, description="Another address for the model, which the server must allow.")
    timeout: Seconds | None = Field(None, description="How many seconds one call may take, if not as before.")


def evaluator_config(
    evaluator: str, base_url: str | None, key: str | None, settings: Settings, *, timeout: float | None = None
) -> EvaluatorConfig:
    """Return the configuration with the request's key, or with one that the server lends."""
    if split_evaluator(evaluator)[1] is not None:
        raise UsageError("The name of the evaluator contains an address.", hint="Give the address as the base URL.")
    is_model = evaluator != rules_judge.NAME
    if base_url and not is_model:
        raise UsageError("The rules send nothing, so they take no base URL.", hint="Name a model as evaluator.")
    if is_model and key and not (key.isascii() and key.isprintable() and " " not in key.strip()):
        raise InputError("The API key contains invalid characters.", hint="Copy it again, without spaces or quotes.")
    return EvaluatorConfig(
        evaluator,
        environ=settings.environ,
        base_url=settings.allowed_base_url(base_url),
        timeout=timeout,
        key=key if is_model else None,
        clock=settings.clock,
    )


def stored_config(settings: Settings, stored: StoredEvaluation) -> EvaluatorConfig:
    """Return the configuration of an evaluation that any server can run. Its texts go where they went before."""
    base_url, timeout = stored.settings.get("base_url"), stored.settings.get("timeout")
    config = evaluator_config(stored.evaluator, base_url, None, settings, timeout=timeout)
    check_key(config)
    return config


def needs_key(evaluator: str, settings: Settings) -> bool:
    """Return whether the key of an evaluator must be typed."""
    if evaluator == rules_judge.NAME:
        return False
    try:
        provider, _ = catalog.find(evaluator)
    except UsageError:  # a model that another version of Salvo knew
        return True
    return not settings.environ.get(provider.key_variable)


def check_key(config: EvaluatorConfig) -> None:
    endpoint = config.endpoint
    if endpoint is not None and endpoint.key_variable and not endpoint.key:
        raise MissingKeyError(
            f"There is no API key for {config.name}, so nothing was sent.",
            hint="Send it in the X-API-Key header, or use the evaluator rules, which needs no key.",
        )
