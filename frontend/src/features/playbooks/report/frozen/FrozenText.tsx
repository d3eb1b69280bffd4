import { useEffect, useLayoutEffect, useMemo, useRef } from "react";
import type { Result } from "@/api/types";
import { blockAt, markedSegments, type Place, splitBlocks } from "./segments";
import type { Structure } from "./structure";
import { TextBlock } from "./TextBlock";
import { useBlockWindow } from "./useBlockWindow";

/** The passage to scroll to, by its start. A new object for each request. */
export interface Target {
  start: number;
}

interface Props {
  text: string;
  /** In UTF-16 units, as everything in this folder. */
  places: readonly Place[];
  structure: Structure;
  /** By the number of the check, for the colours of its evidence. */
  results: ReadonlyMap<number, Result>;
  target: Target | null;
  onCheck: (number: number) => void;
  /** The region that scrolls. */
  scroller: React.RefObject<HTMLElement | null>;
}

/** Up to this length the whole text is in the document, where the browser's own search finds it. */
export const MAX_WHOLE = 200_000;

/** The text as evaluated, with the places that the report refers to marked. Of a long text, the part near the viewport. */
export function FrozenText({ text, places, structure, results, target, onCheck, scroller }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const marked = useMemo(() => markedSegments(places), [places]);
  const blocks = useMemo(() => splitBlocks(text), [text]);
  const whole = text.length <= MAX_WHOLE;
  const { first, end, above, below, reveal } = useBlockWindow(scroller, container, blocks, whole);
  const reached = useRef<Target | null>(null);

  useLayoutEffect(() => {
    if (target) reveal(blockAt(blocks, target.start));
  }, [target, blocks, reveal]);

  // After every rendering, until the block of the target is in the document.
  useLayoutEffect(() => {
    if (!target || reached.current === target) return;
    const mark = container.current?.querySelector<HTMLElement>(`#text-${target.start}`);
    if (!mark) return;
    reached.current = target;
    scrollToMark(mark);
    // Again, because blocks get their final height only when they are scrolled to.
    requestAnimationFrame(() => scrollToMark(mark));
  });

  useEffect(() => {
    const element = container.current;
    // For the mouse; keyboard users follow the check number after each quote.
    const click = (event: MouseEvent) => {
      const mark = event.target instanceof Element ? event.target.closest<HTMLElement>("mark[data-check]") : null;
      if (mark && !getSelection()?.toString()) onCheck(Number(mark.dataset.check));
    };
    element?.addEventListener("click", click);
    return () => element?.removeEventListener("click", click);
  }, [onCheck]);

  return (
    <div ref={container} className={whole ? "frozen whole" : "frozen"}>
      <Spacer height={above} />
      {blocks.slice(first, end).map((block, index) => (
        <TextBlock
          key={block.start}
          index={first + index}
          text={text}
          block={block}
          marked={marked}
          structure={structure}
          results={results}
          onCheck={onCheck}
        />
      ))}
      <Spacer height={below} />
    </div>
  );
}

/** Stands for blocks that are not in the document. */
function Spacer({ height }: { height: number }) {
  return height ? <div style={{ height, overflowAnchor: "none" }} /> : null;
}

function scrollToMark(mark: HTMLElement): void {
  mark.scrollIntoView({ block: "center" });
  mark.focus({ preventScroll: true });
}
