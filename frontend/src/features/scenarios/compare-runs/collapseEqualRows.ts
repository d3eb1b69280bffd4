/** Long stretches in which two runs are the same, folded away. Pure. */

export interface RowGroup<Row> {
  /** The number of its first row, from 0. */
  from: number;
  rows: Row[];
}

/** So many rows that are the same stay beside a difference, to show where it happened. */
const CONTEXT_ROWS = 1;
const MIN_COLLAPSED = 3;

/** A part of one row is shown, a part of several is a stretch to fold. */
export function collapseEqualRows<Row extends { same: boolean }>(rows: readonly Row[]): RowGroup<Row>[] {
  const parts: RowGroup<Row>[] = [];
  let index = 0;
  while (index < rows.length) {
    const end = equalRowsEnd(rows, index);
    const from = index === 0 ? 0 : index + CONTEXT_ROWS;
    const to = end === rows.length ? end : end - CONTEXT_ROWS;
    const collapsible = to - from >= MIN_COLLAPSED && end > index;
    const pushSingles = (until: number) => {
      for (; index < until; index++) parts.push({ from: index, rows: rows.slice(index, index + 1) });
    };
    if (collapsible) {
      pushSingles(from);
      parts.push({ from, rows: rows.slice(from, to) });
      index = to;
      pushSingles(end);
    } else pushSingles(Math.max(end, index + 1));
  }
  return parts;
}

/** Where the rows end that are the same from here on. */
function equalRowsEnd(rows: readonly { same: boolean }[], from: number): number {
  let end = from;
  while (end < rows.length && rows[end]?.same) end += 1;
  return end;
}
