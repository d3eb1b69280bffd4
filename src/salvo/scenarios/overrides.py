"""What a command sets instead of a scenario's file, such as `--model` and `-n`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from salvo.engine.jsonio.pydantic_errors import validate
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.errors import InputError, UsageError
from salvo.scenarios.result import Batch
from salvo.scenarios.spec.schema import CERTAINTY_ERROR, Scenario

T = TypeVar("T")


def read_settings(kind: type[T], values: Any, batch: Batch, prefix: str = "") -> T:
    """Return settings as they are stored with a batch. `prefix` says where among them, for the message of an error."""
    try:
        return type_adapter(kind).validate_python(values)
    except ValidationError as error:
        where, what = first_error(error)
        raise InputError(
            f"The stored settings of the batch {batch.batch_id} are not valid at {prefix}{where}: {what}."
        ) from error


@dataclass(frozen=True)
class ScenarioOverrides:
    """What a command sets instead of the scenario's file; None leaves it to the file."""

    runs: int | None = None
    model: str | None = None
    adapter: str | None = None
    threshold: float | None = None
    min_pass_rate: float | None = None
    confidence: float | None = None
    seed: int | None = None
    timeout: float | None = None

    @classmethod
    def from_batch(cls, batch: Batch) -> ScenarioOverrides:
        """Return what the command of a batch set."""
        return read_settings(cls, batch.settings.get("overrides", {}), batch, "overrides.")

    @property
    def values(self) -> dict[str, Any]:
        """Return the fields that are set."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def apply(self, scenario: Scenario) -> Scenario:
        values = self.values
        if not values:
            return scenario
        if scenario.cell is not None and (names := [name for name in values if name in scenario.cell.parameters]):
            raise UsageError(
                f"{scenario.cell.suite}: its matrix sets the {names[0]}, so --{names[0].replace('_', '-')} cannot.",
                hint="Select cells with -k, or leave out the option. Nothing was run, and nothing was spent.",
            )
        fields = {**scenario.model_dump(), **values}
        if fields["confidence"] is not None and fields["min_pass_rate"] == 1:
            raise UsageError(
                f"{scenario.scenario}: --confidence cannot be used, because {CERTAINTY_ERROR}.",
                hint="Set min_pass_rate in the scenario, or --min-pass-rate. Nothing was run, and nothing was spent.",
            )
        changed, errors = validate(Scenario, fields)
        if changed is None:
            options = "; ".join(f"--{str(error.path[0]).replace('_', '-')} {error.message}" for error in errors)
            raise UsageError(f"{options}.", hint="Nothing was run, and nothing was spent.")
        return changed.with_cell(scenario.cell)
