import { expect, test } from "vitest";
import type { EvalResult, TrajectoryStep } from "@/api/types";
import { describeMeasures, placeAssertions } from "./steps";

function judged(name: string, passed: boolean | null): EvalResult {
  return {
    passed,
    score: null,
    message: "",
    expected: null,
    actual: null,
    error: null,
    cause: null,
    details: {},
    attachments: {},
    name,
    type: "jmespath",
    required: false,
    weight: 1,
    turn: null,
  };
}

function step(number: number, assertions: number[]): TrajectoryStep {
  return {
    number,
    kind: "tool",
    title: "search",
    text: null,
    arguments: null,
    result: null,
    error: null,
    took: null,
    tokens: null,
    call: null,
    turn: null,
    assertions,
    cut: {},
  };
}

test("failed assertions come first, then unjudged ones, each with its step", () => {
  const results = [judged("a", true), judged("b", null), judged("c", false), judged("d", false)];
  const placed = placeAssertions(results, { steps: [step(1, [0]), step(2, [3])], overall: [1, 2] });
  expect(placed.map(({ result, step }) => [result.name, step])).toEqual([
    ["c", null],
    ["d", 2],
    ["b", null],
    ["a", 1],
  ]);
});
test("unknown measures are left out", () => {
  expect(describeMeasures({ took: null, tokens: null })).toBe("");
  expect(describeMeasures({ took: 0.25, tokens: 1340 })).toBe("250 ms · 1,340 tokens");
});
