/** Labels and sentences about batches and runs. Pure. */
import type { BatchDetail, FailureGroup, IndexEntry, Outcome, RunGroup, RunHead } from "@/api/types";
import { formatCount, pluralize } from "@/lib/format";

/** The labels of causes, sent with a batch. */
export type CauseLabels = BatchDetail["cause_labels"];

/** Why runs failed. */
export function describeFailure(
  { cause, assertions }: Pick<FailureGroup, "cause" | "assertions">,
  causes: CauseLabels,
): string {
  const labels = assertions.join(", ");
  if (cause !== null && cause !== "assertion") {
    return `the agent ${causes[cause]}${labels ? `; ${labels} failed` : ""}`;
  }
  return labels ? `${labels} failed` : "the score is below the threshold";
}

/** Why runs have no result. */
export function describeReason({ cause, message }: Pick<RunGroup, "cause" | "message">, causes: CauseLabels): string {
  return [cause && causes[cause], message].filter(Boolean).join(": ") || "reason unknown";
}

/** Why a run in a list did not pass: its cause, then the assertions. */
export function describeNotPassed(
  entry: Pick<IndexEntry, "outcome" | "cause" | "assertions" | "error">,
  causes: CauseLabels,
): string {
  if (entry.outcome === "passed") return "";
  const failed = entry.assertions.filter(({ passed }) => passed === false).map(({ label }) => label);
  const unjudged = entry.assertions.filter(({ passed }) => passed === null).map(({ label }) => label);
  return [
    entry.cause && entry.cause !== "assertion" ? causes[entry.cause] : "",
    failed.join(", "),
    unjudged.length ? `not judged: ${unjudged.join(", ")}` : "",
    entry.outcome === "failed" ? "" : (entry.error ?? ""),
  ]
    .filter(Boolean)
    .join("; ");
}

/** The outcome of a run, as a sentence. */
export function outcomeSentence(run: Pick<RunHead, "outcome" | "cause" | "cause_label" | "eval_results">): string {
  if (run.outcome === "passed") return "The score reaches the threshold and no required assertion failed.";
  if (run.outcome === "pending")
    return "Neither passed nor failed yet: its judges’ votes wait for the provider’s batch.";
  if (run.outcome !== "failed") {
    return `Not counted against the agent: ${run.cause_label || "it could not be judged"}.`;
  }
  if (run.cause !== null && run.cause !== "assertion") return `The agent ${run.cause_label}.`;
  const failed = run.eval_results.filter(({ passed }) => passed === false).map(({ name, type }) => name || type);
  return failed.length ? `Failed: ${failed.join(", ")}.` : "The score is below the threshold.";
}

export const OUTCOMES: readonly Outcome[] = ["passed", "failed", "error", "pending", "not_run", "interrupted"];

/** The outcome in words: "not run". */
export function outcomeLabel(outcome: Outcome): string {
  return outcome.replace("_", " ");
}

/** How many of all runs were completed, and what happened to the others: "8 of 10", "1 error", "1 not run". */
export function completionCounts(batch: {
  runs: number;
  completed: number;
  errors: number;
  pending: number;
}): string[] {
  const skipped = batch.runs - batch.completed - batch.errors - batch.pending;
  return [
    `${formatCount(batch.completed)} of ${formatCount(batch.runs)}`,
    batch.errors ? pluralize(batch.errors, "error") : "",
    batch.pending ? `${formatCount(batch.pending)} waiting for judges` : "",
    skipped > 0 ? `${formatCount(skipped)} not run` : "",
  ].filter(Boolean);
}
