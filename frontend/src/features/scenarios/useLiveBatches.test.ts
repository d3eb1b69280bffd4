// @vitest-environment happy-dom
import { describe, expect, test } from "vitest";
import { describeChanges, isAffected, type WatchedBatch } from "./useLiveBatches";

describe("isAffected", () => {
  const changed = new Set(["1m7h5batch"]);
  test("lists always are; a batch only if it changed, by whatever name it is shown", () => {
    expect(isAffected(["batches", "list", {}], changed)).toBe(true);
    expect(isAffected(["batches", "series"], changed)).toBe(true);
    expect(isAffected(["batches", "one", "1m7h5batch"], changed)).toBe(true);
    expect(isAffected(["batches", "one", "1m7h"], changed)).toBe(true);
    expect(isAffected(["batches", "one", "latest"], changed)).toBe(true);
    expect(isAffected(["batches", "one", "1m8"], changed)).toBe(false);
    expect(isAffected(["batches", "runs", "1m8", { offset: 0 }], changed)).toBe(false);
  });
  test("a comparison is if either side changed", () => {
    expect(isAffected(["batches", "compare", "1m8", "1m7h5batch"], changed)).toBe(true);
    expect(isAffected(["batches", "compare", "", ""], changed)).toBe(false);
  });
});

describe("describeChanges", () => {
  function batch(batch_id: string, completed: number, more: Partial<WatchedBatch> = {}): WatchedBatch {
    const running = completed < 20;
    return {
      batch_id,
      scenario_id: "refund",
      verdict: "passed",
      runs: 20,
      completed,
      errors: 0,
      passed: completed,
      running,
      ...more,
    };
  }
  test("announces a new batch, each quarter, and the end", () => {
    const old = batch("1a", 20);
    expect(describeChanges([old], [batch("1b", 0), old])).toBe("New: refund, 20 runs.");
    expect(describeChanges([batch("1b", 3)], [batch("1b", 4)])).toBe("");
    expect(describeChanges([batch("1b", 4)], [batch("1b", 6)])).toBe("refund: 6 of 20 runs.");
    expect(describeChanges([batch("1b", 19)], [batch("1b", 20)])).toBe("refund finished: passed, 20 of 20 passed.");
  });
  test("announces a batch once that started and finished between two updates", () => {
    expect(describeChanges([], [batch("1b", 20, { verdict: "failed", passed: 12 })])).toBe(
      "refund finished: failed, 12 of 20 passed.",
    );
    expect(describeChanges([batch("1b", 20)], [batch("1b", 20)])).toBe("");
  });
  test("does not announce an older batch that enters the list", () => {
    expect(describeChanges([batch("1c", 20)], [batch("1c", 20), batch("1a", 20)])).toBe("");
  });
  test("counts errors as finished runs", () => {
    expect(describeChanges([batch("1b", 0)], [batch("1b", 4, { errors: 6 })])).toBe("refund: 10 of 20 runs.");
  });
});
