/** Positions in the timeline chart. Pure. */
import type { TimelinePoint } from "@/api/types";
import { type Frame, xPosition, yPosition } from "@/lib/plot";

export const WIDTH = 720;
export const HEIGHT = 250;
export const LEFT = 40;
export const RIGHT = 16;
const TOP = 40;
export const BOTTOM = 34;
const FRAME: Frame = { width: WIDTH, height: HEIGHT, left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM };

export interface ChartPoint {
  point: TimelinePoint;
  x: number;
  /** Null without a consistency score; the report is then drawn on the axis, and no line leads to it. */
  y: number | null;
}

export function chartPoints(points: readonly TimelinePoint[]): ChartPoint[] {
  return points.map((point, index) => ({
    point,
    x: xPosition(index, points.length, FRAME),
    y: point.consistency === null ? null : consistencyY(point.consistency),
  }));
}

export function consistencyY(consistency: number): number {
  return yPosition(consistency, FRAME);
}
