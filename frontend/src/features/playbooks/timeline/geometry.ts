/** Where the points of a chart stand. Pure. */
import type { TimelinePoint } from "@/api/types";

export const WIDTH = 720;
export const HEIGHT = 250;
export const LEFT = 40;
export const RIGHT = 16;
export const TOP = 40;
export const BOTTOM = 34;

export interface Spot {
  point: TimelinePoint;
  x: number;
  /** Null where there is no consistency to show: such a report stands on the axis, and no line leads to it. */
  y: number | null;
}

/** One after the other at equal steps: reports of one afternoon must not fall on one another. */
export function spots(points: readonly TimelinePoint[]): Spot[] {
  const step = (WIDTH - LEFT - RIGHT) / Math.max(points.length, 1);
  return points.map((point, index) => ({
    point,
    x: LEFT + step * (index + 0.5),
    y: point.consistency === null ? null : height(point.consistency),
  }));
}

export function height(consistency: number): number {
  return TOP + (HEIGHT - TOP - BOTTOM) * (1 - consistency);
}

/** Broken where a consistency is not known: a line through it would claim one. */
export function lines(of: readonly Spot[]): string[] {
  const found: string[] = [];
  let open: string[] = [];
  const close = () => {
    if (open.length > 1) found.push(`M${open.join("L")}`);
    open = [];
  };
  for (const { x, y } of of) {
    if (y === null) close();
    else open.push(`${x.toFixed(1)} ${y.toFixed(1)}`);
  }
  close();
  return found;
}
