import type { EvalResult } from "@/api/types";
import { LongText } from "@/components/LongText";
import { RawJson } from "@/components/RawJson";
import { VisibleText } from "@/components/VisibleText";
import { formatValue } from "@/lib/text";
import { AssertionBadge, outcomeTone } from "../Badges";
import { assertionLabel } from "./steps";

/** The result of an assertion, with expected and actual values if it did not pass. */
export function Assertion({ result, children }: { result: EvalResult; children?: React.ReactNode }) {
  const label = assertionLabel(result);
  const facts = [
    label === result.type ? "" : result.type,
    result.required ? "required" : "",
    `weight ${result.weight}`,
  ];
  const pending = result.cause === "judge_pending";
  const tone = outcomeTone(
    pending ? "pending" : result.passed === null ? "error" : result.passed ? "passed" : "failed",
  );
  return (
    <div
      data-tone={tone}
      className="min-w-0 rounded border border-rule border-l-(--tone) border-l-[0.4rem] bg-card px-3 py-2"
    >
      <p className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
        <AssertionBadge passed={result.passed} pending={pending} />
        <span className="min-w-0 font-semibold [overflow-wrap:anywhere]">
          <VisibleText>{label}</VisibleText>
        </span>
        <span className="text-sm text-soft [overflow-wrap:anywhere]">
          <VisibleText>{facts.filter(Boolean).join(", ")}</VisibleText>
        </span>
        {children}
      </p>
      {result.message ? (
        <div className="mt-1">
          <LongText text={result.message} label={`the message of ${label}`} mono={false} />
        </div>
      ) : null}
      {result.passed !== true && (result.expected !== null || result.actual !== null) ? (
        <dl className="mt-2 space-y-1">
          <ComparedValue name="Expected" value={result.expected} label={label} />
          <ComparedValue name="Actual" value={result.actual} label={label} />
        </dl>
      ) : null}
      {Object.keys(result.details).length || Object.keys(result.attachments).length ? (
        <div className="mt-2 text-sm">
          <RawJson value={{ details: result.details, attachments: result.attachments }} title="Details" />
        </div>
      ) : null}
    </div>
  );
}

function ComparedValue({ name, value, label }: { name: string; value: unknown; label: string }) {
  return (
    <div className="grid grid-cols-[5rem_minmax(0,1fr)] gap-x-2">
      <dt className="text-sm text-soft">{name}</dt>
      <dd>
        <LongText text={formatValue(value)} label={`${name.toLowerCase()} of ${label}`} />
      </dd>
    </div>
  );
}
