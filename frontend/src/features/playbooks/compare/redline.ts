/**
 * The difference of two texts by words, in time that grows with their length: words that occur once in both texts anchor
 * the comparison, and what lies between two anchors is compared with a bounded effort. What is left is shown as replaced.
 */

export interface Run {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Cells of one table of the exact comparison between two anchors. */
const MAX_CELLS = 250_000;
/** How often what lies between anchors is searched for further ones. */
const MAX_DEPTH = 12;

/** Words, each with the white space before it: joined they are the text. */
export function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

export function redline(before: string, after: string): Run[] {
  const a = words(before);
  const b = words(after);
  const runs: Run[] = [];
  const add = (kind: Run["kind"], items: readonly string[]) => {
    if (!items.length) return;
    const last = runs[runs.length - 1];
    const text = items.join("");
    if (last?.kind === kind) last.text += text;
    else runs.push({ kind, text });
  };
  compare(a.map(key), b.map(key), (kind, from, to) => add(kind, (kind === "removed" ? a : b).slice(from, to)));
  return inOrder(withoutScraps(inOrder(runs)));
}

/** A few words that stay between two changes are a coincidence if each of the changes is several times as long. */
const SCRAP_WORDS = 3;
const LONGER = 2;

/** Counts an unchanged passage as replaced where it only tears apart what was rewritten: "the" between two sentences. */
function withoutScraps(runs: readonly Run[]): Run[] {
  const kept: Run[] = [];
  runs.forEach((run, index) => {
    const size = run.kind === "same" ? words(run.text).length : 0;
    if (size && size <= SCRAP_WORDS && isLongChange(runs, index, -1, size) && isLongChange(runs, index, 1, size)) {
      kept.push({ kind: "removed", text: run.text }, { kind: "added", text: run.text });
    } else kept.push(run);
  });
  return kept;
}

/** Whether words were both removed and added on this side of a passage, and several times as many as it has. */
function isLongChange(runs: readonly Run[], index: number, step: 1 | -1, size: number): boolean {
  const beside = [runs[index + step], runs[index + 2 * step]];
  return (["removed", "added"] as const).every((kind) => {
    const change = beside.find((run) => run?.kind === kind);
    return change !== undefined && words(change.text).length >= LONGER * size;
  });
}

/** White space does not make a word another one. */
function key(word: string): string {
  return word.trim();
}

type Emit = (kind: Run["kind"], from: number, to: number) => void;

/** Words of both texts, from one word up to another one. */
interface Range {
  aFrom: number;
  aTo: number;
  bFrom: number;
  bTo: number;
}

function compare(a: readonly string[], b: readonly string[], emit: Emit): void {
  compareRange(a, b, { aFrom: 0, aTo: a.length, bFrom: 0, bTo: b.length }, 0, emit);
}

function compareRange(a: readonly string[], b: readonly string[], range: Range, depth: number, emit: Emit): void {
  let { aFrom, aTo, bFrom, bTo } = range;
  while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) {
    aFrom += 1;
    bFrom += 1;
  }
  while (aTo > aFrom && bTo > bFrom && a[aTo - 1] === b[bTo - 1]) {
    aTo -= 1;
    bTo -= 1;
  }
  emit("same", range.bFrom, bFrom);
  compareMiddle(a, b, { aFrom, aTo, bFrom, bTo }, depth, emit);
  emit("same", bTo, range.bTo);
}

function compareMiddle(a: readonly string[], b: readonly string[], range: Range, depth: number, emit: Emit): void {
  const { aFrom, aTo, bFrom, bTo } = range;
  const [aLength, bLength] = [aTo - aFrom, bTo - bFrom];
  if (aLength && bLength && aLength * bLength <= MAX_CELLS) {
    compareExactly(a, b, range, emit);
    return;
  }
  const anchors = aLength && bLength && depth < MAX_DEPTH ? commonAnchors(a, b, range) : [];
  if (!anchors.length) {
    emit("removed", aFrom, aTo);
    emit("added", bFrom, bTo);
    return;
  }
  let [aNext, bNext] = [aFrom, bFrom];
  for (const [aAnchor, bAnchor] of [...anchors, [aTo, bTo] as const]) {
    compareRange(a, b, { aFrom: aNext, aTo: aAnchor, bFrom: bNext, bTo: bAnchor }, depth + 1, emit);
    if (bAnchor < bTo) emit("same", bAnchor, bAnchor + 1);
    [aNext, bNext] = [aAnchor + 1, bAnchor + 1];
  }
}

/** The words that occur once on each side, as far as they are in the same order: a longest increasing subsequence. */
function commonAnchors(a: readonly string[], b: readonly string[], range: Range): [number, number][] {
  const inA = singlePlaces(a, range.aFrom, range.aTo);
  const inB = singlePlaces(b, range.bFrom, range.bTo);
  const pairs: [number, number][] = [];
  for (const [word, place] of inA) {
    const other = inB.get(word);
    if (place >= 0 && other !== undefined && other >= 0) pairs.push([place, other]);
  }
  pairs.sort((one, two) => one[0] - two[0]);
  return longestIncreasing(pairs);
}

/** The place of each word; -1 for a word that occurs more than once. */
function singlePlaces(items: readonly string[], from: number, to: number): Map<string, number> {
  const places = new Map<string, number>();
  for (let index = from; index < to; index += 1) {
    const word = items[index] as string;
    places.set(word, places.has(word) ? -1 : index);
  }
  return places;
}

function longestIncreasing(pairs: readonly [number, number][]): [number, number][] {
  const tails: number[] = [];
  const previous = new Array<number>(pairs.length).fill(-1);
  pairs.forEach(([, place], index) => {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] as number] as [number, number])[1] < place) low = middle + 1;
      else high = middle;
    }
    if (low) previous[index] = tails[low - 1] as number;
    tails[low] = index;
  });
  const chain: [number, number][] = [];
  for (
    let index = tails.length ? (tails[tails.length - 1] as number) : -1;
    index >= 0;
    index = previous[index] as number
  ) {
    chain.push(pairs[index] as [number, number]);
  }
  return chain.reverse();
}

/** The longest common subsequence, by a table. */
function compareExactly(a: readonly string[], b: readonly string[], range: Range, emit: Emit): void {
  const { aFrom, aTo, bFrom, bTo } = range;
  const [rows, columns] = [aTo - aFrom, bTo - bFrom];
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] as number;
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        a[aFrom + row] === b[bFrom + column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  let [row, column] = [0, 0];
  while (row < rows && column < columns) {
    if (a[aFrom + row] === b[bFrom + column]) {
      emit("same", bFrom + column, bFrom + column + 1);
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) {
      emit("removed", aFrom + row, aFrom + row + 1);
      row += 1;
    } else {
      emit("added", bFrom + column, bFrom + column + 1);
      column += 1;
    }
  }
  emit("removed", aFrom + row, aTo);
  emit("added", bFrom + column, bTo);
}

/** Between two equal passages, what was removed comes first, in one piece. */
function inOrder(runs: readonly Run[]): Run[] {
  const ordered: Run[] = [];
  let removed = "";
  let added = "";
  const flush = () => {
    if (removed) ordered.push({ kind: "removed", text: removed });
    if (added) ordered.push({ kind: "added", text: added });
    removed = "";
    added = "";
  };
  for (const run of runs) {
    if (run.kind === "removed") removed += run.text;
    else if (run.kind === "added") added += run.text;
    else {
      flush();
      ordered.push(run);
    }
  }
  flush();
  return ordered;
}
