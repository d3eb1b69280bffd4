/** How often the checks of the chosen playbook are judged in full mode, unless another number is typed. */

import { useQuery } from "@tanstack/react-query";
import { queries } from "@/api/queries";
import type { Draft } from "./draft";

const DEFAULT_RUNS = 3;
export const MAX_RUNS = 25;

/** Undefined until the playbooks are loaded. */
export function usePlaybookRuns({ playbook, playbook_id }: Draft): number | undefined {
  const { data } = useQuery(queries.playbooks());
  if (playbook) return statedRuns(playbook.text);
  const library = data?.filter(({ used_by }) => used_by === null);
  return (library?.find(({ id }) => id === playbook_id) ?? library?.[0])?.min_runs;
}

/** What the text of an uploaded playbook says; undefined if the browser cannot read it. */
export function statedRuns(text: string): number | undefined {
  try {
    const runs: unknown = JSON.parse(text)?.variance_handling?.min_runs;
    return typeof runs === "number" ? runs : DEFAULT_RUNS;
  } catch {
    return undefined;
  }
}

/** Why the number of runs that was typed cannot be used; empty if it can. */
export function useRunsProblem(draft: Draft): string {
  return runsProblem(draft, usePlaybookRuns(draft) ?? 1);
}

export function runsProblem({ mode, runs }: Pick<Draft, "mode" | "runs">, fewest: number): string {
  if (mode !== "full" || !runs.trim()) return "";
  const isPossible = /^\d+$/.test(runs.trim()) && Number(runs) >= fewest && Number(runs) <= MAX_RUNS;
  return isPossible ? "" : `Enter a number of runs from ${fewest} to ${MAX_RUNS}, or none.`;
}
