import { describe, expect, test } from "vitest";
import { escapeInvisible, splitInvisible } from "./unicodeEscape";

describe("odd characters", () => {
  test("bidi controls, NUL and tags are spelled out", () => {
    expect(escapeInvisible("a\u202eb\0c\u{e0041}")).toBe("a⟦U+202E⟧b⟦U+0000⟧c⟦U+E0041⟧");
  });
  test("lone surrogates are spelled out and pairs are left alone", () => {
    expect(escapeInvisible("\ud83d\ude00 \ud83d x")).toBe("😀 ⟦U+D83D⟧ x");
  });
  test("tabs, line feeds and letters of any script are left alone", () => {
    const text = "§ 7\tHaftung\nשלום 契約";
    expect(escapeInvisible(text)).toBe(text);
  });
  test("a text is cut at each, and nothing of it is lost", () => {
    expect(splitInvisible("x\u200by")).toEqual([
      { text: "x", invisible: false },
      { text: "U+200B", invisible: true },
      { text: "y", invisible: false },
    ]);
    expect(splitInvisible("")).toEqual([]);
  });
});
