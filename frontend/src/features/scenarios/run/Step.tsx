import type { TrajectoryStep } from "@/api/types";
import { Folded } from "@/components/Folded";
import { Seen } from "@/components/Seen";
import { counted } from "@/lib/format";
import { readable } from "@/lib/text";
import { isThere, kindOf, measures } from "./steps";

/** A step's head: its number, what it is, and what it took. */
export function StepHead({ of }: { of: TrajectoryStep }) {
  return (
    <p className="flex flex-wrap items-baseline gap-x-2">
      <span className="text-soft text-sm tabular-nums">{of.number}</span>
      <span className="text-soft text-sm">{kindOf(of)}</span>
      <span
        className={`min-w-0 font-semibold [overflow-wrap:anywhere] ${of.kind === "tool" ? "font-mono text-[0.92rem]" : ""}`}
      >
        <Seen>{of.title}</Seen>
      </span>
      <span className="ml-auto whitespace-nowrap text-sm text-soft tabular-nums">{measures(of)}</span>
    </p>
  );
}

export function StepBody({ of }: { of: TrajectoryStep }) {
  const where = `step ${of.number}`;
  return (
    <div className="mt-2 space-y-2 empty:hidden">
      {of.text ? <Folded text={of.text} what={`the text of ${where}`} mono={false} /> : null}
      {isThere(of.arguments) ? <Part name="Arguments" of={of.arguments} where={where} /> : null}
      {of.error !== null ? <Fault of={of.error} where={where} /> : null}
      {isThere(of.result) ? (
        <Part
          name={of.kind === "end" ? "Output" : of.kind === "tool" ? "Result" : "Data"}
          of={of.result}
          where={where}
        />
      ) : null}
      {Object.entries(of.cut).map(([field, length]) => (
        <p key={field} className="text-sm text-soft">
          The {field} is cut short here; the whole has {counted(length, "character")}.
        </p>
      ))}
    </div>
  );
}

function Part({ name, of, where }: { name: string; of: unknown; where: string }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-x-3 sm:grid-cols-[5.5rem_minmax(0,1fr)]">
      <p className="text-sm text-soft">{name}</p>
      <Folded text={readable(of)} what={`the ${name.toLowerCase()} of ${where}`} />
    </div>
  );
}

function Fault({ of, where }: { of: string; where: string }) {
  return (
    <div
      data-tone="red"
      className="grid grid-cols-[minmax(0,1fr)] gap-x-3 text-(--tone) sm:grid-cols-[5.5rem_minmax(0,1fr)]"
    >
      <p className="text-sm">
        <span aria-hidden="true">✗ </span>Error
      </p>
      <Folded text={of} what={`the error of ${where}`} />
    </div>
  );
}
