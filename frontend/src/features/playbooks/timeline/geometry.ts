/** Positions in the timeline chart. Pure. */
import type { TimelineReport } from "@/api/types";
import { meaningfulConsistency } from "@/lib/format";
import { type Frame, xPosition, yPosition } from "@/lib/plot";

export const FRAME: Frame = { width: 720, height: 286, left: 40, right: 16, top: 40, bottom: 70 };

/** Where a report without a consistency score is drawn: below the axis, because it has no score of 0. */
export const NO_SCORE_Y = FRAME.height - FRAME.bottom + 28;

export interface ChartPoint {
  point: TimelineReport;
  x: number;
  /** Null without a consistency score; the report is then drawn at NO_SCORE_Y, and no line leads to it. */
  y: number | null;
}

export function chartPoints(points: readonly TimelineReport[]): ChartPoint[] {
  return points.map((point, index) => {
    const consistency = meaningfulConsistency(point);
    return {
      point,
      x: xPosition(index, points.length, FRAME),
      y: consistency === null ? null : consistencyY(consistency),
    };
  });
}

export function consistencyY(consistency: number): number {
  return yPosition(consistency, FRAME);
}

/** An SVG path with one horizontal step per report: playbooks with different thresholds may follow one another. */
export function stepPath(values: readonly number[]): string {
  const { left, right } = FRAME;
  const width = (FRAME.width - left - right) / Math.max(values.length, 1);
  return values
    .map((value, index) => {
      const y = consistencyY(value).toFixed(1);
      return `${index ? `V${y}` : `M${left} ${y}`}H${(left + width * (index + 1)).toFixed(1)}`;
    })
    .join("");
}
