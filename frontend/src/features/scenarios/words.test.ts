import { describe, expect, test } from "vitest";
import type { IndexEntry } from "@/api/types";
import {
  counts,
  dollars,
  failedBy,
  interval,
  outcomeSentence,
  percent,
  points,
  pValue,
  relative,
  spent,
  whyNot,
} from "./words";

describe("numbers", () => {
  test("a share that is not the whole never reads as the whole, nor one that is something as nothing", () => {
    expect([percent(1), percent(0.999), percent(0), percent(0.001), percent(null)]).toEqual([
      "100%",
      ">99%",
      "0%",
      "<1%",
      "unknown",
    ]);
  });
  test("an interval is rounded outwards", () => {
    expect(interval([0.4901, 0.9433])).toBe("49% to 95%");
  });
  test("a difference has its sign, a true minus, and nothing has none", () => {
    expect([points(-0.234), points(0.5), points(-0.001)]).toEqual(["−23", "+50", "0"]);
  });
  test("a p-value is never a 0 that it is not", () => {
    expect([pValue(0.0004), pValue(0.0042), pValue(0.3), pValue(null)]).toEqual([
      "< 0.001",
      "0.004",
      "0.30",
      "unknown",
    ]);
  });
  test("little money keeps two digits, and what is not known is not 0", () => {
    expect([dollars(0.00042), dollars(0.0123), dollars(2.5), dollars(0), dollars(null)]).toEqual([
      "$0.00042",
      "$0.012",
      "$2.50",
      "$0",
      "unknown",
    ]);
    expect([spent(null, 0.5), spent(null, 0), spent(0, 0)]).toEqual(["at least $0.500", "unknown", "$0"]);
  });
  test("a change is of what was before, and of nothing there is none", () => {
    expect([relative(2, 3), relative(2, 1), relative(2, 2), relative(0, 1), relative(null, 1)]).toEqual([
      "+50%",
      "−50%",
      "0%",
      "",
      "",
    ]);
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
    expect(whyNot(entry)).toBe("cheapest; not judged: polite");
    expect(whyNot({ ...entry, outcome: "passed" })).toBe("");
  });
  test("an error is told by its cause and its message", () => {
    expect(whyNot({ ...entry, outcome: "error", cause: "provider", assertions: [], error: "503" })).toBe(
      "the provider failed; 503",
    );
  });
  test("failures are told by what the agent did, or by the assertions, or by the score alone", () => {
    expect(failedBy({ cause: "turn_limit", assertions: [] })).toBe("the agent reached the turn limit");
    expect(failedBy({ cause: "assertion", assertions: ["a", "b"] })).toBe("a, b failed");
    expect(failedBy({ cause: "assertion", assertions: [] })).toBe("the score is below the threshold");
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
    expect(counts({ runs: 10, completed: 7, errors: 1 })).toEqual(["7 of 10", "1 error", "2 not made"]);
    expect(counts({ runs: 10, completed: 10, errors: 0 })).toEqual(["10 of 10"]);
  });
});
