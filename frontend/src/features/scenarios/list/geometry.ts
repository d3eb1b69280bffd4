/** Where the batches of one scenario and model stand in their small charts. Pure. */

import type { SeriesPoint } from "@/api/types";
import { across, type Frame, up } from "@/lib/plot";

export const RATES: Frame = { width: 360, height: 150, left: 36, right: 10, top: 12, bottom: 24 };
export const SMALL: Frame = { width: 170, height: 46, left: 4, right: 4, top: 6, bottom: 6 };
/** More would fall on one another. */
export const MOST = 30;

export interface Bar {
  point: SeriesPoint;
  x: number;
  /** Null where no run was completed: such a batch stands on the axis, without an interval. */
  y: number | null;
  low: number | null;
  high: number | null;
}

export function latest(points: readonly SeriesPoint[]): readonly SeriesPoint[] {
  return points.slice(-MOST);
}

/** Pass rates with their intervals. */
export function bars(points: readonly SeriesPoint[]): Bar[] {
  return points.map((point, index) => {
    const known = point.pass_rate !== null;
    const [low, high] = point.interval;
    return {
      point,
      x: across(index, points.length, RATES),
      y: point.pass_rate === null ? null : up(point.pass_rate, RATES),
      low: known ? up(low, RATES) : null,
      high: known ? up(high, RATES) : null,
    };
  });
}

/** Values of any size as heights from 0 to the largest of them; what is not known has none. */
export function small(values: readonly (number | null)[], most = largest(values)): { x: number; y: number | null }[] {
  return values.map((value, index) => ({
    x: across(index, values.length, SMALL),
    y: value === null ? null : up(most ? value / most : 0, SMALL),
  }));
}

export function largest(values: readonly (number | null)[]): number {
  return Math.max(0, ...values.filter((value) => value !== null));
}
