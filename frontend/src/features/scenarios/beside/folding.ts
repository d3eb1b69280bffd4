/** Long stretches in which two runs are the same, folded away. Pure. */

export interface Part<Row> {
  /** The number of its first row, from 0. */
  from: number;
  rows: Row[];
}

/** So many rows that are the same stay beside a difference, to show where it happened. */
const AROUND = 1;
const LEAST = 3;

/** A part of one row is shown, a part of several is a stretch to fold. */
export function folded<Row extends { same: boolean }>(rows: readonly Row[]): Part<Row>[] {
  const parts: Part<Row>[] = [];
  let index = 0;
  while (index < rows.length) {
    const end = stretch(rows, index);
    const from = index === 0 ? 0 : index + AROUND;
    const to = end === rows.length ? end : end - AROUND;
    const fold = to - from >= LEAST && end > index;
    const single = (until: number) => {
      for (; index < until; index++) parts.push({ from: index, rows: rows.slice(index, index + 1) });
    };
    if (fold) {
      single(from);
      parts.push({ from, rows: rows.slice(from, to) });
      index = to;
      single(end);
    } else single(Math.max(end, index + 1));
  }
  return parts;
}

/** Where the rows end that are the same from here on. */
function stretch(rows: readonly { same: boolean }[], from: number): number {
  let end = from;
  while (end < rows.length && rows[end]?.same) end += 1;
  return end;
}
