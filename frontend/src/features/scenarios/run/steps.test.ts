import { expect, test } from "vitest";
import type { EvalResult, TrajectoryStep } from "@/api/types";
import { describeMeasures, groupTurns, placeAssertions } from "./steps";

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

test("the steps of a conversation are grouped by turn", () => {
  const inTurn = (number: number, kind: TrajectoryStep["kind"], turn: number | null) => ({
    ...step(number, []),
    kind,
    turn,
  });
  const steps = [
    inTurn(1, "system", null),
    inTurn(2, "message", 1),
    inTurn(3, "answer", 1),
    inTurn(4, "message", 2),
    inTurn(5, "tool", 2),
    inTurn(6, "end", null),
  ];
  const { before, turns, after } = groupTurns(steps);
  expect(before).toEqual([steps[0]]);
  expect(turns).toEqual([
    { number: 1, user: steps[1], work: [], answer: steps[2] },
    { number: 2, user: steps[3], work: [steps[4]], answer: null },
  ]);
  expect(after).toEqual([steps[5]]);
});

test("a run that is no conversation has no turns", () => {
  const steps = [step(1, []), step(2, [])];
  expect(groupTurns(steps)).toEqual({ before: steps, turns: [], after: [] });
});
