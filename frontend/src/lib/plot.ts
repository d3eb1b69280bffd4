/** Where things stand in a small chart, and the lines between them. Pure. */

export interface Frame {
  width: number;
  consistencyHeight: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** One after the other at equal steps: what came in one afternoon must not fall on one another. */
export function xPosition(index: number, count: number, frame: Frame): number {
  const step = (frame.width - frame.left - frame.right) / Math.max(count, 1);
  return frame.left + step * (index + 0.5);
}

/** The height of a share of the whole, 0 at the bottom. */
export function yPosition(share: number, frame: Frame): number {
  return frame.top + (frame.consistencyHeight - frame.top - frame.bottom) * (1 - share);
}

/** Broken where a value is not known: a line through it would claim one. */
export function linePaths(points: readonly { x: number; y: number | null }[]): string[] {
  const paths: string[] = [];
  let current: string[] = [];
  const finish = () => {
    if (current.length > 1) paths.push(`M${current.join("L")}`);
    current = [];
  };
  for (const { x, y } of points) {
    if (y === null) finish();
    else current.push(`${x.toFixed(1)} ${y.toFixed(1)}`);
  }
  finish();
  return paths;
}
