import { describe, expect, test } from "vitest";
import { concerns, news, type Watched } from "./live";

describe("what is asked for again", () => {
  const changed = new Set(["1m7h5batch"]);
  test("lists always, one batch only where it changed, by whatever name it is shown", () => {
    expect(concerns(["batches", "list", {}], changed)).toBe(true);
    expect(concerns(["batches", "series"], changed)).toBe(true);
    expect(concerns(["batches", "one", "1m7h5batch"], changed)).toBe(true);
    expect(concerns(["batches", "one", "1m7h"], changed)).toBe(true);
    expect(concerns(["batches", "one", "latest"], changed)).toBe(true);
    expect(concerns(["batches", "one", "1m8"], changed)).toBe(false);
    expect(concerns(["batches", "runs", "1m8", { offset: 0 }], changed)).toBe(false);
  });
  test("a comparison where either side changed", () => {
    expect(concerns(["batches", "compare", "1m8", "1m7h5batch"], changed)).toBe(true);
    expect(concerns(["batches", "compare", "", ""], changed)).toBe(false);
  });
});

describe("what is said to those who do not see it", () => {
  function batch(batch_id: string, completed: number, more: Partial<Watched> = {}): Watched {
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
  test("a new batch, each quarter, and its end", () => {
    const old = batch("1a", 20);
    expect(news([old], [batch("1b", 0), old])).toBe("New: refund, 20 runs.");
    expect(news([batch("1b", 3)], [batch("1b", 4)])).toBe("");
    expect(news([batch("1b", 4)], [batch("1b", 6)])).toBe("refund: 6 of 20 runs.");
    expect(news([batch("1b", 19)], [batch("1b", 20)])).toBe("refund has ended: passed, 20 of 20 passed.");
  });
  test("a batch that came and ended between two looks is told once", () => {
    expect(news([], [batch("1b", 20, { verdict: "failed", passed: 12 })])).toBe(
      "refund has ended: failed, 12 of 20 passed.",
    );
    expect(news([batch("1b", 20)], [batch("1b", 20)])).toBe("");
  });
  test("an older batch is no news when it comes into the list", () => {
    expect(news([batch("1c", 20)], [batch("1c", 20), batch("1a", 20)])).toBe("");
  });
  test("errors are runs that were made", () => {
    expect(news([batch("1b", 0)], [batch("1b", 4, { errors: 6 })])).toBe("refund: 10 of 20 runs.");
  });
});
