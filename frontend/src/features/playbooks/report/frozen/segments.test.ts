import { describe, expect, test } from "vitest";
import { blockAt, blockRows, markedSegments, type Place, splitBlocks, toUtf16Places } from "./segments";

function evidence(start: number, end: number, check = 1): Place {
  return { start, end, kind: "evidence", check };
}

function drawn(text: string, places: Place[], mostLines = 60, mostUnits = 6000) {
  const marked = markedSegments(toUtf16Places(text, places));
  return splitBlocks(text, mostLines, mostUnits).flatMap((block) => blockRows(text, block, marked));
}

describe("marks", () => {
  test("code points are counted, also after characters that take two units", () => {
    const text = "😀😀 legal";
    const [place] = toUtf16Places(text, [evidence(3, 8)]);
    expect(text.slice(place?.start, place?.end)).toBe("legal");
  });
  test("lone surrogates count as one", () => {
    const text = "\ud83d legal";
    const [place] = toUtf16Places(text, [evidence(2, 7)]);
    expect(text.slice(place?.start, place?.end)).toBe("legal");
  });
  test("a place outside the text is left out", () => {
    expect(toUtf16Places("short", [evidence(2, 99), evidence(-1, 3), evidence(3, 3)])).toEqual([]);
  });
  test("the same place given by several runs is one", () => {
    expect(toUtf16Places("abc", [evidence(0, 2), evidence(0, 2)])).toHaveLength(1);
  });
  test("overlapping quotes are cut, and the overlap names both checks", () => {
    const found = markedSegments([evidence(0, 6, 1), evidence(4, 9, 2)]);
    expect(found.map(({ start, end, checks, endingChecks: ended }) => ({ start, end, checks, ended }))).toEqual([
      { start: 0, end: 4, checks: [1], ended: [] },
      { start: 4, end: 6, checks: [1, 2], ended: [1] },
      { start: 6, end: 9, checks: [2], ended: [2] },
    ]);
  });
  test("a quote inside another leaves the outer one whole around it", () => {
    const found = markedSegments([evidence(0, 9, 1), evidence(3, 5, 2)]);
    expect(found.map(({ checks }) => checks)).toEqual([[1], [1, 2], [1]]);
  });
  test("two quotes that touch are two", () => {
    expect(markedSegments([evidence(0, 3, 1), evidence(3, 6, 2)]).map(({ checks }) => checks)).toEqual([[1], [2]]);
  });
});

describe("lines", () => {
  test("a quote over a line end is marked on both lines, begins on the first and ends on the last", () => {
    const [first, second] = drawn("one two\nthree", [evidence(4, 13)]);
    expect(first?.parts.map(({ text, first, last }) => ({ text, first, last }))).toEqual([
      { text: "one ", first: false, last: false },
      { text: "two", first: true, last: false },
    ]);
    expect(second?.parts.map(({ text, first, last }) => ({ text, first, last }))).toEqual([
      { text: "three", first: false, last: true },
    ]);
  });
  test("a quote over an empty line survives it", () => {
    const found = drawn("a\n\nb c", [evidence(0, 4)]);
    expect(found.map(({ line, parts }) => [line, parts.map(({ text }) => text)])).toEqual([
      [1, ["a"]],
      [2, []],
      [3, ["b", " c"]],
    ]);
  });
  test("lines are numbered through all blocks", () => {
    expect(drawn("a\nb\nc\nd\n", [], 2).map(({ line }) => line)).toEqual([1, 2, 3, 4]);
  });
  test("a line too long for a block goes on without a number, and lines after it keep theirs", () => {
    const found = drawn("xxxxxxxxxx\nend", [], 60, 4);
    expect(found.map(({ line, parts }) => [line, parts.map(({ text }) => text).join("")])).toEqual([
      [1, "xxxx"],
      [null, "xxxx"],
      [null, "xx"],
      [2, "end"],
    ]);
  });
  test("no character is cut in two", () => {
    expect(splitBlocks("ab😀cd", 60, 3).map(({ start, end }) => "ab😀cd".slice(start, end))).toEqual([
      "ab",
      "😀c",
      "d",
    ]);
  });
  test("whatever the text and the places, drawing loses and adds nothing", () => {
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
      const found = drawn(text, places, 1 + chance(4), 2 + chance(12));
      const again = found
        .map(({ line, parts }, index) => (line !== null && index ? "\n" : "") + parts.map(({ text }) => text).join(""))
        .join("");
      expect(again).toBe(text.replace(/\n$/, ""));
    }
  });
  test("two megabytes are cut in a moment, also without a single line end", () => {
    expect(splitBlocks("x".repeat(2_000_000)).length).toBeLessThan(400);
    expect(splitBlocks("\n".repeat(200_000)).length).toBeLessThan(4000);
  });
  test("an offset is found in its block", () => {
    const blocks = splitBlocks("a\nb\nc\nd", 1);
    expect([0, 1, 2, 6].map((offset) => blockAt(blocks, offset))).toEqual([0, 0, 1, 3]);
  });
});
