import { memo } from "react";
import type { Result } from "@/api/types";
import { badgeSign, badgeTone, type Tone } from "@/components/Badge";
import { VisibleText } from "@/components/VisibleText";
import { type Block, blockRows, type Part, type Row, type Segment } from "./segments";
import { groupTables, type LineStructure, type PageStart, type Structure, type TableRows } from "./structure";

interface BlockProps extends MarkProps {
  index: number;
  text: string;
  block: Block;
  marked: readonly Segment[];
  structure: Structure;
}

/** Consecutive lines of the text. Tables among them are shown as tables. */
export const TextBlock = memo(function BlockOfLines({ index, text, block, marked, structure, ...marks }: BlockProps) {
  return (
    <div className="block" data-block={index}>
      {groupTables(blockRows(text, block, marked), structure).map((item) =>
        "cells" in item ? (
          <TableOfCells key={item.start} table={item} structure={structure} {...marks} />
        ) : (
          <Line key={item.start} row={item} structure={structure} {...marks} />
        ),
      )}
    </div>
  );
});

interface MarkProps {
  /** By the number of the check. */
  results: ReadonlyMap<number, Result>;
  onCheck: (number: number) => void;
}

interface TableProps extends MarkProps {
  table: TableRows;
  structure: Structure;
}

/** Tables with more columns than this have their cells one below the other: always, or on a narrow screen. */
const MAX_COLUMNS = 6;
const MAX_NARROW_COLUMNS = 3;

function TableOfCells({ table, structure, ...marks }: TableProps) {
  const { columns } = table;
  const stacked = columns > MAX_COLUMNS ? "stacked" : columns > MAX_NARROW_COLUMNS ? "stacked-if-narrow" : "";
  return (
    <table className={stacked}>
      <tbody>
        {table.cells.map((cells) => (
          <tr key={cells[0]?.rows[0]?.start}>
            <MissingCells before={cells[0]?.column ?? 1} />
            {cells.map(({ column, endColumn, rows }) => (
              <td key={column} colSpan={endColumn - column}>
                {rows.map((row) => (
                  <Line key={row.start} row={row} structure={structure} {...marks} />
                ))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Stands for the first cells of a row that are in the block before. */
function MissingCells({ before }: { before: number }) {
  return before > 1 ? <td colSpan={before - 1} /> : null;
}

interface LineProps extends MarkProps {
  row: Row;
  structure: Structure;
}

function Line({ row, structure, results, onCheck }: LineProps) {
  const line = structure.lines.get(row.start);
  const page = structure.pages.get(row.start);
  return (
    <>
      {page ? <div className="page-start" data-label={pageLabel(page)} /> : null}
      <div data-line={row.line ?? undefined} {...lineAttributes(line)}>
        {line?.label ? <span className="number" data-label={line.label} /> : null}
        {row.parts.map((part, number) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never change their order
          <TextPart key={number} part={part} results={results} onCheck={onCheck} />
        ))}
      </div>
    </>
  );
}

function pageLabel({ number, inside }: PageStart): string {
  return inside ? `Page ${number} begins in this paragraph` : `Page ${number}`;
}

/** A heading or a list item is shown as that. Its number is drawn by the style sheet: it is not part of the text. */
function lineAttributes(line: LineStructure | undefined) {
  if (!line) return { className: "line" };
  const heading = line.kind === "heading" ? { role: "heading", "aria-level": Math.min(line.level + 2, 6) } : {};
  return { className: `line ${line.kind}`, "data-level": line.level, ...heading };
}

interface TextPartProps extends MarkProps {
  part: Part;
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
