import type { CheckResult, RawRun, ReportLabels } from "@/api/types";
import { Badge, Label } from "@/components/Badge";
import { VisibleText } from "@/components/VisibleText";
import { formatSeconds } from "@/lib/format";
import { EvaluatorNote } from "./EvaluatorNote";

/** The votes of each check whose agreement means something: not one run, nor rules that agree with themselves. */
export function Votes({ checks, labels }: { checks: readonly CheckResult[]; labels: ReportLabels }) {
  const repeated = checks.filter((check) => labels.checks[check.check_id]?.shows_votes);
  if (!repeated.length) return <p className="text-soft">There are no votes to compare.</p>;
  return (
    <dl className="space-y-3">
      {repeated.map((check) => (
        <div key={check.check_id} data-votes={check.check_id}>
          <dt className="font-semibold">
            <VisibleText>{labels.checks[check.check_id]?.title ?? check.check_id}</VisibleText>
          </dt>
          <dd>
            <ul className="mt-1 flex flex-wrap gap-2">
              {check.raw_runs.map((run) => (
                <li key={run.run} className="rounded bg-well px-2.5 py-1 text-sm">
                  <Vote run={run} />
                </li>
              ))}
            </ul>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Vote({ run }: { run: RawRun }) {
  return (
    <>
      <span className="font-semibold">Run {run.run}:</span>{" "}
      {run.valid ? (
        <>
          <Badge value={run.result} /> <VisibleText>{describeRun(run)}</VisibleText>
          {run.unsupported ? (
            <>
              {" "}
              <Label tone="plain">not counted</Label> {run.unsupported}
            </>
          ) : null}
        </>
      ) : (
        <>
          <Label tone="plain">no vote</Label>{" "}
          <EvaluatorNote>{run.problem || run.notes || "no usable answer"}</EvaluatorNote>
        </>
      )}
    </>
  );
}

function describeRun(run: RawRun): string {
  return [run.rule ? `rule ${run.rule}` : "", run.model ?? "", run.seconds === null ? "" : formatSeconds(run.seconds)]
    .filter(Boolean)
    .join(", ");
}
