/** What batches and runs come to, in the words that the terminal uses too. */
import type {
  Cause,
  Cost,
  FailureGroup,
  IndexEntry,
  Interval,
  Outcome,
  RunGroup,
  RunHead,
  Usage,
  Verdict,
} from "@/api/types";
import { formatCount, formatMoney, formatSeconds, pluralize, UNKNOWN } from "@/lib/format";

export const VERDICT_MEANINGS: Record<Verdict, string> = {
  passed: "The pass rate asked for is reached.",
  failed: "The pass rate asked for is not reached.",
  error: "Nothing is known about the agent.",
  open: "Runs that were not made could still decide it.",
  inconclusive: "These runs cannot show whether the pass rate asked for holds.",
};

const CAUSE_LABELS: Record<Cause, string> = {
  assertion: "an assertion failed",
  turn_limit: "reached the turn limit",
  timeout: "ran out of time",
  refusal: "refused to go on",
  length: "was cut off by the limit on tokens",
  context: "filled the model’s context",
  exit: "ended by an error of its own",
  provider: "the provider failed",
  adapter: "the adapter failed",
  judge: "the judge failed",
  evaluator: "an evaluator failed",
  price_unknown: "price unknown",
  store: "it could not be stored",
  budget: "the budget was spent",
  stop_first: "an earlier run failed, and that ended it",
  interrupted: "interrupted",
};

function describeCause(cause: Cause | null): string {
  return cause === null ? "" : CAUSE_LABELS[cause];
}

/** A share that is not the whole never reads 100%, nor one that is something 0%. */
export function formatPercent(share: number | null | undefined): string {
  if (share == null) return UNKNOWN;
  const rounded = Math.round(share * 100);
  if (rounded === 100 && share < 1) return ">99%";
  return rounded === 0 && share > 0 ? "<1%" : `${rounded}%`;
}

/** Rounded outwards: an interval never claims more than it shows. */
export function formatInterval([low, high]: Interval): string {
  return `${Math.floor(low * 100)}% to ${Math.ceil(high * 100)}%`;
}

/** In percentage points, with its sign. */
export function formatPoints(difference: number): string {
  const rounded = Math.round(Math.abs(difference) * 100);
  return `${difference < 0 && rounded ? "−" : rounded ? "+" : ""}${rounded}`;
}

/** Two digits that say something, however cheap the model is. */
export function formatDollars(amount: number | null | undefined): string {
  if (amount == null) return UNKNOWN;
  if (amount === 0 || amount >= 1) return formatMoney(amount);
  return `$${amount.toFixed(Math.max(3, 1 - Math.floor(Math.log10(amount))))}`;
}

/** What is known of a sum, and that it is not all. */
export function formatSpending(total: number | null, atLeast: number): string {
  if (total !== null) return formatDollars(total);
  return atLeast ? `at least ${formatDollars(atLeast)}` : UNKNOWN;
}

export function describeCost(cost: Cost): string {
  const suffix = cost.unknown && cost.at_least ? ` (unknown for ${pluralize(cost.unknown, "run")})` : "";
  return formatSpending(cost.total, cost.at_least) + suffix;
}

export function formatTokens(tokens: Usage | null): string {
  if (!tokens) return UNKNOWN;
  return [
    `${formatCount(tokens.input)} in`,
    tokens.cache_read ? `${formatCount(tokens.cache_read)} read from the cache` : "",
    tokens.cache_write ? `${formatCount(tokens.cache_write)} written to the cache` : "",
    `${formatCount(tokens.output)} out`,
  ]
    .filter(Boolean)
    .join(", ");
}

export function formatPValue(p: number | null): string {
  if (p === null) return UNKNOWN;
  if (p < 0.001) return "< 0.001";
  return p < 0.01 ? p.toFixed(3) : p.toFixed(2);
}

/** An adapter of the user's own has no model to name. */
export function modelName({ provider, model }: { provider: string; model: string }): string {
  return [provider, model].filter(Boolean).join("/");
}

/** What changed from A to B, as a share of A. */
export function relativeChange(a: number | null, b: number | null): string {
  if (a === null || b === null || !a) return "";
  const percent = Math.round((b / a - 1) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent)}%`;
}

/** What runs failed by. */
export function describeFailure({ cause, assertions }: Pick<FailureGroup, "cause" | "assertions">): string {
  const labels = assertions.join(", ");
  if (cause !== null && cause !== "assertion") {
    return `the agent ${describeCause(cause)}${labels ? `; ${labels} failed` : ""}`;
  }
  return labels ? `${labels} failed` : "the score is below the threshold";
}

/** Why runs came to no result. */
export function describeReason({ cause, message }: Pick<RunGroup, "cause" | "message">): string {
  return [describeCause(cause), message].filter(Boolean).join(": ") || "no reason is known";
}

/** What a run in a list did not pass by: its cause, then the assertions. */
export function describeNotPassed(entry: Pick<IndexEntry, "outcome" | "cause" | "assertions" | "error">): string {
  if (entry.outcome === "passed") return "";
  const failed = entry.assertions.filter(({ passed }) => passed === false).map(({ label }) => label);
  const unjudged = entry.assertions.filter(({ passed }) => passed === null).map(({ label }) => label);
  return [
    entry.cause && entry.cause !== "assertion" ? describeCause(entry.cause) : "",
    failed.join(", "),
    unjudged.length ? `not judged: ${unjudged.join(", ")}` : "",
    entry.outcome === "failed" ? "" : (entry.error ?? ""),
  ]
    .filter(Boolean)
    .join("; ");
}

/** What a run came to, in a sentence. */
export function outcomeSentence(run: Pick<RunHead, "outcome" | "cause" | "eval_results">): string {
  if (run.outcome === "passed") return "The score reaches the threshold, and nothing required failed.";
  if (run.outcome !== "failed") {
    return `Not counted against the agent: ${describeCause(run.cause) || "it could not be judged"}.`;
  }
  if (run.cause !== null && run.cause !== "assertion") return `The agent ${describeCause(run.cause)}.`;
  const failed = run.eval_results.filter(({ passed }) => passed === false).map(({ name, type }) => name || type);
  return failed.length ? `Failed by ${failed.join(", ")}.` : "The score is below the threshold.";
}

export const OUTCOME_LABELS: Record<Outcome, string> = {
  passed: "passed",
  failed: "failed",
  error: "error",
  not_run: "not run",
  interrupted: "interrupted",
};

/** "8 of 10", "1 error", "1 not made": of all runs, how many were completed, and what of the others. */
export function completionCounts(batch: { runs: number; completed: number; errors: number }): string[] {
  const skipped = batch.runs - batch.completed - batch.errors;
  return [
    `${formatCount(batch.completed)} of ${formatCount(batch.runs)}`,
    batch.errors ? pluralize(batch.errors, "error") : "",
    skipped > 0 ? `${formatCount(skipped)} not made` : "",
  ].filter(Boolean);
}

export function formatLatencies(p50: number | null | undefined, p95: number | null | undefined): string {
  return p50 == null || p95 == null ? UNKNOWN : `${formatSeconds(p50)} / ${formatSeconds(p95)}`;
}

export const REPLAY_LABELS = {
  full: "Replays in full, without network, tools or keys.",
  "model-only": "The model’s answers replay; the program’s own tools run again.",
  "frozen-tools": "The agent runs again, with the recorded tools.",
  no: "Cannot be replayed.",
};
