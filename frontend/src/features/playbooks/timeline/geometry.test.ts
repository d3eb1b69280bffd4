import { expect, test } from "vitest";
import type { TimelineReport } from "@/api/types";
import { linePaths } from "@/lib/plot";
import { chartPoints, consistencyY, FRAME, stepPath } from "./geometry";

function point(consistency: number | null, evaluator = "openai/gpt-5.4-mini"): TimelineReport {
  return {
    id: "01",
    created_at: "2026-01-01T00:00:00+00:00",
    mode: "full",
    evaluator,
    playbook_hash: "",
    inputs_fingerprint: "",
    status: "STABLE",
    consistency,
    incomplete: false,
    outcomes: {},
    baseline: false,
    threshold_ok: 0.85,
    threshold_warn: 0.7,
  };
}

test("a higher consistency is drawn higher", () => {
  expect(consistencyY(1)).toBeLessThan(consistencyY(0.5));
});
test("no line is drawn through an unknown value", () => {
  expect(linePaths(chartPoints([point(1), point(0.5), point(null), point(0.7), point(1)]))).toHaveLength(2);
});
test("the agreement of the built-in rules with themselves is not drawn", () => {
  const [rules, model] = chartPoints([point(1, "rules"), point(1)]);
  expect([rules?.y, model?.y]).toEqual([null, consistencyY(1)]);
});
test("a single report is a point without a line", () => {
  expect(linePaths(chartPoints([point(1)]))).toEqual([]);
  expect(chartPoints([point(null)])[0]?.y).toBeNull();
});
test("a threshold that changes is drawn as steps across the whole chart", () => {
  const [low, high] = [0.5, 0.9].map((value) => consistencyY(value).toFixed(1));
  const end = FRAME.width - FRAME.right;
  const middle = ((FRAME.left + end) / 2).toFixed(1);
  expect(stepPath([0.5, 0.9])).toBe(`M${FRAME.left} ${low}H${middle}V${high}H${end.toFixed(1)}`);
  expect(stepPath([])).toBe("");
});
