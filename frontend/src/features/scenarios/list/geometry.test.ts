import { expect, test } from "vitest";
import type { SeriesPoint } from "@/api/types";
import { linePaths } from "@/lib/plot";
import { latestPoints, MAX_POINTS, RATE_FRAME, rateBars, sparklinePoints } from "./geometry";

function point(pass_rate: number | null, interval: [number, number] = [0.2, 0.9]): SeriesPoint {
  return {
    batch_id: "b",
    created_at: "2026-01-01T00:00:00+00:00",
    verdict: "passed",
    runs: 10,
    completed: 10,
    passed: 5,
    min_pass_rate: 0.8,
    pass_rate,
    interval,
    labels: { rate: "", interval: "", required: "" },
    average_cost: null,
    latency_p50: null,
    latency_p95: null,
  };
}

test("the interval extends below and above the rate, within the frame", () => {
  const [bar] = rateBars([point(0.5)]);
  expect(bar?.high).toBeLessThan(bar?.y ?? 0);
  expect(bar?.low).toBeGreaterThan(bar?.y ?? Number.POSITIVE_INFINITY);
  expect(rateBars([point(1, [0.7, 1])])[0]?.high).toBe(RATE_FRAME.top);
});
test("a batch without a completed run has neither a rate nor an interval", () => {
  expect(rateBars([point(null, [0, 1])])[0]).toMatchObject({ y: null, low: null, high: null });
});
test("only the latest points are drawn when there are too many", () => {
  const many = Array.from({ length: MAX_POINTS + 5 }, (_, index) => ({ ...point(1), batch_id: String(index) }));
  expect(latestPoints(many)).toHaveLength(MAX_POINTS);
  expect(latestPoints(many).at(-1)?.batch_id).toBe(String(MAX_POINTS + 4));
});
test("an unknown cost is a gap, and zeros are a line at the bottom", () => {
  expect(linePaths(sparklinePoints([1, 2, null, 3, 4]))).toHaveLength(2);
  const ground = sparklinePoints([0, 0]).map(({ y }) => y);
  expect(ground[0]).toBe(ground[1]);
  expect(Number.isFinite(ground[0])).toBe(true);
});
