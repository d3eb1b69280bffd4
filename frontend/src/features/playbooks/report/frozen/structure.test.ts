import { expect, test } from "vitest";
import type { OutlinePart } from "@/api/types";
import { blockRows, splitBlocks } from "./segments";
import { groupTables, structureByLine, type TableRows } from "./structure";

function part(kind: OutlinePart["kind"], start: number, more: Partial<OutlinePart> = {}): OutlinePart {
  return { kind, start, end: start, level: 0, label: "", table: 0, row: 0, column: 0, ...more };
}

function cell(start: number, table: number, row: number, column: number): OutlinePart {
  return part("cell", start, { table, row, column });
}

test("lines know what they are, also after characters beyond the basic plane", () => {
  const { lines, pages } = structureByLine("😀\nScope\nFirst\nA\nB\nC", [
    part("heading", 2, { level: 1 }),
    part("list_item", 8, { label: "1." }),
    part("page", 10, { level: 2 }),
    part("page", 14, { level: 3 }),
    cell(14, 1, 1, 1),
    cell(16, 1, 1, 2),
    cell(18, 1, 2, 1),
  ]);
  expect([...lines].map(([start, { kind, label, row, column }]) => [start, kind, label, row, column])).toEqual([
    [3, "heading", "", 0, 0],
    [9, "list_item", "1.", 0, 0],
    [15, "cell", "", 1, 1],
    [17, "cell", "", 1, 2],
    [19, "cell", "", 2, 1],
  ]);
  expect([...pages]).toEqual([
    [9, { number: 2, inside: true }],
    [15, { number: 3, inside: false }],
  ]);
});

function tables(text: string, outline: readonly OutlinePart[]) {
  const [block] = splitBlocks(text);
  if (!block) return [];
  return groupTables(blockRows(text, block, []), structureByLine(text, outline)).map((item) =>
    "cells" in item ? shown(item, text) : text.slice(item.start).split("\n")[0],
  );
}

function shown({ cells }: TableRows, text: string) {
  return cells.map((row) =>
    row.map(({ column, endColumn, rows }) => {
      const words = rows.map(({ start }) => text.slice(start).split("\n")[0]).join(" + ");
      return `${column}-${endColumn} ${words}`;
    }),
  );
}

test("the cells of a table are grouped by row; one that spans columns, or has several lines, stays one cell", () => {
  const outline = [cell(2, 1, 1, 1), cell(4, 1, 2, 1), cell(6, 1, 2, 2), cell(8, 1, 2, 2), cell(10, 2, 2, 1)];
  expect(tables("x\nA\nB\nC\nD\nE\ny", outline)).toEqual(["x", [["1-3 A"], ["1-2 B", "2-3 C + D"]], [["1-2 E"]], "y"]);
});
