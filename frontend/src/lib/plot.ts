/** Where things stand in a small chart, and the lines between them. Pure. */

export interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** One after the other at equal steps: what came in one afternoon must not fall on one another. */
export function across(index: number, count: number, frame: Frame): number {
  const step = (frame.width - frame.left - frame.right) / Math.max(count, 1);
  return frame.left + step * (index + 0.5);
}

/** The height of a share of the whole, 0 at the bottom. */
export function up(share: number, frame: Frame): number {
  return frame.top + (frame.height - frame.top - frame.bottom) * (1 - share);
}

/** Broken where a value is not known: a line through it would claim one. */
export function lines(of: readonly { x: number; y: number | null }[]): string[] {
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
