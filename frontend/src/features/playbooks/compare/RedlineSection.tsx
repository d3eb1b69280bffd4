import { useEffect, useMemo, useState } from "react";
import type { ComparedReports, Report } from "@/api/types";
import { Badge } from "@/components/Badge";
import { Button } from "@/components/Button";
import { Details } from "@/components/Details";
import { ScrollRegion, Section } from "@/components/layout";
import { Loading, Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { checkTitle, formatCount, pluralize } from "@/lib/format";
import { type Run, words } from "./redline";

/** The two texts with their differences by words, and what each report quotes as evidence beside them. */
export function RedlineSection({ data }: { data: ComparedReports }) {
  const { text_a: before, text_b: after } = data;
  if (before === null || after === null) {
    return (
      <Section title="The texts">
        <Notice>Only hashes of a text were stored, so the texts cannot be compared here.</Notice>
      </Section>
    );
  }
  return (
    <Section title="The texts">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] print:block">
        <div>
          {before === after ? <p>The two texts are the same.</p> : <ComparedTexts before={before} after={after} />}
        </div>
        <ScrollRegion
          label="What the reports quote"
          className="grid content-start gap-6 md:grid-cols-2 xl:max-h-[76vh] xl:grid-cols-1 xl:overflow-y-auto print:mt-6 print:max-h-none print:grid-cols-2 print:overflow-visible"
        >
          <Findings side="A" report={data.a} />
          <Findings side="B" report={data.b} />
        </ScrollRegion>
      </div>
    </Section>
  );
}

function ComparedTexts({ before, after }: { before: string; after: string }) {
  const { runs, failed } = useRedline(before, after);
  if (failed) return <Notice>The texts could not be compared by this browser.</Notice>;
  if (!runs) return <Loading label="the comparison" />;
  return <RedlineText runs={runs} />;
}

function useRedline(before: string, after: string): { runs: Run[] | null; failed: boolean } {
  const [state, setState] = useState<{ runs: Run[] | null; failed: boolean }>({ runs: null, failed: false });
  useEffect(() => {
    setState({ runs: null, failed: false });
    const worker = new Worker(new URL("./redline.worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<Run[]>) => setState({ runs: data, failed: false });
    worker.onerror = () => setState({ runs: null, failed: true });
    worker.postMessage({ before, after });
    return () => worker.terminate();
  }, [before, after]);
  return state;
}

/** Words of an unchanged passage that are shown around a change. */
const CONTEXT = 40;
/** Changes that are drawn at once. */
const PAGE = 200;

function RedlineText({ runs }: { runs: readonly Run[] }) {
  const [shown, setShown] = useState(PAGE);
  const changes = useMemo(() => runs.filter(({ kind }) => kind !== "same").length, [runs]);
  const drawn = useMemo(() => firstChanges(runs, shown), [runs, shown]);
  return (
    <>
      <p className="mb-2 text-sm text-soft">
        {`${pluralize(changes, "passage")} changed. `}
        <del className="bg-red-tint">Struck out</del> is only in A, <ins className="bg-green-tint">underlined</ins> only
        in B.
      </p>
      <article
        aria-label="Redline"
        className="foreign max-h-[70vh] overflow-y-auto whitespace-pre-wrap rounded border border-rule bg-card p-4 font-serif leading-relaxed print:max-h-none print:overflow-visible"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {drawn.map((run, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the runs of one comparison do not change
          <RunText key={index} run={run} isFirst={index === 0} isLast={index === runs.length - 1} />
        ))}
      </article>
      {drawn.length < runs.length ? (
        <p className="mt-2 flex flex-wrap items-baseline gap-x-3 gap-y-1">
          The first {formatCount(shown)} of {formatCount(changes)} changed passages are shown.
          <Button className="print:hidden" onClick={() => setShown(shown + PAGE)}>
            Show more changes
          </Button>
        </p>
      ) : null}
    </>
  );
}

function firstChanges(runs: readonly Run[], limit: number): readonly Run[] {
  let changes = 0;
  const end = runs.findIndex(({ kind }) => {
    if (kind !== "same") changes += 1;
    return changes > limit;
  });
  return end === -1 ? runs : runs.slice(0, end);
}

function RunText({ run, isFirst, isLast }: { run: Run; isFirst: boolean; isLast: boolean }) {
  if (run.kind === "removed") {
    return (
      <del className="bg-red-tint">
        <VisibleText>{run.text}</VisibleText>
      </del>
    );
  }
  if (run.kind === "added") {
    return (
      <ins className="bg-green-tint">
        <VisibleText>{run.text}</VisibleText>
      </ins>
    );
  }
  return <SameText text={run.text} isFirst={isFirst} isLast={isLast} />;
}

/** An unchanged passage; the middle of a long one can be opened. */
function SameText({ text, isFirst, isLast }: { text: string; isFirst: boolean; isLast: boolean }) {
  const [open, setOpen] = useState(false);
  const parts = useMemo(() => words(text), [text]);
  const [head, tail] = [isFirst ? 0 : CONTEXT, isLast ? 0 : CONTEXT];
  const hidden = parts.length - head - tail;
  if (open || hidden <= CONTEXT) return <VisibleText>{text}</VisibleText>;
  return (
    <>
      <VisibleText>{parts.slice(0, head).join("")}</VisibleText>{" "}
      <Button variant="inline" className="font-sans text-sm" onClick={() => setOpen(true)}>
        … {formatCount(hidden)} unchanged words …
      </Button>
      <VisibleText>{parts.slice(parts.length - tail).join("")}</VisibleText>
    </>
  );
}

function Findings({ side, report }: { side: string; report: Report }) {
  const checks = report.check_results.filter(({ evidence_citations }) => evidence_citations.length);
  return (
    <section aria-label={`Findings in ${side}`}>
      <h3 className="mb-2 font-semibold">Findings in {side}</h3>
      {checks.length ? null : <p className="text-soft">No passage is quoted.</p>}
      <ul className="space-y-3">
        {checks.map((check) => (
          <li key={check.check_id} className="[overflow-wrap:anywhere]">
            <p className="flex flex-wrap items-center gap-2">
              <Badge value={check.result} /> <VisibleText>{checkTitle(check.check_id)}</VisibleText>
            </p>
            <Quotes spans={[...new Set(check.evidence_citations.map(({ span }) => span))]} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Quotes of a check that are shown at once; the others are in a part that can be opened. */
const MAX_QUOTES = 20;

function Quotes({ spans }: { spans: readonly string[] }) {
  const others = spans.slice(MAX_QUOTES);
  return (
    <>
      <QuoteList spans={spans.slice(0, MAX_QUOTES)} />
      {others.length ? (
        <div className="mt-2">
          <Details title={pluralize(others.length, "more passage")}>
            <QuoteList spans={others} />
          </Details>
        </div>
      ) : null}
    </>
  );
}

function QuoteList({ spans }: { spans: readonly string[] }) {
  return (
    <ul className="mt-1 space-y-1">
      {spans.map((span) => (
        <li key={span} className="foreign border-(--color-mark-deep) border-l-[3px] pl-3 font-serif">
          “<VisibleText>{span}</VisibleText>”
        </li>
      ))}
    </ul>
  );
}
