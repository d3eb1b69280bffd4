/** Formats numbers and times for reading. An unknown value is "unknown", never 0. */

export const UNKNOWN = "unknown";
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const NUMBER = new Intl.NumberFormat("en");

export function formatTime(stamp: string | null | undefined): string {
  if (!stamp) return UNKNOWN;
  const date = new Date(stamp);
  return Number.isNaN(date.getTime()) ? stamp : TIME.format(date);
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function formatScore(value: number | null | undefined): string {
  return value == null ? UNKNOWN : value.toFixed(2);
}

/** The consistency, or null if it means nothing: the built-in rules always agree with themselves. */
export function meaningfulConsistency(row: { consistency: number | null; evaluator: string }): number | null {
  return row.evaluator === "rules" ? null : row.consistency;
}

/** The consistency in a list. */
export function formatConsistency(row: { consistency: number | null; evaluator: string }): string {
  return meaningfulConsistency(row)?.toFixed(2) ?? "–";
}

/** Always signed, with a typographic minus. */
export function formatChange(delta: number | null | undefined): string {
  if (delta == null) return UNKNOWN;
  const rounded = Math.abs(delta).toFixed(2);
  return delta < 0 && rounded !== "0.00" ? `−${rounded}` : `+${rounded}`;
}

export function formatMoney(dollars: number | null | undefined): string {
  if (dollars == null) return UNKNOWN;
  if (dollars === 0) return "$0";
  return dollars < 0.01 ? "under $0.01" : `$${dollars.toFixed(2)}`;
}

export function formatCount(value: number): string {
  return NUMBER.format(value);
}

export function pluralize(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

export function formatSeconds(value: number | null | undefined): string {
  if (value == null) return UNKNOWN;
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  const whole = Math.round(value);
  return whole < 60 ? `${value.toFixed(1)} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export function formatBytes(value: number): string {
  return value < 1_000_000 ? `${Math.round(value / 1000)} kB` : `${(value / 1_000_000).toFixed(1)} MB`;
}

/** A check id as a title: "assumption_disclosure" becomes "Assumption disclosure". */
export function checkTitle(id: string): string {
  const text = id.replaceAll("_", " ").trim();
  return text ? text[0]?.toUpperCase() + text.slice(1) : id;
}
