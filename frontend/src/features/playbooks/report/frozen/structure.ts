import type { OutlinePart } from "@/api/types";
import { utf16Offsets } from "./segments";

/** What the line that begins at an offset is in its document. */
export interface LineStructure {
  kind: "heading" | "list_item" | "cell";
  level: number;
  /** The number or bullet that a word processor writes before it. */
  label: string;
  /** Whether it is the first of a row of a table. */
  opensRow: boolean;
}

export interface Structure {
  /** By the start of the line, in UTF-16 units. */
  lines: ReadonlyMap<number, LineStructure>;
  /** The pages that begin in a line, by the start of that line. */
  pages: ReadonlyMap<number, number>;
}

/** The headings, list items, cells and pages of a text, by the lines that they begin with. */
export function structureByLine(text: string, outline: readonly OutlinePart[]): Structure {
  const units = utf16Offsets(
    text,
    outline.map(({ start }) => start),
  );
  const lines = new Map<number, LineStructure>();
  const pages = new Map<number, number>();
  let row = "";
  for (const { kind, start, level, label, table, row: rowNumber } of outline) {
    const unit = units.get(start);
    if (unit === undefined) continue;
    if (kind === "page") pages.set(text.lastIndexOf("\n", unit - 1) + 1, level);
    else if (kind !== "paragraph") {
      const place = kind === "cell" ? `${table} ${rowNumber}` : "";
      lines.set(unit, { kind, level, label, opensRow: place !== row && place !== "" });
      row = place;
    }
  }
  return { lines, pages };
}
