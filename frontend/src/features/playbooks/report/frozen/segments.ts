/** Splits the frozen text for rendering: into segments with the same marks, and into blocks of lines. Pure. */

export type Kind = "evidence" | "finding" | "match" | "mention";

/** A range of the text that the report refers to, with the number of its check; 0 for none. */
export interface Place {
  start: number;
  end: number;
  kind: Kind;
  check: number;
}

/** A range of text covered by the same places, so that overlapping marks need not nest. */
export interface Segment {
  start: number;
  end: number;
  kinds: Kind[];
  /** The checks that cite this as evidence, in order. */
  checks: number[];
  /** Whether a place starts here; it is then the target of a quote. */
  startsPlace: boolean;
  /** The checks whose evidence ends here. */
  endingChecks: number[];
}

/** Consecutive lines that are rendered together. */
export interface Block {
  start: number;
  end: number;
  /** The number of its first line. */
  line: number;
  /** How many lines end in it. */
  lines: number;
  /** False if the block continues a line that is too long for one block. */
  opensLine: boolean;
}

export interface Part {
  text: string;
  segment: Segment | null;
  /** Whether the segment starts in this part, and whether it ends in it. */
  first: boolean;
  last: boolean;
}

export interface Row {
  /** Null if the row continues the previous line. */
  line: number | null;
  start: number;
  parts: Part[];
}

/**
 * Convert places from code points to UTF-16 units, without duplicates. A place outside the text is left out: it
 * belongs to another text.
 */
export function toUtf16Places(text: string, places: readonly Place[]): Place[] {
  const units = utf16Offsets(
    text,
    places.flatMap(({ start, end }) => [start, end]),
  );
  const unique = new Map<string, Place>();
  for (const place of places) {
    const start = units.get(place.start);
    const end = units.get(place.end);
    if (start === undefined || end === undefined || start >= end) continue;
    unique.set(`${start} ${end} ${place.kind} ${place.check}`, { ...place, start, end });
  }
  return [...unique.values()];
}

/** Map offsets in code points to offsets in UTF-16 units; those beyond the text are left out. */
export function utf16Offsets(text: string, offsets: readonly number[]): Map<number, number> {
  const sorted = [...new Set(offsets)].filter((offset) => offset >= 0).sort((a, b) => a - b);
  const units = new Map<number, number>();
  let point = 0;
  let unit = 0;
  for (const offset of sorted) {
    while (point < offset && unit < text.length) {
      unit += (text.codePointAt(unit) as number) > 0xffff ? 2 : 1;
      point += 1;
    }
    if (point === offset) units.set(offset, unit);
  }
  return units;
}

/** The marked segments, in order. */
export function markedSegments(places: readonly Place[]): Segment[] {
  const starts = byOffset(places, "start");
  const ends = byOffset(places, "end");
  const cuts = [...new Set([...starts.keys(), ...ends.keys()])].sort((a, b) => a - b);
  const kinds = new Map<Kind, number>();
  const checks = new Map<number, number>();
  const result: Segment[] = [];
  cuts.forEach((start, index) => {
    for (const place of ends.get(start) ?? []) countPlace(place, -1, kinds, checks);
    for (const place of starts.get(start) ?? []) countPlace(place, 1, kinds, checks);
    const end = cuts[index + 1];
    if (end === undefined || kinds.size === 0) return;
    const closing = (ends.get(end) ?? []).filter((place) => place.kind === "evidence");
    result.push({
      start,
      end,
      kinds: [...kinds.keys()].sort(),
      checks: [...checks.keys()].sort((a, b) => a - b),
      startsPlace: starts.has(start),
      endingChecks: [...new Set(closing.map((place) => place.check))].sort((a, b) => a - b),
    });
  });
  return result;
}

function byOffset(places: readonly Place[], side: "start" | "end"): Map<number, Place[]> {
  const groups = new Map<number, Place[]>();
  for (const place of places) {
    const group = groups.get(place[side]);
    if (group) group.push(place);
    else groups.set(place[side], [place]);
  }
  return groups;
}

function countPlace(place: Place, by: 1 | -1, kinds: Map<Kind, number>, checks: Map<number, number>): void {
  addCount(kinds, place.kind, by);
  if (place.kind === "evidence") addCount(checks, place.check, by);
}

function addCount<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count) counts.set(key, count);
  else counts.delete(key);
}

const MAX_LINES = 100;
const MAX_UNITS = 6000;

/** Split the text into blocks that render quickly. A line longer than a block is split, never inside a character. */
export function splitBlocks(text: string, mostLines = MAX_LINES, mostUnits = MAX_UNITS): Block[] {
  const result: Block[] = [];
  let start = 0;
  let line = 1;
  let opensLine = true;
  while (start < text.length) {
    const { end, lines } = blockEnd(text, start, mostLines, mostUnits);
    result.push({ start, end, line, lines, opensLine });
    line += lines;
    opensLine = text[end - 1] === "\n";
    start = end;
  }
  return result;
}

function blockEnd(text: string, start: number, mostLines: number, mostUnits: number): { end: number; lines: number } {
  // Search only within the block, so that a text without line ends is not scanned again for each block.
  const chunk = text.slice(start, start + mostUnits);
  let end = 0;
  let lines = 0;
  while (lines < mostLines) {
    const feed = chunk.indexOf("\n", end);
    if (feed === -1) break;
    end = feed + 1;
    lines += 1;
  }
  if (lines < mostLines && start + chunk.length === text.length) return { end: text.length, lines };
  return lines ? { end: start + end, lines } : { end: splitPoint(text, start, start + mostUnits), lines: 0 };
}

/** The last space before `end` if there is one nearby, otherwise `end` unless it is inside a surrogate pair. */
function splitPoint(text: string, start: number, end: number): number {
  const space = text.lastIndexOf(" ", end - 1) + 1;
  if (space > start && end - space < 200) return space;
  const half = text.charCodeAt(end);
  return half >= 0xdc00 && half <= 0xdfff ? end - 1 : end;
}

/** The lines of a block, split where marks start and end. */
export function blockRows(fullText: string, block: Block, marked: readonly Segment[]): Row[] {
  const text = fullText.slice(0, block.end);
  const result: Row[] = [];
  let at = block.start;
  let line: number | null = block.opensLine ? block.line : null;
  let next = block.line + 1;
  let index = firstSegmentAfter(marked, block.start);
  while (at < block.end) {
    const feed = text.indexOf("\n", at);
    const end = feed === -1 || feed >= block.end ? block.end : feed;
    const parts: Part[] = [];
    let from = at;
    for (; index < marked.length; index += 1) {
      const segment = marked[index] as Segment;
      if (segment.start >= end) break;
      if (segment.start > from) parts.push(plainPart(text.slice(from, segment.start)));
      const begin = Math.max(segment.start, from);
      const stop = Math.min(segment.end, end);
      if (stop > begin) {
        const last = segment.end <= end;
        parts.push({ text: text.slice(begin, stop), segment, first: begin === segment.start, last });
      }
      from = Math.max(stop, from);
      if (segment.end > end) break;
    }
    if (from < end) parts.push(plainPart(text.slice(from, end)));
    result.push({ line, start: at, parts });
    at = end + 1;
    line = next;
    next += 1;
  }
  return result;
}

function plainPart(text: string): Part {
  return { text, segment: null, first: false, last: false };
}

/** The first segment that ends after an offset. */
function firstSegmentAfter(marked: readonly Segment[], offset: number): number {
  let low = 0;
  let high = marked.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marked[middle] as Segment).end > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The index of the block that contains an offset. */
export function blockAt(blocks: readonly Block[], offset: number): number {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((blocks[middle] as Block).end > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}
