import type { RunHead, TrajectoryStep } from "@/api/types";
import { Assertion } from "./Assertion";
import { StepBody, StepHead } from "./Step";

/** A step, or another view of it, with the assertions about it beside it. Links to a step lead here. */
export function StepRow({ step, run, children }: { step: TrajectoryStep; run: RunHead; children?: React.ReactNode }) {
  const hasFailed = step.assertions.some((index) => run.eval_results[index]?.passed === false);
  return (
    <div
      id={`step-${step.number}`}
      tabIndex={-1}
      className="grid scroll-mt-4 grid-cols-[minmax(0,1fr)] items-start gap-3 xl:grid-cols-[minmax(0,1fr)_minmax(18rem,26rem)]"
    >
      {children ?? (
        <div className={`min-w-0 rounded border bg-card px-4 py-3 ${hasFailed ? "border-edge" : "border-rule"}`}>
          <StepHead step={step} />
          <StepBody step={step} />
        </div>
      )}
      {step.assertions.length ? (
        <ul className="space-y-2" aria-label={`Assertions on step ${step.number}`}>
          {step.assertions.map((index) => {
            const result = run.eval_results[index];
            return result ? (
              <li key={index}>
                <Assertion result={result} />
              </li>
            ) : null;
          })}
        </ul>
      ) : null}
    </div>
  );
}
