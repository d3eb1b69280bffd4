import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Block } from "./segments";

/** The blocks that are in the document: from `first` up to and without `end`. */
interface BlockRange {
  first: number;
  end: number;
}

export interface BlockWindow extends BlockRange {
  /** The height in pixels of the blocks before and after, which are not in the document. */
  above: number;
  below: number;
  /** Put a block into the document. Its neighbours come with it. */
  reveal: (index: number) => void;
}

/** How far beyond the visible part blocks are rendered, in pixels. */
const MARGIN = 1200;
/** What a reader moves through the text with. */
const MOVES = ["keydown", "wheel", "pointerdown", "touchstart"] as const;
/** How a block that was not rendered yet is estimated: pixels per line, and characters per rendered line. */
const LINE_HEIGHT = 27;
const CHARACTERS_PER_LINE = 70;

/**
 * Which blocks of a long text are in the document: those near the visible part of the region that scrolls. With `whole`
 * and on paper, all of them.
 */
export function useBlockWindow(
  scroller: RefObject<HTMLElement | null>,
  container: RefObject<HTMLElement | null>,
  blocks: readonly Block[],
  whole: boolean,
): BlockWindow {
  const heights = useMemo(() => blocks.map(estimatedHeight), [blocks]);
  const [range, setRange] = useState<BlockRange>({ first: 0, end: 1 });
  const [, remeasured] = useState(0);
  const printing = usePrinting();
  const hadFocus = useRef(false);
  // After the End key, until the reader moves on: blocks may turn out higher than estimated, and the end moves away.
  const atEnd = useRef(false);
  const all = whole || printing;

  const update = useCallback(() => {
    const region = scroller.current;
    if (!region) return;
    const next = rangeAt(heights, region.scrollTop - MARGIN, region.scrollTop + region.clientHeight + MARGIN);
    hadFocus.current = container.current?.contains(document.activeElement) ?? false;
    setRange((current) => (current.first === next.first && current.end === next.end ? current : next));
  }, [heights, scroller, container]);

  useEffect(() => {
    const region = scroller.current;
    if (all || !region) return;
    update();
    const observer = new ResizeObserver(update);
    observer.observe(region);
    region.addEventListener("scroll", update, { passive: true });
    const move = (event: Event) => {
      const key = event instanceof KeyboardEvent && !event.shiftKey && !event.altKey ? event.key : "";
      atEnd.current = key === "End";
      if (key !== "End" && key !== "Home") return;
      event.preventDefault();
      region.scrollTop = key === "End" ? region.scrollHeight : 0;
    };
    for (const type of MOVES) region.addEventListener(type, move, { passive: type !== "keydown" });
    return () => {
      observer.disconnect();
      region.removeEventListener("scroll", update);
      for (const type of MOVES) region.removeEventListener(type, move);
    };
  }, [all, scroller, update]);

  // After every rendering: only rendered blocks have a height, and it changes with the width of the page.
  useLayoutEffect(() => {
    if (all) return;
    let changed = false;
    for (const element of container.current?.querySelectorAll<HTMLElement>("[data-block]") ?? []) {
      const index = Number(element.dataset.block);
      const height = element.getBoundingClientRect().height;
      if (height && Math.abs(height - (heights[index] ?? 0)) > 1) {
        heights[index] = height;
        changed = true;
      }
    }
    if (changed) remeasured((count) => count + 1);
    if (atEnd.current && scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
    // What had the focus may have left the document. The keys should still scroll the text.
    if (hadFocus.current && document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
    hadFocus.current = false;
  });

  const reveal = useCallback(
    (index: number) => {
      atEnd.current = false;
      setRange({ first: Math.max(0, index - 1), end: Math.min(blocks.length, index + 2) });
    },
    [blocks],
  );
  if (all) return { first: 0, end: blocks.length, above: 0, below: 0, reveal };
  const { first } = range;
  const end = Math.min(range.end, blocks.length);
  return { first, end, above: sum(heights, 0, first), below: sum(heights, end, heights.length), reveal };
}

function estimatedHeight(block: Block): number {
  return LINE_HEIGHT * (block.lines + (block.end - block.start) / CHARACTERS_PER_LINE);
}

/** The blocks that reach into the part from `top` to `bottom`. */
function rangeAt(heights: readonly number[], top: number, bottom: number): BlockRange {
  let first = 0;
  let offset = 0;
  while (first < heights.length - 1 && offset + (heights[first] ?? 0) < top) {
    offset += heights[first] ?? 0;
    first += 1;
  }
  let end = first;
  while (end < heights.length && offset < bottom) {
    offset += heights[end] ?? 0;
    end += 1;
  }
  return { first, end: Math.max(end, first + 1) };
}

function sum(heights: readonly number[], from: number, to: number): number {
  let total = 0;
  for (let index = from; index < to; index += 1) total += heights[index] ?? 0;
  return total;
}

/** Whether the page is being printed. It is rendered before the browser takes its picture. */
function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return printing;
}
