/** Long texts, and values that may be anything. Pure. */

const WIDTH = 90;
/** Beyond this, parts are not weighed for whether they fit on a line. */
const LONG = 200_000;

/** A value as it is read: a text as it is, anything else as JSON, each part on one line where it fits. */
export function readable(value: unknown): string {
  if (typeof value === "string") return value;
  const line = JSON.stringify(value) ?? "";
  return line.length > LONG ? JSON.stringify(value, null, 2) : laidOut(value, "");
}

function laidOut(value: unknown, indent: string): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "";
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const deeper = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((part) => laidOut(part, deeper))
    : Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${laidOut(part, deeper)}`);
  if (!parts.length) return `${open}${close}`;
  const together = `${open} ${parts.join(", ")} ${close}`;
  if (indent.length + together.length <= WIDTH && !together.includes("\n")) return together;
  return `${open}\n${parts.map((part) => deeper + part).join(",\n")}\n${indent}${close}`;
}

export interface Cut {
  text: string;
  /** Characters that were left out. */
  left: number;
}

/** Its beginning: at most so many lines and characters, and no half of a character. */
export function cut(text: string, characters: number, lines: number): Cut {
  let end = Math.min(text.length, characters);
  let from = 0;
  for (let line = 0; line < lines; line++) {
    const next = text.indexOf("\n", from);
    if (next === -1 || next >= end) {
      from = -1;
      break;
    }
    from = next + 1;
  }
  if (from > 0) end = Math.min(end, from - 1);
  // A few more are shown at once rather than behind a button.
  if (text.length - end < characters / 10 && from <= 0) end = text.length;
  if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? "")) end -= 1;
  return { text: text.slice(0, end), left: text.length - end };
}

export interface Marked {
  text: string;
  changed: boolean;
}

/** Two texts as lines, those between their common beginning and end marked. */
export function sideBySide(a: string, b: string): [Marked[], Marked[]] {
  const [left, right] = [a.split("\n"), b.split("\n")];
  let head = 0;
  while (head < Math.min(left.length, right.length) && left[head] === right[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(left.length, right.length) - head && left.at(-1 - tail) === right.at(-1 - tail)) tail += 1;
  const mark = (lines: string[]) =>
    lines.map((text, index) => ({ text, changed: index >= head && index < lines.length - tail }));
  return [mark(left), mark(right)];
}
