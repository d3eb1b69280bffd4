import type { TrajectoryStep } from "@/api/types";
import { LongText } from "@/components/LongText";
import { VisibleText } from "@/components/VisibleText";
import { pluralize } from "@/lib/format";
import { formatValue } from "@/lib/text";
import { describeMeasures, isPresent, stepKindLabel } from "./steps";

/** The header of a step: number, kind, title and measures. */
export function StepHead({ step }: { step: TrajectoryStep }) {
  return (
    <p className="flex flex-wrap items-baseline gap-x-2">
      <span className="text-soft text-sm tabular-nums">{step.number}</span>
      <span className="text-soft text-sm">{stepKindLabel(step)}</span>
      <span
        className={`min-w-0 font-semibold [overflow-wrap:anywhere] ${step.kind === "tool" ? "font-mono text-[0.92rem]" : ""}`}
      >
        <VisibleText>{step.title}</VisibleText>
      </span>
      <span className="ml-auto whitespace-nowrap text-sm text-soft tabular-nums">{describeMeasures(step)}</span>
    </p>
  );
}

export function StepBody({ step }: { step: TrajectoryStep }) {
  const stepName = `step ${step.number}`;
  return (
    <div className="mt-2 space-y-2 empty:hidden">
      {step.text ? <LongText text={step.text} label={`the text of ${stepName}`} mono={false} /> : null}
      {isPresent(step.arguments) ? <StepField name="Arguments" value={step.arguments} stepName={stepName} /> : null}
      {step.error !== null ? <StepError message={step.error} stepName={stepName} /> : null}
      {isPresent(step.result) ? (
        <StepField
          name={step.kind === "end" ? "Output" : step.kind === "tool" ? "Result" : "Data"}
          value={step.result}
          stepName={stepName}
        />
      ) : null}
      {Object.entries(step.cut).map(([field, length]) => (
        <p key={field} className="text-sm text-soft">
          The {field} is truncated here; it has {pluralize(length, "character")} in total.
        </p>
      ))}
    </div>
  );
}

function StepField({ name, value, stepName }: { name: string; value: unknown; stepName: string }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-x-3 sm:grid-cols-[5.5rem_minmax(0,1fr)]">
      <p className="text-sm text-soft">{name}</p>
      <LongText text={formatValue(value)} label={`the ${name.toLowerCase()} of ${stepName}`} />
    </div>
  );
}

function StepError({ message, stepName }: { message: string; stepName: string }) {
  return (
    <div
      data-tone="red"
      className="grid grid-cols-[minmax(0,1fr)] gap-x-3 text-(--tone) sm:grid-cols-[5.5rem_minmax(0,1fr)]"
    >
      <p className="text-sm">
        <span aria-hidden="true">✗ </span>Error
      </p>
      <LongText text={message} label={`the error of ${stepName}`} />
    </div>
  );
}
