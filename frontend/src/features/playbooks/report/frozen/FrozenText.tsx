import { memo, useEffect, useLayoutEffect, useMemo, useRef } from "react";
import type { Result } from "@/api/types";
import { badgeSign, badgeTone, type Tone } from "@/components/Badge";
import { VisibleText } from "@/components/VisibleText";
import {
  type Block,
  blockAt,
  blockRows,
  markedSegments,
  type Part,
  type Place,
  type Segment,
  splitBlocks,
} from "./segments";
import type { LineStructure, Structure } from "./structure";
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

interface BlockProps {
  index: number;
  text: string;
  block: Block;
  marked: readonly Segment[];
  structure: Structure;
  results: ReadonlyMap<number, Result>;
  onCheck: (number: number) => void;
}

const TextBlock = memo(function BlockOfLines({ index, text, block, marked, structure, results, onCheck }: BlockProps) {
  return (
    <div className="block" data-block={index}>
      {blockRows(text, block, marked).map((row) => (
        <div
          key={row.start}
          data-line={row.line ?? undefined}
          data-page={structure.pages.get(row.start)}
          {...lineAttributes(structure.lines.get(row.start))}
        >
          <LineNumber label={structure.lines.get(row.start)?.label} />
          {row.parts.map((part, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never change their order
            <TextPart key={number} part={part} results={results} onCheck={onCheck} />
          ))}
        </div>
      ))}
    </div>
  );
});

/** A heading, a list item or a cell of a table is shown as that; its number is not part of the text. */
function lineAttributes(line: LineStructure | undefined) {
  if (!line) return { className: "line" };
  const heading = line.kind === "heading" ? { role: "heading", "aria-level": Math.min(line.level + 2, 6) } : {};
  return {
    className: `line ${line.kind}${line.opensRow ? " opens-row" : ""}`,
    "data-level": line.level,
    ...heading,
  };
}

/** The number or bullet before a paragraph, drawn by the style sheet: it is not part of the text. */
function LineNumber({ label }: { label: string | undefined }) {
  return label ? <span className="number" data-label={label} /> : null;
}

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
