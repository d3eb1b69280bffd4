import type { EvalResult } from "@/api/types";
import { Folded } from "@/components/Folded";
import { RawJson } from "@/components/Raw";
import { Seen } from "@/components/Seen";
import { readable } from "@/lib/text";
import { JudgedBadge, outcomeTone } from "../Marks";
import { labelOf } from "./steps";

/** What an assertion came to; where it did not pass, with everything that tells why. */
export function Assertion({ of, children }: { of: EvalResult; children?: React.ReactNode }) {
  const label = labelOf(of);
  const facts = [label === of.type ? "" : of.type, of.required ? "required" : "", `weight ${of.weight}`];
  const tone = outcomeTone(of.passed === null ? "error" : of.passed ? "passed" : "failed");
  return (
    <div
      data-tone={tone}
      className="min-w-0 rounded border border-rule border-l-(--tone) border-l-[0.4rem] bg-card px-3 py-2"
    >
      <p className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
        <JudgedBadge passed={of.passed} />
        <span className="min-w-0 font-semibold [overflow-wrap:anywhere]">
          <Seen>{label}</Seen>
        </span>
        <span className="text-sm text-soft [overflow-wrap:anywhere]">
          <Seen>{facts.filter(Boolean).join(", ")}</Seen>
        </span>
        {children}
      </p>
      {of.message ? (
        <div className="mt-1">
          <Folded text={of.message} what={`the message of ${label}`} mono={false} />
        </div>
      ) : null}
      {of.passed !== true && (of.expected !== null || of.actual !== null) ? (
        <dl className="mt-2 space-y-1">
          <Compared name="Expected" of={of.expected} label={label} />
          <Compared name="Actual" of={of.actual} label={label} />
        </dl>
      ) : null}
      {Object.keys(of.details).length || Object.keys(of.attachments).length ? (
        <div className="mt-2 text-sm">
          <RawJson of={{ details: of.details, attachments: of.attachments }} title="Details" />
        </div>
      ) : null}
    </div>
  );
}

function Compared({ name, of, label }: { name: string; of: unknown; label: string }) {
  return (
    <div className="grid grid-cols-[5rem_minmax(0,1fr)] gap-x-2">
      <dt className="text-sm text-soft">{name}</dt>
      <dd>
        <Folded text={readable(of)} what={`${name.toLowerCase()} of ${label}`} />
      </dd>
    </div>
  );
}
