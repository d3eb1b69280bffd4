/** Formats long texts and arbitrary values. Pure. */

const LINE_WIDTH = 90;
/** Longer values are indented by JSON.stringify, without fitting parts on one line. */
const MAX_LAID_OUT = 200_000;

/** Format a value for reading: a string unchanged, anything else as JSON with each part on one line where it fits. */
export function formatValue(value: unknown): string {
  if (typeof value === "string") return value;
  const line = JSON.stringify(value) ?? "";
  return line.length > MAX_LAID_OUT ? JSON.stringify(value, null, 2) : layOut(value, "");
}

function layOut(value: unknown, indent: string): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "";
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const innerIndent = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((part) => layOut(part, innerIndent))
    : Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${layOut(part, innerIndent)}`);
  if (!parts.length) return `${open}${close}`;
  const oneLine = `${open} ${parts.join(", ")} ${close}`;
  if (indent.length + oneLine.length <= LINE_WIDTH && !oneLine.includes("\n")) return oneLine;
  return `${open}\n${parts.map((part) => innerIndent + part).join(",\n")}\n${indent}${close}`;
}

export interface TruncatedText {
  text: string;
  /** The number of characters left out. */
  omitted: number;
}

/** Return the beginning: at most so many lines and characters, never half of a surrogate pair. */
export function truncate(text: string, characters: number, lines: number): TruncatedText {
  let end = Math.min(text.length, characters);
  let lineStart = 0;
  for (let line = 0; line < lines; line++) {
    const next = text.indexOf("\n", lineStart);
    if (next === -1 || next >= end) {
      lineStart = -1;
      break;
    }
    lineStart = next + 1;
  }
  if (lineStart > 0) end = Math.min(end, lineStart - 1);
  // Show a few more characters at once rather than behind a button.
  if (text.length - end < characters / 10 && lineStart <= 0) end = text.length;
  if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? "")) end -= 1;
  return { text: text.slice(0, end), omitted: text.length - end };
}

export interface DiffLine {
  text: string;
  changed: boolean;
}

/** Split two texts into lines and mark those between their common beginning and end as changed. */
export function diffLines(a: string, b: string): [DiffLine[], DiffLine[]] {
  const [left, right] = [a.split("\n"), b.split("\n")];
  let head = 0;
  while (head < Math.min(left.length, right.length) && left[head] === right[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(left.length, right.length) - head && left.at(-1 - tail) === right.at(-1 - tail)) tail += 1;
  const mark = (lines: string[]) =>
    lines.map((text, index) => ({ text, changed: index >= head && index < lines.length - tail }));
  return [mark(left), mark(right)];
}
