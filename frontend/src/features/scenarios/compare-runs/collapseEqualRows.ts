/** Collapses long sequences of steps that are equal in both runs. Pure. */

export interface RowGroup<Row> {
  /** The index of its first row. */
  from: number;
  rows: Row[];
}

/** Equal rows that stay visible next to a difference, as context. */
const CONTEXT_ROWS = 1;
const MIN_COLLAPSED = 3;

/** Group the rows: a group of one row is shown, a group of several is collapsed. */
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

/** The end of the sequence of equal rows that starts at `from`. */
function equalRowsEnd(rows: readonly { same: boolean }[], from: number): number {
  let end = from;
  while (end < rows.length && rows[end]?.same) end += 1;
  return end;
}
