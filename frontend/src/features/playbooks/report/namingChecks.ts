import type { StoredReport } from "@/api/types";

/** Replace the ids of checks by their titles, in a sentence that was stored for every reader. */
export function namingChecks(text: string, checks: Record<string, Pick<Checks[string], "title">>): string {
  return text.replace(/\w+/g, (word) => (Object.hasOwn(checks, word) ? checks[word]?.title : undefined) ?? word);
}

type Checks = StoredReport["labels"]["checks"];
