import { describe, expect, test } from "vitest";
import { diffLines, formatValue, truncate } from "./text";

describe("a value as it is read", () => {
  test("a text stays as it is, and a short value stays on one line", () => {
    expect(formatValue("a\nb")).toBe("a\nb");
    expect(formatValue({ flight: "B6", prices: [1, 2] })).toBe('{ "flight": "B6", "prices": [ 1, 2 ] }');
    expect([formatValue(null), formatValue(0), formatValue([])]).toEqual(["null", "0", "[]"]);
  });
  test("a line feed within a text is no room to be taken away", () => {
    expect(formatValue({ a: "x\n   y" })).toBe('{ "a": "x\\n   y" }');
  });
  test("a long value has a line for each part that fits on one", () => {
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
  test("what JSON cannot say is nothing", () => {
    expect(formatValue(undefined)).toBe("");
  });
});

describe("a long text", () => {
  test("is cut after so many lines or characters, whichever come first", () => {
    expect(truncate("a\nb\nc\nd", 100, 2)).toEqual({ text: "a\nb", omitted: 4 });
    expect(truncate("x".repeat(1000), 100, 2)).toEqual({ text: "x".repeat(100), omitted: 900 });
  });
  test("is whole where little more would be left out", () => {
    expect(truncate("x".repeat(105), 100, 5)).toEqual({ text: "x".repeat(105), omitted: 0 });
    expect(truncate("", 100, 5)).toEqual({ text: "", omitted: 0 });
  });
  test("is never cut through a character", () => {
    expect(truncate("😀".repeat(50), 11, 5).text).toBe("😀".repeat(5));
  });
  test("with as many lines as allowed is whole", () => {
    expect(truncate("a\nb", 100, 2)).toEqual({ text: "a\nb", omitted: 0 });
  });
});

describe("two texts side by side", () => {
  test("only what is not common at the beginning or the end is marked", () => {
    const [a, b] = diffLines("{\n1\n2\n}", "{\n1\n3\n4\n}");
    expect(a.filter(({ changed }) => changed).map(({ text }) => text)).toEqual(["2"]);
    expect(b.filter(({ changed }) => changed).map(({ text }) => text)).toEqual(["3", "4"]);
  });
  test("the same text has no mark", () => {
    expect(
      diffLines("a\nb", "a\nb")
        .flat()
        .some(({ changed }) => changed),
    ).toBe(false);
  });
  test("a line that was only repeated is marked once", () => {
    const [a, b] = diffLines("x", "x\nx");
    expect([a.filter((line) => line.changed).length, b.filter((line) => line.changed).length]).toEqual([0, 1]);
  });
});
