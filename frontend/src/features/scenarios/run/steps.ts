/** Labels of steps, and the assertions that belong to them. Pure. */

import type { EvalResult, Trajectory, TrajectoryStep } from "@/api/types";
import { formatCount, formatSeconds } from "@/lib/format";

const STEP_KIND_LABELS: Record<string, string> = {
  system: "System",
  message: "User",
  model: "Model",
  tool: "Tool call",
  event: "Event",
  answer: "Agent",
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

/** A turn of a conversation: what the user said, what the agent did, and what it answered. */
export interface ConversationTurn {
  number: number;
  user: TrajectoryStep | null;
  work: TrajectoryStep[];
  answer: TrajectoryStep | null;
}

/** The turns, and the steps before and after them; no turns if the run is not a conversation. */
export function groupTurns(steps: readonly TrajectoryStep[]): {
  before: TrajectoryStep[];
  turns: ConversationTurn[];
  after: TrajectoryStep[];
} {
  const turns = new Map<number, ConversationTurn>();
  const before: TrajectoryStep[] = [];
  const after: TrajectoryStep[] = [];
  for (const step of steps) {
    if (step.turn === null) {
      (turns.size ? after : before).push(step);
      continue;
    }
    const turn = turns.get(step.turn) ?? { number: step.turn, user: null, work: [], answer: null };
    turns.set(step.turn, turn);
    if (step.kind === "message") turn.user = step;
    else if (step.kind === "answer") turn.answer = step;
    else turn.work.push(step);
  }
  return { before, turns: [...turns.values()], after };
}

export function withAssertions(step: TrajectoryStep): boolean {
  return step.assertions.length > 0;
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
