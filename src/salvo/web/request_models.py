"""What a request may ask for, read into the program's own values."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from salvo.errors import InputError, MissingKeyError, UsageError
from salvo.playbooks.enums import Mode
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.judges import rules_judge
from salvo.playbooks.evaluate.request import DEFAULT_SUBJECT, EvaluationRequest, new_request
from salvo.playbooks.evaluate.session import EvaluatorConfig
from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.schema import Playbook
from salvo.playbooks.playbook.validate import playbook as validated
from salvo.playbooks.playbook.validate import read
from salvo.web.settings import Settings

LONGEST_NAME = 500
MOST_RUNS = 25


def _any_text(value: Any) -> str:
    """Any text at all: also with half characters in it, which are evidence, and which the usual check refuses."""
    if not isinstance(value, str):
        raise ValueError("Input should be a text")  # noqa: TRY004 - pydantic makes a sentence of a ValueError only
    return value


Text = Annotated[str, PlainValidator(_any_text), WithJsonSchema({"type": "string"})]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


class EvaluationCreate(BaseModel):
    """An evaluation as somebody asks for it."""

    model_config = ConfigDict(
        extra="forbid",
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
    playbook_id: Name = Field(library.STARTER, description="A playbook of the library.")
    playbook: dict[str, Any] | Text | None = Field(
        None, description="A playbook of your own, instead of one of the library: its document, or its file's text."
    )
    mode: Mode = Mode.FULL
    runs: int | None = Field(None, ge=1, le=MOST_RUNS, description="How often each check is judged, in full mode.")
    evaluator: Name = Field(rules_judge.NAME, description='"rules", or a model such as "anthropic/claude-sonnet-4-6".')
    base_url: Name | None = Field(None, description="Another address for the model; one that the server was allowed.")
    subject: Name = Field(DEFAULT_SUBJECT, description="The series that this text belongs to.")
    producer: Name | None = Field(None, description="The AI that wrote the text, as provider/model or any name.")
    hashes_only: bool = Field(False, description="Store fingerprints and verdicts, and none of the texts.")
    client_token: Name | None = Field(None, description="Asked twice with the same token, it is evaluated once.")

    def order(self, desk: EvaluatorConfig) -> EvaluationRequest:
        """Blocks: texts may be long."""
        return new_request(
            report_id=desk.clock.new_id(),
            playbook=self.chosen_playbook(),
            inputs=Inputs.of(self.ai_output, self.source_document, self.prompt, self.system_instructions),
            evaluator=desk.name,
            mode=self.mode,
            runs=self.runs,
            subject=self.subject,
            producer=self.producer,
        )

    def chosen_playbook(self) -> Playbook:
        if self.playbook is None:
            return library.load(self.playbook_id)
        if isinstance(self.playbook, str):
            return read(self.playbook.encode("utf-8", "surrogatepass"), "The playbook")
        return validated(self.playbook, "The playbook")


class EvaluationResume(BaseModel):
    """The rest of an evaluation; its key is given again."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}]})

    base_url: Name | None = Field(None, description="Another address for the model; one that the server was allowed.")


def desk_for(evaluator: str, base_url: str | None, key: str | None, settings: Settings) -> EvaluatorConfig:
    """With the key of the request and no other: the server reads none from its environment."""
    by_model = evaluator != rules_judge.NAME
    if base_url and not by_model:
        raise UsageError("The rules call nobody, so they take no base URL.", hint="Name a model as evaluator.")
    return EvaluatorConfig(
        evaluator,
        environ={},
        base_url=settings.base_url(base_url),
        key=_usable(key) if by_model else None,
        clock=settings.clock,
    )


def check_key(desk: EvaluatorConfig) -> None:
    endpoint = desk.endpoint
    if endpoint is not None and endpoint.key_variable and not endpoint.key:
        raise MissingKeyError(
            f"There is no API key for {desk.name}, so nothing was sent.",
            hint="Give it in the header X-API-Key, or use the evaluator rules, which needs none.",
        )


def _usable(key: str | None) -> str | None:
    if key and not (key.isascii() and key.isprintable() and " " not in key.strip()):
        raise InputError("The API key has characters that no key has.", hint="Copy it again, without anything around.")
    return key
