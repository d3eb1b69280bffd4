import type { Place } from "./segments";

/** More passages than these are not listed: nobody steps through them. */
export const MAX_MATCHES = 10_000;

/** Where a text has these words, in upper or lower case; any white space between them matches any other. */
export function findMatches(text: string, query: string): Place[] {
  const words = query.trim().split(/\s+/).filter(Boolean).map(escaped);
  if (!words.length) return [];
  const pattern = new RegExp(words.join("\\s+"), "giu");
  const matches: Place[] = [];
  for (const { index, 0: found } of text.matchAll(pattern)) {
    matches.push({ start: index, end: index + found.length, kind: "match", check: 0 });
    if (matches.length === MAX_MATCHES) break;
  }
  return matches;
}

function escaped(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
