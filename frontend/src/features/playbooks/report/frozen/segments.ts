/** The frozen text cut into what can be drawn: stretches with the same marks over them, and blocks of lines. Pure. */

export type Kind = "evidence" | "finding" | "mention";

/** A part of the text that the report points at, and the number of the check that does; 0 where none does. */
export interface Place {
  start: number;
  end: number;
  kind: Kind;
  check: number;
}

/** A stretch of text with the same places over all of it; so marks need not nest, however they overlap. */
export interface Segment {
  start: number;
  end: number;
  kinds: Kind[];
  /** The checks whose evidence this is, in order. */
  checks: number[];
  /** Whether a place begins with it: then it is what a quote leads to. */
  begins: boolean;
  /** The checks whose evidence ends with it. */
  ended: number[];
}

/** A run of lines drawn together. */
export interface Block {
  start: number;
  end: number;
  /** The number of its first line. */
  line: number;
  /** False where it goes on with a line too long for one block. */
  opensLine: boolean;
}

export interface Part {
  text: string;
  segment: Segment | null;
  /** Whether the segment begins in this part, and whether it ends in it. */
  first: boolean;
  last: boolean;
}

export interface Row {
  /** Null where it goes on with the line before it. */
  line: number | null;
  start: number;
  parts: Part[];
}

/**
 * Locations count code points and the browser counts UTF-16 units: the same places in the browser's count, each once.
 * A place outside the text is left out: it belongs to another one.
 */
export function inUnits(text: string, places: readonly Place[]): Place[] {
  const units = unitsOf(
    text,
    places.flatMap(({ start, end }) => [start, end]),
  );
  const found = new Map<string, Place>();
  for (const place of places) {
    const start = units.get(place.start);
    const end = units.get(place.end);
    if (start === undefined || end === undefined || start >= end) continue;
    found.set(`${start} ${end} ${place.kind} ${place.check}`, { ...place, start, end });
  }
  return [...found.values()];
}

/** Each offset in code points as one in UTF-16 units; those beyond the text are left out. */
export function unitsOf(text: string, offsets: readonly number[]): Map<number, number> {
  const wanted = [...new Set(offsets)].filter((offset) => offset >= 0).sort((a, b) => a - b);
  const units = new Map<number, number>();
  let point = 0;
  let unit = 0;
  for (const offset of wanted) {
    while (point < offset && unit < text.length) {
      unit += (text.codePointAt(unit) as number) > 0xffff ? 2 : 1;
      point += 1;
    }
    if (point === offset) units.set(offset, unit);
  }
  return units;
}

/** Only what is marked, in order. */
export function segments(places: readonly Place[]): Segment[] {
  const beginning = byOffset(places, "start");
  const ending = byOffset(places, "end");
  const cuts = [...new Set([...beginning.keys(), ...ending.keys()])].sort((a, b) => a - b);
  const kinds = new Map<Kind, number>();
  const checks = new Map<number, number>();
  const found: Segment[] = [];
  cuts.forEach((start, index) => {
    for (const place of ending.get(start) ?? []) tally(place, -1, kinds, checks);
    for (const place of beginning.get(start) ?? []) tally(place, 1, kinds, checks);
    const end = cuts[index + 1];
    if (end === undefined || kinds.size === 0) return;
    const closing = (ending.get(end) ?? []).filter((place) => place.kind === "evidence");
    found.push({
      start,
      end,
      kinds: [...kinds.keys()].sort(),
      checks: [...checks.keys()].sort((a, b) => a - b),
      begins: beginning.has(start),
      ended: [...new Set(closing.map((place) => place.check))].sort((a, b) => a - b),
    });
  });
  return found;
}

function byOffset(places: readonly Place[], side: "start" | "end"): Map<number, Place[]> {
  const found = new Map<number, Place[]>();
  for (const place of places) {
    const there = found.get(place[side]);
    if (there) there.push(place);
    else found.set(place[side], [place]);
  }
  return found;
}

function tally(place: Place, by: 1 | -1, kinds: Map<Kind, number>, checks: Map<number, number>): void {
  add(kinds, place.kind, by);
  if (place.kind === "evidence") add(checks, place.check, by);
}

function add<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  const now = (counts.get(key) ?? 0) + by;
  if (now) counts.set(key, now);
  else counts.delete(key);
}

const MOST_LINES = 100;
const MOST_UNITS = 6000;

/** The whole text in blocks that are quick to draw; a line that is longer than a block is cut, never inside a character. */
export function blocks(text: string, mostLines = MOST_LINES, mostUnits = MOST_UNITS): Block[] {
  const found: Block[] = [];
  let start = 0;
  let line = 1;
  let opensLine = true;
  while (start < text.length) {
    const { end, lines } = cut(text, start, mostLines, mostUnits);
    found.push({ start, end, line, opensLine });
    line += lines;
    opensLine = text[end - 1] === "\n";
    start = end;
  }
  return found;
}

function cut(text: string, start: number, mostLines: number, mostUnits: number): { end: number; lines: number } {
  // Only what a block may hold is looked through: a text without line ends would be read again for each block.
  const most = text.slice(start, start + mostUnits);
  let end = 0;
  let lines = 0;
  while (lines < mostLines) {
    const feed = most.indexOf("\n", end);
    if (feed === -1) break;
    end = feed + 1;
    lines += 1;
  }
  if (lines < mostLines && start + most.length === text.length) return { end: text.length, lines };
  return lines ? { end: start + end, lines } : { end: within(text, start, start + mostUnits), lines: 0 };
}

/** At the last space before it where there is one near, and not between the halves of a character. */
function within(text: string, start: number, end: number): number {
  const space = text.lastIndexOf(" ", end - 1) + 1;
  if (space > start && end - space < 200) return space;
  const half = text.charCodeAt(end);
  return half >= 0xdc00 && half <= 0xdfff ? end - 1 : end;
}

/** The lines of a block, each cut where its marks begin and end. */
export function rows(whole: string, block: Block, marked: readonly Segment[]): Row[] {
  const text = whole.slice(0, block.end);
  const found: Row[] = [];
  let at = block.start;
  let line: number | null = block.opensLine ? block.line : null;
  let next = block.line + 1;
  let index = firstAfter(marked, block.start);
  while (at < block.end) {
    const feed = text.indexOf("\n", at);
    const end = feed === -1 || feed >= block.end ? block.end : feed;
    const parts: Part[] = [];
    let from = at;
    for (; index < marked.length; index += 1) {
      const segment = marked[index] as Segment;
      if (segment.start >= end) break;
      if (segment.start > from) parts.push(plain(text.slice(from, segment.start)));
      const begin = Math.max(segment.start, from);
      const stop = Math.min(segment.end, end);
      if (stop > begin) {
        const last = segment.end <= end;
        parts.push({ text: text.slice(begin, stop), segment, first: begin === segment.start, last });
      }
      from = Math.max(stop, from);
      if (segment.end > end) break;
    }
    if (from < end) parts.push(plain(text.slice(from, end)));
    found.push({ line, start: at, parts });
    at = end + 1;
    line = next;
    next += 1;
  }
  return found;
}

function plain(text: string): Part {
  return { text, segment: null, first: false, last: false };
}

/** The first segment that ends after an offset. */
function firstAfter(marked: readonly Segment[], offset: number): number {
  let low = 0;
  let high = marked.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marked[middle] as Segment).end > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The block that an offset is in. */
export function blockAt(of: readonly Block[], offset: number): number {
  let low = 0;
  let high = of.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((of[middle] as Block).end > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}
