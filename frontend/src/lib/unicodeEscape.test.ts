import { describe, expect, test } from "vitest";
import { escapeInvisible, splitInvisible } from "./unicodeEscape";

describe("invisible characters", () => {
  test("escapes bidi controls, NUL and tag characters", () => {
    expect(escapeInvisible("a\u202eb\0c\u{e0041}")).toBe("a⟦U+202E⟧b⟦U+0000⟧c⟦U+E0041⟧");
  });
  test("escapes lone surrogates and keeps surrogate pairs", () => {
    expect(escapeInvisible("\ud83d\ude00 \ud83d x")).toBe("😀 ⟦U+D83D⟧ x");
  });
  test("keeps tabs, line feeds and letters of any script", () => {
    const text = "§ 7\tHaftung\nשלום 契約";
    expect(escapeInvisible(text)).toBe(text);
  });
  test("splits the text at each one without losing anything", () => {
    expect(splitInvisible("x\u200by")).toEqual([
      { text: "x", invisible: false },
      { text: "U+200B", invisible: true },
      { text: "y", invisible: false },
    ]);
    expect(splitInvisible("")).toEqual([]);
  });
});
