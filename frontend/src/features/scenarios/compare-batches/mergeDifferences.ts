/** Merges equal configuration differences of several scenarios. Pure. */
import type { ScenarioComparison } from "@/api/types";

export interface SharedDifference {
  what: string;
  a: unknown;
  b: unknown;
  /** The scenarios that have this difference. */
  scenarios: string[];
}

export function mergeDifferences(
  scenarios: readonly Pick<ScenarioComparison, "scenario_id" | "differs">[],
): SharedDifference[] {
  const differences = new Map<string, SharedDifference>();
  for (const { scenario_id, differs } of scenarios) {
    for (const { what, a, b } of differs) {
      const key = JSON.stringify([what, a, b]);
      const existing = differences.get(key);
      if (existing) existing.scenarios.push(scenario_id);
      else differences.set(key, { what, a: a ?? null, b: b ?? null, scenarios: [scenario_id] });
    }
  }
  return [...differences.values()];
}
