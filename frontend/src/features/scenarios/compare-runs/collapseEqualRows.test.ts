import { expect, test } from "vitest";
import { collapseEqualRows } from "./collapseEqualRows";

function shape(text: string): string {
  const rows = [...text].map((letter) => ({ same: letter === "=" }));
  const parts = collapseEqualRows(rows);
  expect(parts.flatMap((part) => part.rows)).toEqual(rows);
  expect(parts.map(({ from }) => from)).toEqual(parts.map((_, at) => parts.slice(0, at).flatMap((p) => p.rows).length));
  return parts
    .map((part) => (part.rows.length > 1 ? `(${part.rows.length})` : part.rows[0]?.same ? "=" : "x"))
    .join("");
}

test("long stretches that are the same are folded, but for the row beside a difference", () => {
  expect(shape("=====x=====x=====")).toBe("(4)=x=(3)=x=(4)");
});
test("short ones are not worth a fold", () => {
  expect(shape("==x==x==")).toBe("==x==x==");
});
test("two runs that are the same throughout are one fold, and none at all is nothing", () => {
  expect(shape("====")).toBe("(4)");
  expect(shape("xx")).toBe("xx");
  expect(shape("")).toBe("");
});
