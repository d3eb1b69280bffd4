import { Fragment } from "react";
import type { CheckResult, Citation, Location, ReportLabels } from "@/api/types";
import { Badge, badgeTone } from "@/components/Badge";
import { Details } from "@/components/Details";
import { Facts } from "@/components/layout";
import { VisibleText } from "@/components/VisibleText";
import { pluralize } from "@/lib/format";
import { EvaluatorNote } from "./EvaluatorNote";
import { namingChecks } from "./namingChecks";
import { positionLabel } from "./positionLabel";
import { Quote, type ShowInText } from "./Quote";

interface CheckCardProps {
  check: CheckResult;
  labels: ReportLabels;
  number: number;
  show: ShowInText;
  /** What people decided about it. */
  children?: React.ReactNode;
}

/** A card per check. Passed and derived checks are collapsed: they are not what a reader must act on. */
export function CheckCard({ check, labels, number, show, children }: CheckCardProps) {
  const checkLabels = labels.checks[check.check_id];
  const showsVotes = checkLabels?.shows_votes ?? true;
  const collapsed = check.result === "pass" || check.decided_by === "derived";
  return (
    <article
      id={`check-${number}`}
      tabIndex={-1}
      aria-labelledby={`check-${number}-name`}
      data-tone={badgeTone(check.result)}
      data-check={check.check_id}
      className="scroll-mt-28 break-inside-avoid rounded border border-rule border-l-[0.4rem] border-l-(--tone) bg-card"
    >
      <details open={!collapsed} className="group/card">
        <summary className="flex list-none flex-wrap items-center gap-x-3 gap-y-1 px-5 py-3 hover:bg-well [&::-webkit-details-marker]:hidden">
          <span
            aria-hidden="true"
            className="inline-block text-soft transition-transform group-open/card:rotate-90 print:hidden"
          >
            ▸
          </span>
          <h3 id={`check-${number}-name`} className="flex-1 text-lg font-semibold [overflow-wrap:anywhere]">
            {number}. <VisibleText>{checkLabels?.title ?? check.check_id}</VisibleText>
          </h3>
          <Badge value={check.result} />
        </summary>
        <div className="px-5 pb-4">
          <p className="foreign text-soft">
            <VisibleText>{check.question}</VisibleText>
          </p>
          <div className="mt-3">
            <Facts facts={checkLabels?.facts ?? []} small />
          </div>
          {checkLabels?.decided_by ? <p className="mt-2 text-sm text-soft">{checkLabels.decided_by}</p> : null}
          {checkLabels?.notices.map((notice) => (
            <p key={notice} className="mt-2 font-semibold">
              {notice}
            </p>
          ))}
          {check.notes ? (
            <p className="foreign mt-3">
              <EvaluatorNote
                {...(check.decided_by === "derived" ? { words: namingChecks(check.notes, labels.checks) } : {})}
              >
                {check.notes}
              </EvaluatorNote>
            </p>
          ) : null}
          <CitationList
            citations={check.evidence_citations}
            unverified={labels.unverified}
            show={show}
            showsRuns={showsVotes}
            title="Evidence"
          />
          <DissentList check={check} unverified={labels.unverified} show={show} />
          <RejectedCitations citations={check.rejected_citations} explanation={labels.rejected} />
          <PatternHits check={check} show={show} />
        </div>
      </details>
      {children ? <div className="px-5 pb-4">{children}</div> : null}
    </article>
  );
}

const HEADING_CLASS = "mt-4 mb-1.5 text-[0.8rem] font-semibold text-soft";

interface CitationListProps {
  citations: readonly Citation[];
  /** Shown instead of the line of a citation that was not found in the text. */
  unverified: string;
  show: ShowInText;
  /** Whether to name the runs that gave a citation: only where their agreement means something. */
  showsRuns: boolean;
  title?: string;
}

/** Citations that are shown at once; the others are in a part that can be opened. All are marked in the text. */
const MAX_CITATIONS = 10;

function CitationList({ citations, unverified, show, showsRuns, title }: CitationListProps) {
  if (!citations.length) return null;
  const others = citations.slice(MAX_CITATIONS);
  return (
    <>
      {title ? <h4 className={HEADING_CLASS}>{title}</h4> : null}
      <CitationItems
        citations={citations.slice(0, MAX_CITATIONS)}
        unverified={unverified}
        show={show}
        showsRuns={showsRuns}
      />
      {others.length ? (
        <div className="mt-2.5">
          <Details title={`${pluralize(others.length, "more passage")}${allMarked(show)}`}>
            <CitationItems citations={others} unverified={unverified} show={show} showsRuns={showsRuns} />
          </Details>
        </div>
      ) : null}
    </>
  );
}

/** Where to find what a list leaves out, if the text is stored. */
function allMarked(show: ShowInText): string {
  return show ? "; all are marked in the text" : "; the JSON export lists all of them";
}

function CitationItems({ citations, unverified, show, showsRuns }: Omit<CitationListProps, "title">) {
  return (
    <ul className="space-y-2.5">
      {citations.map((citation) => (
        <li
          key={`${citation.location?.start} ${citation.span}`}
          className="border-(--color-mark-deep) border-l-[3px] pl-3"
        >
          <blockquote className="foreign font-serif">
            <Quote span={citation.span} location={citation.location} show={show} />
          </blockquote>
          <p className="text-sm text-soft">
            <CitationPlaces citation={citation} unverified={unverified} show={show} />
            {showsRuns && citation.runs.length
              ? ` · ${citation.runs.length === 1 ? "run" : "runs"} ${citation.runs.join(", ")}`
              : ""}
            {citation.context ? (
              <>
                {" · "}
                <EvaluatorNote>{citation.context}</EvaluatorNote>
              </>
            ) : null}
          </p>
        </li>
      ))}
    </ul>
  );
}

const MAX_PLACES = 20;

/** The line of a citation; if it occurs several times, a link to each place. */
function CitationPlaces({ citation, unverified, show }: { citation: Citation; unverified: string; show: ShowInText }) {
  const { location, other_locations: others, occurrences } = citation;
  if (!location) return unverified;
  if (occurrences === 1) return <VisibleText>{positionLabel(location)}</VisibleText>;
  const listed = [location, ...others].slice(0, MAX_PLACES);
  return (
    <>
      occurs {pluralize(occurrences, "time")}:{" "}
      {listed.map((place, index) => (
        <Fragment key={place.start}>
          {index ? ", " : ""}
          <ShowLine location={place} show={show} />
        </Fragment>
      ))}
      {occurrences > listed.length ? ` and ${pluralize(occurrences - listed.length, "more place")}` : ""}
    </>
  );
}

function ShowLine({ location, show }: { location: Location; show: ShowInText }) {
  const line = <VisibleText>{positionLabel(location)}</VisibleText>;
  if (!show) return line;
  return (
    <button
      type="button"
      data-quote={location.start}
      title="Show in the text"
      className="underline decoration-dotted underline-offset-4 hover:bg-mark"
      onClick={() => show(location)}
    >
      {line}
    </button>
  );
}

function DissentList({ check, unverified, show }: { check: CheckResult; unverified: string; show: ShowInText }) {
  if (!check.dissent.length) return null;
  return (
    <>
      <h4 className={HEADING_CLASS}>Dissent</h4>
      <ul className="space-y-2">
        {check.dissent.map((dissent) => (
          <li key={dissent.run}>
            <p className="foreign">
              Run {dissent.run}: <Badge value={dissent.result} /> <EvaluatorNote>{dissent.notes}</EvaluatorNote>
            </p>
            <CitationList citations={dissent.evidence_citations} unverified={unverified} show={show} showsRuns />
          </li>
        ))}
      </ul>
    </>
  );
}

function RejectedCitations({ citations, explanation }: { citations: readonly Citation[]; explanation: string }) {
  if (!citations.length) return null;
  return (
    <>
      <h4 className={HEADING_CLASS}>Rejected quotes</h4>
      <p className="text-sm text-soft">{explanation}</p>
      <ul className="mt-1 space-y-2">
        {citations.map((citation) => (
          <li key={citation.span} className="border-rule border-l-[3px] pl-3">
            <del className="foreign font-serif text-soft">
              “<VisibleText>{citation.span}</VisibleText>”
            </del>
          </li>
        ))}
      </ul>
    </>
  );
}

const MAX_HITS = 200;

function PatternHits({ check, show }: { check: CheckResult; show: ShowInText }) {
  if (!check.pattern_hits.length) return null;
  const visible = check.pattern_hits.slice(0, MAX_HITS);
  return (
    <div className="mt-4">
      <Details title={pluralize(check.pattern_hits.length, "pattern hit")}>
        <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
          {visible.map((hit) => (
            <li key={`${hit.pattern} ${hit.location.start}`}>
              <Quote span={hit.span} location={hit.location} show={show} /> (
              <VisibleText>{positionLabel(hit.location)}</VisibleText>)
            </li>
          ))}
          {check.pattern_hits.length > MAX_HITS ? (
            <li>
              … and {pluralize(check.pattern_hits.length - MAX_HITS, "more hit")}
              {allMarked(show)}
            </li>
          ) : null}
        </ul>
      </Details>
    </div>
  );
}
