/** Where the batches of one scenario and model stand in their small charts. Pure. */

import type { SeriesPoint } from "@/api/types";
import { type Frame, xPosition, yPosition } from "@/lib/plot";

export const RATE_FRAME: Frame = { width: 360, consistencyHeight: 150, left: 36, right: 10, top: 12, bottom: 24 };
export const SPARKLINE_FRAME: Frame = { width: 170, consistencyHeight: 46, left: 4, right: 4, top: 6, bottom: 6 };
/** More would fall on one another. */
export const MAX_POINTS = 30;

export interface RateBar {
  point: SeriesPoint;
  x: number;
  /** Null where no run was completed: such a batch stands on the axis, without an interval. */
  y: number | null;
  low: number | null;
  high: number | null;
}

export function latestPoints(points: readonly SeriesPoint[]): readonly SeriesPoint[] {
  return points.slice(-MAX_POINTS);
}

/** Pass rates with their intervals. */
export function rateBars(points: readonly SeriesPoint[]): RateBar[] {
  return points.map((point, index) => {
    const hasRate = point.pass_rate !== null;
    const [low, high] = point.interval;
    return {
      point,
      x: xPosition(index, points.length, RATE_FRAME),
      y: point.pass_rate === null ? null : yPosition(point.pass_rate, RATE_FRAME),
      low: hasRate ? yPosition(low, RATE_FRAME) : null,
      high: hasRate ? yPosition(high, RATE_FRAME) : null,
    };
  });
}

/** Values of any size as heights from 0 to the largest of them; what is not known has none. */
export function sparklinePoints(
  values: readonly (number | null)[],
  max = maxValue(values),
): { x: number; y: number | null }[] {
  return values.map((value, index) => ({
    x: xPosition(index, values.length, SPARKLINE_FRAME),
    y: value === null ? null : yPosition(max ? value / max : 0, SPARKLINE_FRAME),
  }));
}

export function maxValue(values: readonly (number | null)[]): number {
  return Math.max(0, ...values.filter((value) => value !== null));
}
