/** What the heat map shows of a series of reports. Pure. */
import type { TimelineReport } from "@/api/types";

/** The checks of all reports: those that failed or were undecided in the newest report that has them first. */
export function checksOf(newestFirst: readonly Pick<TimelineReport, "outcomes">[]): string[] {
  const newest = new Map<string, string>();
  for (const { outcomes } of newestFirst) {
    for (const [check, result] of Object.entries(outcomes)) if (!newest.has(check)) newest.set(check, result);
  }
  const order = ["fail", "indeterminate", "pass"];
  return [...newest.entries()].sort(([, a], [, b]) => order.indexOf(a) - order.indexOf(b)).map(([check]) => check);
}

/** Whether the evaluated text is that of the report before with the same title, as far as there is one. */
export function textChange(
  newestFirst: readonly Pick<TimelineReport, "inputs_fingerprint" | "title">[],
  index: number,
): string {
  const report = newestFirst[index];
  const before = newestFirst.slice(index + 1).find((other) => other.title === report?.title);
  if (!before) return "first report";
  return report?.inputs_fingerprint === before.inputs_fingerprint ? "same" : "changed";
}
