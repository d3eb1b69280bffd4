/** Formats rates, costs and other figures of batches and runs. Pure. */
import type { Cost, Usage } from "@/api/types";
import { formatCount, formatMoney, formatSeconds, pluralize, UNKNOWN } from "@/lib/format";

/** Only a share of exactly 1 is formatted as 100%, and only 0 as 0%. The server formats rates beside a threshold. */
export function formatPercent(share: number | null | undefined): string {
  if (share == null) return UNKNOWN;
  const rounded = Math.round(share * 100);
  if (rounded === 100 && share < 1) return ">99%";
  return rounded === 0 && share > 0 ? "<1%" : `${rounded}%`;
}

/** Percentage points, signed. */
export function formatPoints(difference: number): string {
  const rounded = Math.round(Math.abs(difference) * 100);
  return `${difference < 0 && rounded ? "−" : rounded ? "+" : ""}${rounded}`;
}

/** At least two significant digits, however small the amount. */
export function formatDollars(amount: number | null | undefined): string {
  if (amount == null) return UNKNOWN;
  if (amount === 0 || amount >= 1) return formatMoney(amount);
  return `$${amount.toFixed(Math.max(3, 1 - Math.floor(Math.log10(amount))))}`;
}

/** A total, or its known part where the total is unknown. */
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

/** The change from A to B as a percentage of A. */
export function relativeChange(a: number | null, b: number | null): string {
  if (a === null || b === null || !a) return "";
  const percent = Math.round((b / a - 1) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent)}%`;
}

export function formatLatencies(p50: number | null | undefined, p95: number | null | undefined): string {
  return p50 == null || p95 == null ? UNKNOWN : `${formatSeconds(p50)} / ${formatSeconds(p95)}`;
}

/** The provider and the model; a custom adapter may name neither. */
export function modelName({ provider, model }: { provider: string; model: string }): string {
  return [provider, model].filter(Boolean).join("/");
}
