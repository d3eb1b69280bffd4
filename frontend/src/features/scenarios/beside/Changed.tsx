import { Fragment, useState } from "react";
import type { TrajectoryStep } from "@/api/types";
import { Button } from "@/components/Button";
import { Seen } from "@/components/Seen";
import { whole } from "@/lib/format";
import { type Marked, readable, sideBySide } from "@/lib/text";
import { isThere } from "../run/steps";

const FIELDS = ["text", "arguments", "error", "result"] as const;
const LINES = 30;
const LONGEST = 800;

interface Props {
  step: TrajectoryStep;
  other: TrajectoryStep;
  differs: readonly string[];
  side: string;
}

/** What differs from the other run's step, its lines marked; what is the same is only named. */
export function Changed({ step, other, differs, side }: Props) {
  return (
    <div className="mt-2 space-y-2">
      {FIELDS.map((field) => {
        if (!isThere(step[field]) && !isThere(other[field])) return null;
        if (!differs.includes(field)) {
          return isThere(step[field]) ? (
            <p key={field} className="text-sm text-soft">
              {field}: the same in both
            </p>
          ) : null;
        }
        return (
          <div key={field}>
            <p className="text-sm text-soft first-letter:uppercase">{field}</p>
            {isThere(step[field]) && step[field] !== "" ? (
              <Lines
                of={sideBySide(readable(step[field]), isThere(other[field]) ? readable(other[field]) : "")[0]}
                what={`the ${field} of step ${step.number} of ${side}`}
                mono={field !== "text"}
              />
            ) : (
              <p className="text-sm">none</p>
            )}
          </div>
        );
      })}
    </div>
  );
}

/** From shortly before the first line that is marked; long ones are cut until they are asked for. */
function Lines({ of, what, mono }: { of: readonly Marked[]; what: string; mono: boolean }) {
  const [all, setAll] = useState(false);
  const mark = of.findIndex(({ changed }) => changed);
  const from = all || of.length <= LINES ? 0 : Math.max(0, mark - 3);
  const shown = all ? of : of.slice(from, from + LINES);
  const cut = shown.length < of.length || (!all && shown.some(({ text }) => text.length > LONGEST));
  return (
    <>
      <div className={`foreign ${mono ? "font-mono text-[0.82rem] leading-normal" : ""}`}>
        {from ? <p className="text-soft">… {whole(from)} lines, the same in both</p> : null}
        {shown.map(({ text, changed }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text never change their order
          <Fragment key={index}>
            <Line text={all ? text : shortened(text)} changed={changed} />
            {"\n"}
          </Fragment>
        ))}
      </div>
      {cut || all ? (
        <Button
          look="quiet"
          className="px-1.5 py-0 text-sm"
          onClick={() => setAll(!all)}
          aria-label={`Show ${all ? "less" : "all"} of ${what}`}
        >
          {all ? "Show less" : "Show all"}
        </Button>
      ) : null}
    </>
  );
}

function Line({ text, changed }: { text: string; changed: boolean }) {
  if (!changed) return <Seen>{text}</Seen>;
  return (
    <mark className="rounded-xs bg-mark text-ink">
      <Seen>{text}</Seen>
    </mark>
  );
}

function shortened(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}
