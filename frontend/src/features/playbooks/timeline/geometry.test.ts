import { expect, test } from "vitest";
import type { TimelinePoint } from "@/api/types";
import { linePaths } from "@/lib/plot";
import { chartPoints, height } from "./geometry";

function point(consistency: number | null): TimelinePoint {
  return {
    id: "01",
    created_at: "2026-01-01T00:00:00+00:00",
    mode: "full",
    evaluator: "rules",
    playbook_hash: "",
    inputs_fingerprint: "",
    status: "STABLE",
    consistency,
    incomplete: false,
    outcomes: {},
    baseline: false,
  };
}

test("the more consistent, the higher", () => {
  expect(height(1)).toBeLessThan(height(0.5));
});
test("no line is drawn through what is not known", () => {
  expect(linePaths(chartPoints([point(1), point(0.5), point(null), point(0.7), point(1)]))).toHaveLength(2);
});
test("one report alone is a point and no line", () => {
  expect(linePaths(chartPoints([point(1)]))).toEqual([]);
  expect(chartPoints([point(null)])[0]?.y).toBeNull();
});
