/** Positions and line paths of small charts. Pure. */

export interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The x position at equal steps, so that points of one afternoon do not overlap. */
export function xPosition(index: number, count: number, frame: Frame): number {
  const step = (frame.width - frame.left - frame.right) / Math.max(count, 1);
  return frame.left + step * (index + 0.5);
}

/** The y position of a value between 0 (bottom) and 1 (top). */
export function yPosition(share: number, frame: Frame): number {
  return frame.top + (frame.height - frame.top - frame.bottom) * (1 - share);
}

/** SVG paths through the points, interrupted where a value is unknown. */
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
