/** Positions in the charts of one scenario and model. Pure. */

import type { SeriesPoint } from "@/api/types";
import { type Frame, xPosition, yPosition } from "@/lib/plot";

export const RATE_FRAME: Frame = { width: 360, height: 150, left: 36, right: 10, top: 12, bottom: 24 };
export const SPARKLINE_FRAME: Frame = { width: 170, height: 46, left: 4, right: 4, top: 6, bottom: 6 };
/** More points would overlap. */
export const MAX_POINTS = 30;

export interface RateBar {
  point: SeriesPoint;
  x: number;
  /** Null if no run was completed; the batch is then drawn on the axis, without an interval. */
  y: number | null;
  low: number | null;
  high: number | null;
}

export function latestPoints(points: readonly SeriesPoint[]): readonly SeriesPoint[] {
  return points.slice(-MAX_POINTS);
}

/** The positions of pass rates and their intervals. */
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

/** Values scaled from 0 to their maximum; unknown values have no height. */
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
