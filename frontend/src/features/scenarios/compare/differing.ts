/** What is not the same on both sides, told once where it is so on several scenarios. Pure. */
import type { ScenarioCompared } from "@/api/types";

export interface Differing {
  what: string;
  a: unknown;
  b: unknown;
  /** The scenarios on which it is so. */
  where: string[];
}

export function alike(scenarios: readonly Pick<ScenarioCompared, "scenario_id" | "differs">[]): Differing[] {
  const found = new Map<string, Differing>();
  for (const { scenario_id, differs } of scenarios) {
    for (const { what, a, b } of differs) {
      const key = JSON.stringify([what, a, b]);
      const known = found.get(key);
      if (known) known.where.push(scenario_id);
      else found.set(key, { what, a: a ?? null, b: b ?? null, where: [scenario_id] });
    }
  }
  return [...found.values()];
}
