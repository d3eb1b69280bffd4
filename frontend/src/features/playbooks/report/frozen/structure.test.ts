import { expect, test } from "vitest";
import type { OutlinePart } from "@/api/types";
import { structureByLine } from "./structure";

function part(kind: OutlinePart["kind"], start: number, more: Partial<OutlinePart> = {}): OutlinePart {
  return { kind, start, end: start, level: 0, label: "", table: 0, row: 0, column: 0, ...more };
}

test("lines know what they are, also after characters beyond the basic plane", () => {
  const { lines, pages } = structureByLine("😀\nScope\nFirst\nA\nB\nC", [
    part("heading", 2, { level: 1 }),
    part("list_item", 8, { label: "1." }),
    part("page", 10, { level: 2 }),
    part("cell", 14, { table: 1, row: 1, column: 1 }),
    part("cell", 16, { table: 1, row: 1, column: 2 }),
    part("cell", 18, { table: 1, row: 2, column: 1 }),
  ]);
  expect([...lines].map(([start, { kind, label, opensRow }]) => [start, kind, label, opensRow])).toEqual([
    [3, "heading", "", false],
    [9, "list_item", "1.", false],
    [15, "cell", "", true],
    [17, "cell", "", false],
    [19, "cell", "", true],
  ]);
  expect([...pages]).toEqual([[9, 2]]);
});
