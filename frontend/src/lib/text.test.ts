import { describe, expect, test } from "vitest";
import { diffLines, formatValue, truncate } from "./text";

describe("formatValue", () => {
  test("keeps a string unchanged and a short value on one line", () => {
    expect(formatValue("a\nb")).toBe("a\nb");
    expect(formatValue({ flight: "B6", prices: [1, 2] })).toBe('{ "flight": "B6", "prices": [ 1, 2 ] }');
    expect([formatValue(null), formatValue(0), formatValue([])]).toEqual(["null", "0", "[]"]);
  });
  test("keeps a line feed within a string", () => {
    expect(formatValue({ a: "x\n   y" })).toBe('{ "a": "x\\n   y" }');
  });
  test("gives each part that fits a line of its own", () => {
    const value = { flights: [{ id: "UA-1537" }, { id: "B6-0916", note: "x".repeat(40) }], n: 1 };
    expect(formatValue(value)).toBe(
      [
        "{",
        '  "flights": [',
        '    { "id": "UA-1537" },',
        `    { "id": "B6-0916", "note": "${"x".repeat(40)}" }`,
        "  ],",
        '  "n": 1',
        "}",
      ].join("\n"),
    );
    expect(JSON.parse(formatValue(value))).toEqual(value);
  });
  test("returns nothing for what JSON cannot express", () => {
    expect(formatValue(undefined)).toBe("");
  });
});

describe("truncate", () => {
  test("cuts after so many lines or characters, whichever comes first", () => {
    expect(truncate("a\nb\nc\nd", 100, 2)).toEqual({ text: "a\nb", omitted: 4 });
    expect(truncate("x".repeat(1000), 100, 2)).toEqual({ text: "x".repeat(100), omitted: 900 });
  });
  test("does not cut when only little would be left out", () => {
    expect(truncate("x".repeat(105), 100, 5)).toEqual({ text: "x".repeat(105), omitted: 0 });
    expect(truncate("", 100, 5)).toEqual({ text: "", omitted: 0 });
  });
  test("never cuts through a surrogate pair", () => {
    expect(truncate("😀".repeat(50), 11, 5).text).toBe("😀".repeat(5));
  });
  test("does not cut a text with exactly the allowed number of lines", () => {
    expect(truncate("a\nb", 100, 2)).toEqual({ text: "a\nb", omitted: 0 });
  });
});

describe("diffLines", () => {
  test("marks what is not common at the beginning or the end", () => {
    const [a, b] = diffLines("{\n1\n2\n}", "{\n1\n3\n4\n}");
    expect(a.filter(({ changed }) => changed).map(({ text }) => text)).toEqual(["2"]);
    expect(b.filter(({ changed }) => changed).map(({ text }) => text)).toEqual(["3", "4"]);
  });
  test("marks nothing in equal texts", () => {
    expect(
      diffLines("a\nb", "a\nb")
        .flat()
        .some(({ changed }) => changed),
    ).toBe(false);
  });
  test("marks a repeated line once", () => {
    const [a, b] = diffLines("x", "x\nx");
    expect([a.filter((line) => line.changed).length, b.filter((line) => line.changed).length]).toEqual([0, 1]);
  });
});
