import { describe, expect, test } from "vitest";
import type { IndexEntry } from "@/api/types";
import {
  completionCounts,
  describeFailure,
  describeNotPassed,
  formatDollars,
  formatInterval,
  formatPercent,
  formatPoints,
  formatPValue,
  formatSpending,
  outcomeSentence,
  relativeChange,
} from "./labels";

describe("numbers", () => {
  test("a share that is not the whole never reads as the whole, nor one that is something as nothing", () => {
    expect([
      formatPercent(1),
      formatPercent(0.999),
      formatPercent(0),
      formatPercent(0.001),
      formatPercent(null),
    ]).toEqual(["100%", ">99%", "0%", "<1%", "unknown"]);
  });
  test("an interval is rounded outwards", () => {
    expect(formatInterval([0.4901, 0.9433])).toBe("49% to 95%");
  });
  test("a difference has its sign, a true minus, and nothing has none", () => {
    expect([formatPoints(-0.234), formatPoints(0.5), formatPoints(-0.001)]).toEqual(["−23", "+50", "0"]);
  });
  test("a p-value is never a 0 that it is not", () => {
    expect([formatPValue(0.0004), formatPValue(0.0042), formatPValue(0.3), formatPValue(null)]).toEqual([
      "< 0.001",
      "0.004",
      "0.30",
      "unknown",
    ]);
  });
  test("little money keeps two digits, and what is not known is not 0", () => {
    expect([
      formatDollars(0.00042),
      formatDollars(0.0123),
      formatDollars(2.5),
      formatDollars(0),
      formatDollars(null),
    ]).toEqual(["$0.00042", "$0.012", "$2.50", "$0", "unknown"]);
    expect([formatSpending(null, 0.5), formatSpending(null, 0), formatSpending(0, 0)]).toEqual([
      "at least $0.500",
      "unknown",
      "$0",
    ]);
  });
  test("a change is of what was before, and of nothing there is none", () => {
    expect([
      relativeChange(2, 3),
      relativeChange(2, 1),
      relativeChange(2, 2),
      relativeChange(0, 1),
      relativeChange(null, 1),
    ]).toEqual(["+50%", "−50%", "0%", "", ""]);
  });
});

describe("why", () => {
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
  test("a failing run is told by the assertions that failed, and those that were not judged apart", () => {
    expect(describeNotPassed(entry)).toBe("cheapest; not judged: polite");
    expect(describeNotPassed({ ...entry, outcome: "passed" })).toBe("");
  });
  test("an error is told by its cause and its message", () => {
    expect(describeNotPassed({ ...entry, outcome: "error", cause: "provider", assertions: [], error: "503" })).toBe(
      "the provider failed; 503",
    );
  });
  test("failures are told by what the agent did, or by the assertions, or by the score alone", () => {
    expect(describeFailure({ cause: "turn_limit", assertions: [] })).toBe("the agent reached the turn limit");
    expect(describeFailure({ cause: "assertion", assertions: ["a", "b"] })).toBe("a, b failed");
    expect(describeFailure({ cause: "assertion", assertions: [] })).toBe("the score is below the threshold");
  });
  test("what could not be judged is not counted against the agent", () => {
    expect(outcomeSentence({ outcome: "error", cause: "judge", eval_results: [] })).toBe(
      "Not counted against the agent: the judge failed.",
    );
    expect(outcomeSentence({ outcome: "failed", cause: "timeout", eval_results: [] })).toBe(
      "The agent ran out of time.",
    );
  });
  test("of all runs it is said how many were completed, and what of the others", () => {
    expect(completionCounts({ runs: 10, completed: 7, errors: 1 })).toEqual(["7 of 10", "1 error", "2 not made"]);
    expect(completionCounts({ runs: 10, completed: 10, errors: 0 })).toEqual(["10 of 10"]);
  });
});
