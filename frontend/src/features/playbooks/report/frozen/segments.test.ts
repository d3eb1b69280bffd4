import { describe, expect, test } from "vitest";
import { blockAt, blockRows, markedSegments, type Place, splitBlocks, toUtf16Places } from "./segments";

function evidence(start: number, end: number, check = 1): Place {
  return { start, end, kind: "evidence", check };
}

function render(text: string, places: Place[], mostLines = 60, mostUnits = 6000) {
  const marked = markedSegments(toUtf16Places(text, places));
  return splitBlocks(text, mostLines, mostUnits).flatMap((block) => blockRows(text, block, marked));
}

describe("marks", () => {
  test("places count code points, also after surrogate pairs", () => {
    const text = "😀😀 legal";
    const [place] = toUtf16Places(text, [evidence(3, 8)]);
    expect(text.slice(place?.start, place?.end)).toBe("legal");
  });
  test("a lone surrogate counts as one code point", () => {
    const text = "\ud83d legal";
    const [place] = toUtf16Places(text, [evidence(2, 7)]);
    expect(text.slice(place?.start, place?.end)).toBe("legal");
  });
  test("a place outside the text is left out", () => {
    expect(toUtf16Places("short", [evidence(2, 99), evidence(-1, 3), evidence(3, 3)])).toEqual([]);
  });
  test("a place cited by several runs is marked once", () => {
    expect(toUtf16Places("abc", [evidence(0, 2), evidence(0, 2)])).toHaveLength(1);
  });
  test("overlapping quotes are split, and the overlap names both checks", () => {
    const segments = markedSegments([evidence(0, 6, 1), evidence(4, 9, 2)]);
    expect(segments.map(({ start, end, checks, endingChecks }) => ({ start, end, checks, endingChecks }))).toEqual([
      { start: 0, end: 4, checks: [1], endingChecks: [] },
      { start: 4, end: 6, checks: [1, 2], endingChecks: [1] },
      { start: 6, end: 9, checks: [2], endingChecks: [2] },
    ]);
  });
  test("a quote inside another one splits the outer quote", () => {
    const segments = markedSegments([evidence(0, 9, 1), evidence(3, 5, 2)]);
    expect(segments.map(({ checks }) => checks)).toEqual([[1], [1, 2], [1]]);
  });
  test("adjacent quotes stay separate", () => {
    expect(markedSegments([evidence(0, 3, 1), evidence(3, 6, 2)]).map(({ checks }) => checks)).toEqual([[1], [2]]);
  });
});

describe("lines", () => {
  test("a quote across a line end is marked on both lines", () => {
    const [first, second] = render("one two\nthree", [evidence(4, 13)]);
    expect(first?.parts.map(({ text, first, last }) => ({ text, first, last }))).toEqual([
      { text: "one ", first: false, last: false },
      { text: "two", first: true, last: false },
    ]);
    expect(second?.parts.map(({ text, first, last }) => ({ text, first, last }))).toEqual([
      { text: "three", first: false, last: true },
    ]);
  });
  test("a quote across an empty line is marked on both sides", () => {
    const rows = render("a\n\nb c", [evidence(0, 4)]);
    expect(rows.map(({ line, parts }) => [line, parts.map(({ text }) => text)])).toEqual([
      [1, ["a"]],
      [2, []],
      [3, ["b", " c"]],
    ]);
  });
  test("line numbers continue across blocks", () => {
    expect(render("a\nb\nc\nd\n", [], 2).map(({ line }) => line)).toEqual([1, 2, 3, 4]);
  });
  test("a line too long for a block continues without a number", () => {
    const rows = render("xxxxxxxxxx\nend", [], 60, 4);
    expect(rows.map(({ line, parts }) => [line, parts.map(({ text }) => text).join("")])).toEqual([
      [1, "xxxx"],
      [null, "xxxx"],
      [null, "xx"],
      [2, "end"],
    ]);
  });
  test("no surrogate pair is split", () => {
    expect(splitBlocks("ab😀cd", 60, 3).map(({ start, end }) => "ab😀cd".slice(start, end))).toEqual([
      "ab",
      "😀c",
      "d",
    ]);
  });
  test("rendering keeps the text unchanged for any places", () => {
    let seed = 7;
    const chance = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % below;
    };
    for (let round = 0; round < 300; round += 1) {
      const text = Array.from({ length: chance(60) }, () => "ab \n\n😀x"[chance(7)] ?? "y").join("");
      const places = Array.from({ length: chance(8) }, () => {
        const start = chance(50);
        return evidence(start, start + chance(20), 1 + chance(3));
      });
      const rows = render(text, places, 1 + chance(4), 2 + chance(12));
      const rendered = rows
        .map(({ line, parts }, index) => (line !== null && index ? "\n" : "") + parts.map(({ text }) => text).join(""))
        .join("");
      expect(rendered).toBe(text.replace(/\n$/, ""));
    }
  });
  test("two megabytes are split quickly, also without line ends", () => {
    expect(splitBlocks("x".repeat(2_000_000)).length).toBeLessThan(400);
    expect(splitBlocks("\n".repeat(200_000)).length).toBeLessThan(4000);
  });
  test("an offset is found in its block", () => {
    const blocks = splitBlocks("a\nb\nc\nd", 1);
    expect([0, 1, 2, 6].map((offset) => blockAt(blocks, offset))).toEqual([0, 0, 1, 3]);
  });
});
