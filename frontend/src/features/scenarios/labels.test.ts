import { describe, expect, test } from "vitest";
import type { IndexEntry } from "@/api/types";
import { type CauseLabels, completionCounts, describeFailure, describeNotPassed, outcomeSentence } from "./labels";

const CAUSES = { provider: "the provider failed", turn_limit: "reached the turn limit" } as CauseLabels;

describe("labels", () => {
  const entry: Pick<IndexEntry, "outcome" | "cause" | "assertions" | "error"> = {
    outcome: "failed",
    cause: "assertion",
    assertions: [
      { label: "cheapest", type: "jmespath", passed: false, required: true },
      { label: "polite", type: "llm_judge", passed: null, required: false },
      { label: "quick", type: "latency_limit", passed: true, required: false },
    ],
    error: null,
  };
  test("a failed run names its failed assertions, and separately those that were not judged", () => {
    expect(describeNotPassed(entry, CAUSES)).toBe("cheapest; not judged: polite");
    expect(describeNotPassed({ ...entry, outcome: "passed" }, CAUSES)).toBe("");
  });
  test("an error names its cause and its message", () => {
    expect(
      describeNotPassed({ ...entry, outcome: "error", cause: "provider", assertions: [], error: "503" }, CAUSES),
    ).toBe("the provider failed; 503");
  });
  test("a failure names what the agent did, the assertions, or the score", () => {
    expect(describeFailure({ cause: "turn_limit", assertions: [] }, CAUSES)).toBe("the agent reached the turn limit");
    expect(describeFailure({ cause: "assertion", assertions: ["a", "b"] }, CAUSES)).toBe("a, b failed");
    expect(describeFailure({ cause: "assertion", assertions: [] }, CAUSES)).toBe("the score is below the threshold");
  });
  test("a run that could not be judged is not counted against the agent", () => {
    expect(
      outcomeSentence({ outcome: "error", cause: "judge", cause_label: "the judge failed", eval_results: [] }),
    ).toBe("Not counted against the agent: the judge failed.");
    expect(outcomeSentence({ outcome: "failed", cause: "timeout", cause_label: "timed out", eval_results: [] })).toBe(
      "The agent timed out.",
    );
  });
  test("completed runs are counted, and the others named", () => {
    expect(completionCounts({ runs: 10, completed: 6, errors: 1, pending: 1 })).toEqual([
      "6 of 10",
      "1 error",
      "1 waiting for judges",
      "2 not run",
    ]);
    expect(completionCounts({ runs: 10, completed: 10, errors: 0, pending: 0 })).toEqual(["10 of 10"]);
  });
});
