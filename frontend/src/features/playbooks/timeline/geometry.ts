/** Positions in the timeline chart. Pure. */
import type { TimelineReport } from "@/api/types";
import { type Frame, xPosition, yPosition } from "@/lib/plot";

export const WIDTH = 720;
export const HEIGHT = 250;
export const LEFT = 40;
export const RIGHT = 16;
const TOP = 40;
export const BOTTOM = 34;
const FRAME: Frame = { width: WIDTH, height: HEIGHT, left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM };

export interface ChartPoint {
  point: TimelineReport;
  x: number;
  /** Null without a consistency score; the report is then drawn on the axis, and no line leads to it. */
  y: number | null;
}

export function chartPoints(points: readonly TimelineReport[]): ChartPoint[] {
  return points.map((point, index) => ({
    point,
    x: xPosition(index, points.length, FRAME),
    y: point.consistency === null ? null : consistencyY(point.consistency),
  }));
}

export function consistencyY(consistency: number): number {
  return yPosition(consistency, FRAME);
}

/** An SVG path with one horizontal step per report: playbooks with different thresholds may follow one another. */
export function stepPath(values: readonly number[]): string {
  const width = (WIDTH - LEFT - RIGHT) / Math.max(values.length, 1);
  return values
    .map((value, index) => {
      const y = consistencyY(value).toFixed(1);
      return `${index ? `V${y}` : `M${LEFT} ${y}`}H${(LEFT + width * (index + 1)).toFixed(1)}`;
    })
    .join("");
}
