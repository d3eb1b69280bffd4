/** Makes invisible characters visible, so that control characters in a text cannot mislead its reader. */

const INVISIBLE = new RegExp(
  "[" +
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f" + // control characters, except tab and line feed
    "\\xad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e" + // soft hyphen, invisible marks of scripts
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f" + // zero width, line separators, bidi controls, invisible operators
    "\\ud800-\\udfff" + // lone surrogates
    "\\ue000-\\uf8ff\\u{f0000}-\\u{10ffff}" + // private use
    "\\ufdd0-\\ufdef\\ufeff\\ufff9-\\ufffb\\ufffe\\uffff" + // noncharacters, byte order mark, annotations
    "\\u{110bd}\\u{110cd}\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}" +
    "\\u{e0000}-\\u{e00ff}" + // tag characters, which can spell out hidden text
    "]",
  "gu",
);

export interface TextPiece {
  text: string;
  invisible: boolean;
}

/** The code point in Unicode notation, such as "U+202E". */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Replace each invisible character by its code point in brackets that hardly any text uses. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) => `⟦${codePointName(character)}⟧`);
}

/** Split the text at each invisible character. */
export function splitInvisible(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), invisible: false });
    pieces.push({ text: codePointName(match[0]), invisible: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), invisible: false });
  return pieces;
}
