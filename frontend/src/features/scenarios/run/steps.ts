/** Labels of steps, and the assertions that belong to them. Pure. */

import type { EvalResult, Trajectory, TrajectoryStep } from "@/api/types";
import { formatCount, formatSeconds } from "@/lib/format";

const STEP_KIND_LABELS: Record<string, string> = {
  system: "System",
  message: "User",
  model: "Model",
  tool: "Tool call",
  event: "Event",
  end: "End",
};

export function stepKindLabel(step: TrajectoryStep): string {
  return STEP_KIND_LABELS[step.kind] ?? step.kind;
}

/** "1.2 s · 340 tokens", or "" if neither is known. */
export function describeMeasures({ took, tokens }: Pick<TrajectoryStep, "took" | "tokens">): string {
  return [took === null ? "" : formatSeconds(took), tokens === null ? "" : `${formatCount(tokens)} tokens`]
    .filter(Boolean)
    .join(" · ");
}

/** Whether a field of a step has a value. */
export function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined;
}

export interface PlacedAssertion {
  result: EvalResult;
  index: number;
  /** Null if the assertion is about the whole run. */
  step: number | null;
}

/** Every assertion with its step: failed ones first, otherwise in their original order. */
export function placeAssertions(results: readonly EvalResult[], trajectory: Trajectory): PlacedAssertion[] {
  const steps = new Map<number, number>();
  for (const step of trajectory.steps) for (const index of step.assertions) steps.set(index, step.number);
  return results
    .map((result, index) => ({ result, index, step: steps.get(index) ?? null }))
    .sort((a, b) => failedFirst(a.result) - failedFirst(b.result) || a.index - b.index);
}

function failedFirst({ passed }: EvalResult): number {
  return passed === false ? 0 : passed === null ? 1 : 2;
}

export function assertionLabel({ name, type }: Pick<EvalResult, "name" | "type">): string {
  return name || type;
}
