import type { OutlinePart } from "@/api/types";
import { type Row, utf16Offsets } from "./segments";

/** What the line that begins at an offset is in its document. */
export interface LineStructure {
  kind: "heading" | "list_item" | "cell";
  level: number;
  /** The number or bullet that a word processor writes before it. */
  label: string;
  /** Where a cell is: numbers from 1; 0 for what is in no table. */
  table: number;
  row: number;
  column: number;
}

export interface PageStart {
  number: number;
  /** Whether the line begins on the page before. */
  inside: boolean;
}

export interface Structure {
  /** By the start of the line, in UTF-16 units. */
  lines: ReadonlyMap<number, LineStructure>;
  /** The pages that begin in a line, by the start of that line. */
  pages: ReadonlyMap<number, PageStart>;
  /** How many columns each table has. */
  columns: ReadonlyMap<number, number>;
}

/** The headings, list items, cells and pages of a text, by the lines that they begin with. */
export function structureByLine(text: string, outline: readonly OutlinePart[]): Structure {
  const units = utf16Offsets(
    text,
    outline.map(({ start }) => start),
  );
  const lines = new Map<number, LineStructure>();
  const pages = new Map<number, PageStart>();
  const columns = new Map<number, number>();
  for (const { kind, start, level, label, table, row, column } of outline) {
    const unit = units.get(start);
    if (unit === undefined) continue;
    if (kind === "page") {
      const line = text.lastIndexOf("\n", unit - 1) + 1;
      pages.set(line, { number: level, inside: unit > line });
    } else if (kind !== "paragraph") {
      lines.set(unit, { kind, level, label, table, row, column });
      if (kind === "cell") columns.set(table, Math.max(columns.get(table) ?? 0, column));
    }
  }
  return { lines, pages, columns };
}

/** A cell with its lines. It reaches up to the column of the next one. */
export interface TableCell {
  column: number;
  endColumn: number;
  rows: Row[];
}

/** Consecutive rows of a table. */
export interface TableRows {
  start: number;
  columns: number;
  cells: TableCell[][];
}

/** Put the lines that are cells of one table together, row by row. */
export function groupTables(rows: readonly Row[], { lines, columns }: Structure): (Row | TableRows)[] {
  const result: (Row | TableRows)[] = [];
  let table: TableRows | null = null;
  let previous: LineStructure | null = null;
  for (const row of rows) {
    const line = lines.get(row.start);
    if (line?.kind !== "cell") {
      result.push(row);
      table = previous = null;
      continue;
    }
    if (!table || previous?.table !== line.table) {
      table = { start: row.start, columns: columns.get(line.table) ?? 1, cells: [] };
      result.push(table);
      previous = null;
    }
    if (previous?.row !== line.row) table.cells.push([]);
    const cells = table.cells.at(-1) as TableCell[];
    const last = cells.at(-1);
    if (last && last.column === line.column) last.rows.push(row);
    else {
      if (last) last.endColumn = line.column;
      cells.push({ column: line.column, endColumn: table.columns + 1, rows: [row] });
    }
    previous = line;
  }
  return result;
}
