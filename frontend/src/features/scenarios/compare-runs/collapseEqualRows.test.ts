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

test("long sequences of equal rows are collapsed, except next to a difference", () => {
  expect(shape("=====x=====x=====")).toBe("(4)=x=(3)=x=(4)");
});
test("short sequences are not collapsed", () => {
  expect(shape("==x==x==")).toBe("==x==x==");
});
test("equal runs are one group, and no rows are no group", () => {
  expect(shape("====")).toBe("(4)");
  expect(shape("xx")).toBe("xx");
  expect(shape("")).toBe("");
});
