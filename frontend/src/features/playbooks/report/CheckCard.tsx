import type { CheckResult, Citation, Location } from "@/api/types";
import { Badge, Label, toneOf } from "@/components/Badge";
import { Fold } from "@/components/Fold";
import { Facts } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { counted, title } from "@/lib/format";
import { Said } from "./said";
import { checkFacts, REJECTED, runFacts, UNASKED } from "./words";

/** Leads a reader to a quote's place in the text; null where the text is not here. */
export type Show = ((location: Location) => void) | null;

export function CheckCard({ check, number, show }: { check: CheckResult; number: number; show: Show }) {
  return (
    <article
      id={`check-${number}`}
      tabIndex={-1}
      aria-labelledby={`check-${number}-name`}
      data-tone={toneOf(check.result)}
      data-check={check.check_id}
      className="scroll-mt-6 rounded border border-rule border-l-[0.4rem] border-l-(--tone) bg-card px-5 py-4"
    >
      <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <h3 id={`check-${number}-name`} className="text-lg font-semibold [overflow-wrap:anywhere]">
          {number}. <Seen>{title(check.check_id)}</Seen>
        </h3>
        <Badge of={check.result} />
      </header>
      <p className="foreign mt-1 text-soft">
        <Seen>{check.question}</Seen>
      </p>
      <div className="mt-3">
        <Facts of={checkFacts(check)} small />
      </div>
      {UNASKED[check.decided_by] ? <p className="mt-2 text-sm text-soft">{UNASKED[check.decided_by]}</p> : null}
      {check.incomplete ? (
        <p className="mt-2 font-semibold">Incomplete: fewer than a majority of its runs gave a valid vote.</p>
      ) : null}
      {check.raw_result ? (
        <p className="mt-2 font-semibold">
          The vote was {check.raw_result}, but its evidence was not found in the text. Evidence requirement not met: the
          result is {check.result}.
        </p>
      ) : null}
      {check.notes ? (
        <p className="foreign mt-3">
          <Said>{check.notes}</Said>
        </p>
      ) : null}
      <Quotes of={check.evidence_citations} show={show} title="Evidence" />
      <Runs of={check} />
      <Dissents of={check} show={show} />
      <Rejected of={check.rejected_citations} />
      <Hits of={check} show={show} />
    </article>
  );
}

const PART = "mt-4 mb-1.5 text-[0.8rem] font-semibold text-soft";

function Quotes({ of, show, title }: { of: readonly Citation[]; show: Show; title?: string }) {
  if (!of.length) return null;
  return (
    <>
      {title ? <h4 className={PART}>{title}</h4> : null}
      <ul className="space-y-2.5">
        {of.map((quote) => (
          <li key={`${quote.location?.start} ${quote.span}`} className="border-(--color-mark-deep) border-l-[3px] pl-3">
            <blockquote className="foreign font-serif">
              <Quoted span={quote.span} location={quote.location} show={show} />
            </blockquote>
            <p className="text-sm text-soft">
              {quote.location ? `line ${quote.location.line}` : "unverified: it stands nowhere in the text"}
              {quote.runs.length ? ` · ${quote.runs.length === 1 ? "run" : "runs"} ${quote.runs.join(", ")}` : ""}
              {quote.context ? (
                <>
                  {" · "}
                  <Said>{quote.context}</Said>
                </>
              ) : null}
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}

function Quoted({ span, location, show }: { span: string; location: Location | null; show: Show }) {
  const shown = (
    <>
      “<Seen>{span}</Seen>”
    </>
  );
  if (!location || !show) return shown;
  return (
    <button
      type="button"
      data-quote={location.start}
      title="Show it in the text"
      className="foreign text-left underline decoration-dotted decoration-soft underline-offset-4 hover:bg-mark"
      onClick={() => show(location)}
    >
      {shown}
    </button>
  );
}

function Runs({ of }: { of: CheckResult }) {
  if (!of.raw_runs.length) return null;
  return (
    <>
      <h4 className={PART}>Votes</h4>
      <ul className="flex flex-wrap gap-2">
        {of.raw_runs.map((run) => (
          <li key={run.run} className="rounded bg-well px-2.5 py-1 text-sm">
            <span className="font-semibold">Run {run.run}:</span>{" "}
            {run.valid ? (
              <>
                <Badge of={run.result} /> <Seen>{runFacts(run)}</Seen>
              </>
            ) : (
              <>
                <Label tone="plain">no vote</Label> <Said>{run.problem || run.notes || "no usable answer"}</Said>
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function Dissents({ of, show }: { of: CheckResult; show: Show }) {
  if (!of.dissent.length) return null;
  return (
    <>
      <h4 className={PART}>Dissent</h4>
      <ul className="space-y-2">
        {of.dissent.map((one) => (
          <li key={one.run}>
            <p className="foreign">
              Run {one.run}: <Badge of={one.result} /> <Said>{one.notes}</Said>
            </p>
            <Quotes of={one.evidence_citations} show={show} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Rejected({ of }: { of: readonly Citation[] }) {
  if (!of.length) return null;
  return (
    <>
      <h4 className={PART}>Rejected quotes</h4>
      <p className="text-sm text-soft">{REJECTED}</p>
      <ul className="mt-1 space-y-2">
        {of.map((quote) => (
          <li key={quote.span} className="border-rule border-l-[3px] pl-3">
            <del className="foreign font-serif text-soft">
              “<Seen>{quote.span}</Seen>”
            </del>
          </li>
        ))}
      </ul>
    </>
  );
}

const MOST_HITS = 200;

function Hits({ of, show }: { of: CheckResult; show: Show }) {
  if (!of.pattern_hits.length) return null;
  const shown = of.pattern_hits.slice(0, MOST_HITS);
  return (
    <div className="mt-4">
      <Fold title={counted(of.pattern_hits.length, "pattern hit")}>
        <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
          {shown.map((hit) => (
            <li key={`${hit.pattern} ${hit.location.start}`}>
              <Quoted span={hit.span} location={hit.location} show={show} /> (line {hit.location.line})
            </li>
          ))}
          {of.pattern_hits.length > MOST_HITS ? <li>… the JSON has all of them.</li> : null}
        </ul>
      </Fold>
    </div>
  );
}
