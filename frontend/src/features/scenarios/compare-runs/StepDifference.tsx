import { Fragment, useState } from "react";
import type { TrajectoryStep } from "@/api/types";
import { Button } from "@/components/Button";
import { VisibleText } from "@/components/VisibleText";
import { formatCount } from "@/lib/format";
import { type DiffLine, diffLines, formatValue } from "@/lib/text";
import { isPresent } from "../run/steps";

const FIELDS = ["text", "arguments", "error", "result"] as const;
const PREVIEW_LINES = 30;
const MAX_LINE_LENGTH = 800;

interface Props {
  step: TrajectoryStep;
  other: TrajectoryStep;
  differs: readonly string[];
  side: string;
}

/** The fields that differ from the other run's step, with changed lines marked; equal fields are only named. */
export function StepDifference({ step, other, differs, side }: Props) {
  return (
    <div className="mt-2 space-y-2">
      {FIELDS.map((field) => {
        if (!isPresent(step[field]) && !isPresent(other[field])) return null;
        if (!differs.includes(field)) {
          return isPresent(step[field]) ? (
            <p key={field} className="text-sm text-soft">
              {field}: identical
            </p>
          ) : null;
        }
        return (
          <div key={field}>
            <p className="text-sm text-soft first-letter:uppercase">{field}</p>
            {isPresent(step[field]) && step[field] !== "" ? (
              <DiffText
                lines={diffLines(formatValue(step[field]), isPresent(other[field]) ? formatValue(other[field]) : "")[0]}
                label={`the ${field} of step ${step.number} of ${side}`}
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

/** The lines from shortly before the first change. Long lines and texts are truncated until expanded. */
function DiffText({ lines, label, mono }: { lines: readonly DiffLine[]; label: string; mono: boolean }) {
  const [showAll, setShowAll] = useState(false);
  const firstChange = lines.findIndex(({ changed }) => changed);
  const from = showAll || lines.length <= PREVIEW_LINES ? 0 : Math.max(0, firstChange - 3);
  const visible = showAll ? lines : lines.slice(from, from + PREVIEW_LINES);
  const isTruncated =
    visible.length < lines.length || (!showAll && visible.some(({ text }) => text.length > MAX_LINE_LENGTH));
  return (
    <>
      <div className={`foreign ${mono ? "font-mono text-[0.82rem] leading-normal" : ""}`}>
        {from ? <p className="text-soft">… {formatCount(from)} identical lines</p> : null}
        {visible.map(({ text, changed }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text never change their order
          <Fragment key={index}>
            <DiffTextLine text={showAll ? text : truncateLine(text)} changed={changed} />
            {"\n"}
          </Fragment>
        ))}
      </div>
      {isTruncated || showAll ? (
        <Button
          variant="text"
          className="px-1.5 py-0 text-sm"
          onClick={() => setShowAll(!showAll)}
          aria-label={`Show ${showAll ? "less" : "all"} of ${label}`}
        >
          {showAll ? "Show less" : "Show all"}
        </Button>
      ) : null}
    </>
  );
}

function DiffTextLine({ text, changed }: { text: string; changed: boolean }) {
  if (!changed) return <VisibleText>{text}</VisibleText>;
  return (
    <mark className="rounded-xs bg-mark text-ink">
      <VisibleText>{text}</VisibleText>
    </mark>
  );
}

function truncateLine(text: string): string {
  return text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH)} …` : text;
}
