import { expect, test } from "vitest";
import { findMatches, MAX_MATCHES } from "./matches";

function found(text: string, query: string): string[] {
  return findMatches(text, query).map(({ start, end }) => text.slice(start, end));
}

test("words are found in upper and lower case, across line ends", () => {
  expect(found("The Force\nMajeure clause. No force majeure.", " force  majeure ")).toEqual([
    "Force\nMajeure",
    "force majeure",
  ]);
});

test("what is special in a pattern is searched as it is", () => {
  expect(found("a.b [c] (d) 1-2 $5 axb", "a.b")).toEqual(["a.b"]);
  expect(found("a.b [c] (d) 1-2 $5", "(d) 1-2 $5")).toEqual(["(d) 1-2 $5"]);
});

test("positions are right after characters beyond the basic plane", () => {
  expect(found("😀 İ Liability", "liability")).toEqual(["Liability"]);
});

test("nothing is found for nothing, and not more than can be stepped through", () => {
  expect(findMatches("abc", "  ")).toEqual([]);
  expect(findMatches("ab ".repeat(MAX_MATCHES + 5), "ab")).toHaveLength(MAX_MATCHES);
});
