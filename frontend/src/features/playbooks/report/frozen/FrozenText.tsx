import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Result } from "@/api/types";
import { badgeSign, badgeTone, type Tone } from "@/components/Badge";
import { VisibleText } from "@/components/VisibleText";
import { escapeInvisible } from "@/lib/unicodeEscape";
import {
  type Block,
  blockAt,
  blockRows,
  markedSegments,
  type Part,
  type Place,
  type Segment,
  splitBlocks,
  toUtf16Places,
  utf16Offsets,
} from "./segments";

/** The quote to scroll to, by its start in code points. A new object for each request. */
export interface Target {
  start: number;
}

interface Props {
  text: string;
  places: readonly Place[];
  /** By the number of the check, for the colours of its evidence. */
  results: ReadonlyMap<number, Result>;
  target: Target | null;
  onCheck: (number: number) => void;
}

/** Up to this length all blocks are rendered with marks at once; in longer texts, when they come near the viewport. */
const MAX_FULLY_MARKED = 200_000;

/**
 * The text as evaluated, with the places that the report refers to marked. The whole text is always in the document, so
 * that search and print work; line numbers and marks are rendered only near the viewport.
 */
export function FrozenText({ text, places, results, target, onCheck }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const marked = useMemo(() => markedSegments(toUtf16Places(text, places)), [text, places]);
  const blocks = useMemo(() => splitBlocks(text), [text]);
  const [near, setNear] = useNearbyBlocks(container, blocks.length, text.length <= MAX_FULLY_MARKED);

  useLayoutEffect(() => {
    if (!target) return;
    const start = utf16Offsets(text, [target.start]).get(target.start);
    if (start === undefined) return;
    setNear(blockAt(blocks, start));
    // Scroll twice: blocks get their final height only when they are scrolled to.
    const scroll = () => scrollToMark(container.current?.querySelector<HTMLElement>(`#text-${start}`));
    requestAnimationFrame(() => {
      scroll();
      requestAnimationFrame(scroll);
    });
  }, [target, text, blocks, setNear]);

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
    <div ref={container} className="frozen">
      {blocks.map((block, index) => (
        <TextBlock
          key={block.start}
          index={index}
          text={text}
          block={block}
          marked={marked}
          results={results}
          withMarks={near.has(index)}
          onCheck={onCheck}
        />
      ))}
    </div>
  );
}

function scrollToMark(mark: HTMLElement | null | undefined): void {
  mark?.scrollIntoView({ block: "center" });
  mark?.focus({ preventScroll: true });
}

/** The blocks that are or were near the viewport. */
function useNearbyBlocks(container: React.RefObject<HTMLDivElement | null>, count: number, short: boolean) {
  const [near, setNear] = useState<ReadonlySet<number>>(new Set());
  const allBlocks = useMemo(() => new Set(Array.from({ length: count }, (_, index) => index)), [count]);
  const add = useMemo(
    () =>
      (...indexes: number[]) =>
        setNear((current) =>
          indexes.every((index) => current.has(index)) ? current : new Set([...current, ...indexes]),
        ),
    [],
  );
  useEffect(() => {
    if (short || !container.current) return;
    const observer = new IntersectionObserver(
      (entries) =>
        add(
          ...entries
            .filter((entry) => entry.isIntersecting)
            .map((entry) => Number((entry.target as HTMLElement).dataset.block)),
        ),
      { rootMargin: "800px" },
    );
    for (const block of container.current.children) observer.observe(block);
    return () => observer.disconnect();
  }, [container, short, add]);
  return [short ? allBlocks : near, add] as const;
}

interface BlockProps {
  index: number;
  text: string;
  block: Block;
  marked: readonly Segment[];
  results: ReadonlyMap<number, Result>;
  withMarks: boolean;
  onCheck: (number: number) => void;
}

const TextBlock = memo(function BlockOfLines({ index, text, block, marked, results, withMarks, onCheck }: BlockProps) {
  if (!withMarks) {
    return (
      <div className="block" data-block={index}>
        {escapeInvisible(text.slice(block.start, block.end))}
      </div>
    );
  }
  return (
    <div className="block" data-block={index}>
      {blockRows(text, block, marked).map((row) => (
        <div key={row.start} className="line" data-line={row.line ?? undefined}>
          {row.parts.map((part, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never change their order
            <TextPart key={number} part={part} results={results} onCheck={onCheck} />
          ))}
        </div>
      ))}
    </div>
  );
});

interface TextPartProps {
  part: Part;
  results: ReadonlyMap<number, Result>;
  onCheck: (number: number) => void;
}

/** The order in which the result of several checks that quote one passage decides its colour. */
const WORST_FIRST: readonly Result[] = ["fail", "indeterminate", "pass"];

function TextPart({ part, results, onCheck }: TextPartProps) {
  const { segment } = part;
  const content = <VisibleText>{part.text}</VisibleText>;
  if (!segment) return content;
  const worst = WORST_FIRST.find((result) => segment.checks.some((check) => results.get(check) === result));
  const classes = [...segment.kinds, ...(segment.checks.length > 1 ? ["overlap"] : [])].join(" ");
  return (
    <>
      <mark
        className={classes}
        data-check={segment.checks[0]}
        {...(worst ? { "data-tone": badgeTone(worst) } : {})}
        {...(part.first && segment.startsPlace ? { id: `text-${segment.start}`, tabIndex: -1 } : {})}
      >
        {content}
      </mark>
      {part.last
        ? segment.endingChecks.map((check) => (
            <a
              key={check}
              className="ref"
              href={`#check-${check}`}
              data-tone={toneOf(results.get(check))}
              aria-label={`Evidence for check ${check}, result ${results.get(check) ?? "unknown"}: go to the check`}
              onClick={(event) => {
                event.preventDefault();
                onCheck(check);
              }}
            >
              {signOf(results.get(check))}
              {check}
            </a>
          ))
        : null}
    </>
  );
}

function toneOf(result: Result | undefined): Tone {
  return result ? badgeTone(result) : "plain";
}

function signOf(result: Result | undefined): string {
  return result ? badgeSign(result) : "";
}
