/** Where the points of a chart stand. Pure. */
import type { TimelinePoint } from "@/api/types";
import { across, type Frame, up } from "@/lib/plot";

export const WIDTH = 720;
export const HEIGHT = 250;
export const LEFT = 40;
export const RIGHT = 16;
const TOP = 40;
export const BOTTOM = 34;
const FRAME: Frame = { width: WIDTH, height: HEIGHT, left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM };

export interface Spot {
  point: TimelinePoint;
  x: number;
  /** Null where there is no consistency to show: such a report stands on the axis, and no line leads to it. */
  y: number | null;
}

export function spots(points: readonly TimelinePoint[]): Spot[] {
  return points.map((point, index) => ({
    point,
    x: across(index, points.length, FRAME),
    y: point.consistency === null ? null : height(point.consistency),
  }));
}

export function height(consistency: number): number {
  return up(consistency, FRAME);
}
