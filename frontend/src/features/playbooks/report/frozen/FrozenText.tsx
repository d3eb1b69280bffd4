import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Seen } from "@/components/Seen";
import { spelled } from "@/lib/visible";
import {
  type Block,
  blockAt,
  blocks,
  inUnits,
  type Part,
  type Place,
  rows,
  type Segment,
  segments,
  unitsOf,
} from "./segments";

/** A quote that somebody wants to see in its place: where it begins, in code points; a new object each time. */
export interface Target {
  start: number;
}

interface Props {
  text: string;
  places: readonly Place[];
  target: Target | null;
  onCheck: (number: number) => void;
}

/** Up to this length every block is drawn with its marks at once; beyond, a block is when it comes near. */
const SHORT = 200_000;

/**
 * The text as it was evaluated, with what the report points at marked in place. All of it is always there as text, so
 * that the browser finds and prints it; line numbers and marks are drawn only where somebody looks.
 */
export function FrozenText({ text, places, target, onCheck }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const marked = useMemo(() => segments(inUnits(text, places)), [text, places]);
  const all = useMemo(() => blocks(text), [text]);
  const [near, setNear] = useNear(container, all.length, text.length <= SHORT);

  useLayoutEffect(() => {
    if (!target) return;
    const start = unitsOf(text, [target.start]).get(target.start);
    if (start === undefined) return;
    setNear(blockAt(all, start));
    // Twice: the blocks on the way get their true height only when they are scrolled to.
    const go = () => goTo(container.current?.querySelector<HTMLElement>(`#text-${start}`));
    requestAnimationFrame(() => {
      go();
      requestAnimationFrame(go);
    });
  }, [target, text, all, setNear]);

  useEffect(() => {
    const element = container.current;
    // For the mouse; by keyboard the number after each quote leads to its check.
    const click = (event: MouseEvent) => {
      const mark = event.target instanceof Element ? event.target.closest<HTMLElement>("mark[data-check]") : null;
      if (mark && !getSelection()?.toString()) onCheck(Number(mark.dataset.check));
    };
    element?.addEventListener("click", click);
    return () => element?.removeEventListener("click", click);
  }, [onCheck]);

  return (
    <div ref={container} className="frozen">
      {all.map((block, index) => (
        <BlockOfLines
          key={block.start}
          index={index}
          text={text}
          block={block}
          marked={marked}
          drawn={near.has(index)}
          onCheck={onCheck}
        />
      ))}
    </div>
  );
}

function goTo(mark: HTMLElement | null | undefined): void {
  mark?.scrollIntoView({ block: "center" });
  mark?.focus({ preventScroll: true });
}

/** The blocks that are or were near what is seen. */
function useNear(container: React.RefObject<HTMLDivElement | null>, count: number, short: boolean) {
  const [near, setAll] = useState<ReadonlySet<number>>(new Set());
  const everything = useMemo(() => new Set(Array.from({ length: count }, (_, index) => index)), [count]);
  const add = useMemo(
    () =>
      (...indexes: number[]) =>
        setAll((now) => (indexes.every((index) => now.has(index)) ? now : new Set([...now, ...indexes]))),
    [],
  );
  useEffect(() => {
    if (short || !container.current) return;
    const observer = new IntersectionObserver(
      (seen) =>
        add(
          ...seen.filter((one) => one.isIntersecting).map((one) => Number((one.target as HTMLElement).dataset.block)),
        ),
      { rootMargin: "800px" },
    );
    for (const block of container.current.children) observer.observe(block);
    return () => observer.disconnect();
  }, [container, short, add]);
  return [short ? everything : near, add] as const;
}

interface BlockProps {
  index: number;
  text: string;
  block: Block;
  marked: readonly Segment[];
  drawn: boolean;
  onCheck: (number: number) => void;
}

const BlockOfLines = memo(function BlockOfLines({ index, text, block, marked, drawn, onCheck }: BlockProps) {
  if (!drawn) {
    return (
      <div className="block" data-block={index}>
        {spelled(text.slice(block.start, block.end))}
      </div>
    );
  }
  return (
    <div className="block" data-block={index}>
      {rows(text, block, marked).map((row) => (
        <div key={row.start} className="line" data-line={row.line ?? undefined}>
          {row.parts.map((part, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never change their order
            <Piece key={number} part={part} onCheck={onCheck} />
          ))}
        </div>
      ))}
    </div>
  );
});

function Piece({ part, onCheck }: { part: Part; onCheck: (number: number) => void }) {
  const { segment } = part;
  const shown = <Seen>{part.text}</Seen>;
  if (!segment) return shown;
  const classes = [...segment.kinds, ...(segment.checks.length > 1 ? ["overlap"] : [])].join(" ");
  return (
    <>
      <mark
        className={classes}
        data-check={segment.checks[0]}
        {...(part.first && segment.begins ? { id: `text-${segment.start}`, tabIndex: -1 } : {})}
      >
        {shown}
      </mark>
      {part.last
        ? segment.ended.map((check) => (
            <a
              key={check}
              className="ref"
              href={`#check-${check}`}
              aria-label={`Evidence of check ${check}: go to its card`}
              onClick={(event) => {
                event.preventDefault();
                onCheck(check);
              }}
            >
              {check}
            </a>
          ))
        : null}
    </>
  );
}
