import { useCallback, useMemo, useState } from "react";
import type { Location, Report, StoredReport, VerdictReason } from "@/api/types";
import { Badge, badgeTone } from "@/components/Badge";
import { CopyButton } from "@/components/CopyButton";
import { Details } from "@/components/Details";
import { Disclaimers } from "@/components/Disclaimers";
import { LongText } from "@/components/LongText";
import { Facts, Section, TextList, useTitle } from "@/components/layout";
import { StatusBanner } from "@/components/StatusBanner";
import { Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { useHasRole } from "@/features/account/roles";
import { ResumeForm } from "../progress/ResumeForm";
import { CheckReviewControls } from "../review/CheckReviewControls";
import { ReviewSection } from "../review/ReviewSection";
import { useReview } from "../review/useReview";
import { CheckCard } from "./CheckCard";
import { CheckTable } from "./CheckTable";
import { Drift } from "./Drift";
import { WithheldProvider } from "./EvaluatorNote";
import { namingChecks } from "./namingChecks";
import { positionLabel } from "./positionLabel";
import { useOpenFoldsInPrint, usePrintMargins } from "./printing";
import type { ShowInText } from "./Quote";
import { TechnicalRecord } from "./TechnicalRecord";
import { TextPanel } from "./TextPanel";

/** A report with its text and its review. What can be done with it depends on who sees it. */
export function ReportView({
  stored,
  actions,
  judges,
}: {
  stored: StoredReport;
  actions: React.ReactNode;
  judges?: React.ReactNode;
}) {
  const { report, labels, texts } = stored;
  const withheld = useMemo(() => ({ texts: new Set(stored.withheld), notice: stored.withheld_notice }), [stored]);
  const [asked, setAsked] = useState<Location | null>(null);
  // A new object for each click, so that a second click on the same quote scrolls again.
  const show: ShowInText = useMemo(() => (texts ? (location: Location) => setAsked({ ...location }) : null), [texts]);
  const goToCheck = useCallback((number: number) => {
    const card = document.getElementById(`check-${number}`);
    const fold = card?.querySelector("details");
    if (fold) fold.open = true;
    card?.scrollIntoView({ block: "start" });
    card?.focus({ preventScroll: true });
  }, []);
  useTitle(`${labels.status} – ${labels.title}`);
  const { review } = useReview(report.report_id);
  usePrintMargins(labels.title, report.presentation_rules.disclaimers);
  useOpenFoldsInPrint();
  return (
    <WithheldProvider value={withheld}>
      <Disclaimers extra={report.presentation_rules.disclaimers} />
      <ReportHeader
        stored={stored}
        actions={actions}
        reviewed={review?.history.length ? review.headline : ""}
        onCheck={goToCheck}
      />
      <NextSteps stored={stored} />
      <div className="print:break-inside-avoid">
        <Section title="Checks at a glance">
          <CheckTable
            checks={report.check_results}
            labels={labels}
            reviews={review?.checks.map((check) => check.review) ?? []}
            show={show}
            onCheck={goToCheck}
          />
        </Section>
      </div>
      <ArtifactFindings report={report} show={show} />
      <div className="print:break-inside-avoid">
        <ReviewSection report={report} />
      </div>
      <div className="mt-8 grid grid-cols-[minmax(0,1fr)] gap-x-8 gap-y-8 xl:grid-cols-[minmax(0,11fr)_minmax(0,10fr)] print:block print:break-before-page">
        <section aria-labelledby="checks">
          <h2 id="checks" className="mb-3 text-xl">
            Checks <span className="font-sans text-base text-soft">– {labels.tally}</span>
          </h2>
          <div className="space-y-4">
            {report.check_results.map((check, index) => (
              <CheckCard key={check.check_id} check={check} labels={labels} number={index + 1} show={show}>
                <CheckReviewControls reportId={report.report_id} check={check} />
              </CheckCard>
            ))}
          </div>
        </section>
        <section
          aria-labelledby="text"
          className="xl:sticky xl:top-20 xl:flex xl:max-h-[calc(100vh-6rem)] xl:flex-col xl:self-start print:static print:mt-8 print:block print:max-h-none"
        >
          <h2 id="text" className="mb-1 text-xl">
            Frozen text
          </h2>
          {texts ? (
            <TextPanel
              stored={stored}
              text={texts.ai_output}
              outline={texts.outline}
              asked={asked}
              onCheck={goToCheck}
            />
          ) : (
            <Notice>Only fingerprints of the texts were stored, so the text cannot be shown.</Notice>
          )}
        </section>
      </div>
      <div className="max-w-4xl">
        {judges}
        <ScopeSections stored={stored} show={show} />
        <TechnicalRecord stored={stored} />
      </div>
    </WithheldProvider>
  );
}

interface ReportHeaderProps {
  stored: StoredReport;
  actions: React.ReactNode;
  /** What the review comes to so far; empty before its first step. */
  reviewed: string;
  onCheck: (number: number) => void;
}

function ReportHeader({ stored, actions, reviewed, onCheck }: ReportHeaderProps) {
  const mayRun = useHasRole("reviewer");
  const { report, labels } = stored;
  const { status } = labels;
  return (
    <header>
      <h1 className="text-3xl leading-tight [overflow-wrap:anywhere]">
        <VisibleText>{labels.title}</VisibleText>
      </h1>
      <p className="mt-1 mb-3 text-soft">
        {REPORT_NAME} · {labels.mode}
      </p>
      <div className="mb-4 text-sm">
        {/* The title of the document is the heading above. */}
        <Facts facts={labels.identity.filter(({ name, value }) => name !== "Document" || value !== labels.title)} />
      </div>
      <StatusBanner label="Status" tone={badgeTone(status)} badge={<Badge value={status} large />}>
        <p className="font-semibold">{labels.status_meaning}</p>
        <ul className="mt-1 list-disc pl-5">
          {labels.verdict.map((reason) => (
            <li key={reason.text} className="foreign">
              <Reason reason={reason} onCheck={onCheck} />
            </li>
          ))}
        </ul>
        {report.incomplete ? <p className="mt-2">{whatToDo(stored)}</p> : null}
        {reviewed ? (
          <p className="mt-2">
            <a href="#review" className="font-semibold underline decoration-dotted underline-offset-4">
              <VisibleText>{`Review: ${reviewed}`}</VisibleText>
            </a>
          </p>
        ) : null}
      </StatusBanner>
      {stored.resumable && mayRun ? (
        <div className="mt-4">
          <ResumeForm
            evaluation={{
              id: report.report_id,
              evaluator: report.evaluator,
              needs_key: report.model_fingerprints.evaluator.provider !== null,
            }}
          />
        </div>
      ) : null}
      {actions}
    </header>
  );
}

const REPORT_NAME = "BYOP observability report";

/** Why the report has its verdict; what concerns one check leads to its card, what the text hides to the findings. */
function Reason({ reason, onCheck }: { reason: VerdictReason; onCheck: (number: number) => void }) {
  const { text, check, about_findings: aboutFindings } = reason;
  if (check === null && !aboutFindings) return <VisibleText>{text}</VisibleText>;
  return (
    <a
      href={check === null ? `#${FINDINGS}` : `#check-${check}`}
      className="underline decoration-dotted underline-offset-4"
      onClick={(event) => {
        if (check === null) return;
        event.preventDefault();
        onCheck(check);
      }}
    >
      <VisibleText>{text}</VisibleText>
    </a>
  );
}

const FINDINGS = "findings";

function NextSteps({ stored }: { stored: StoredReport }) {
  const { report, labels } = stored;
  const { mending_prompt: prompt } = report.summary;
  return (
    <Section title="Recommended next steps">
      <TextList items={labels.next_steps} emptyText="No next steps." />
      {prompt ? (
        <div className="mt-4 print:hidden">
          <Details title="Suggested revision prompt">
            <div className="mb-2 flex flex-wrap justify-between gap-2">
              <p className="text-soft">{labels.revision_prompt}</p>
              <CopyButton text={prompt} label="the prompt" />
            </div>
            <LongText text={prompt} label="Revision prompt" mono={false} expanded />
          </Details>
        </div>
      ) : null}
    </Section>
  );
}

/** What the text tries or hides: the verdict at the top says that there is something, and leads here. */
function ArtifactFindings({ report, show }: { report: Report; show: ShowInText }) {
  if (!report.artifact_findings.length) return null;
  return (
    <Section title="Findings in the text" id={FINDINGS}>
      <LocatedList
        items={report.artifact_findings.map((finding) => ({
          text: `${finding.message}${finding.count > 1 ? ` (${finding.count} times)` : ""}`,
          span: finding.span,
          location: finding.location,
        }))}
        emptyText="None."
        show={show}
      />
    </Section>
  );
}

/** What the reader of this page can do about missing votes. */
function whatToDo({ resumable, report }: StoredReport): string {
  if (!resumable) return "Correct the cause, then evaluate the text again.";
  return report.model_fingerprints.evaluator.provider === null
    ? "Request the missing votes below."
    : "Correct the cause, enter the API key and request the missing votes below.";
}

/** What the report can and cannot say. */
function ScopeSections({ stored, show }: { stored: StoredReport; show: ShowInText }) {
  const { report, labels } = stored;
  return (
    <>
      <Drift report={report} labels={labels} />
      <Section title="Assumptions stated in the text">
        <LocatedList
          items={report.assumptions_extracted.map(({ text, location }) => ({ text: "", span: text, location }))}
          emptyText={labels.no_assumptions}
          show={show}
        />
      </Section>
      <Section title="Areas not checked">
        <LocatedList
          items={report.unchecked_areas.map(({ area, location }, index) => ({
            text: `${area} – ${labels.unchecked_areas[index]}`,
            span: null,
            location,
          }))}
          emptyText="None recorded."
          show={show}
        />
      </Section>
      {report.input_notices.length ? (
        <Section title="How the files were read">
          <TextList items={report.input_notices} emptyText="" />
        </Section>
      ) : null}
      <Section title="Limitations">
        <TextList
          items={report.limitations.map((text) => namingChecks(text, labels.checks))}
          emptyText="None recorded."
        />
      </Section>
    </>
  );
}

interface LocatedItem {
  text: string;
  span: string | null;
  location: Location | null;
}

function LocatedList({ items, emptyText, show }: { items: LocatedItem[]; emptyText: string; show: ShowInText }) {
  if (!items.length) return <p className="text-soft">{emptyText}</p>;
  return (
    <ul className="list-disc space-y-1.5 pl-5">
      {items.map(({ text, span, location }) => (
        <li key={`${text} ${span} ${location?.start}`} className="[overflow-wrap:anywhere]">
          <VisibleText>{text}</VisibleText>{" "}
          {span ? (
            <q className="font-serif">
              <VisibleText>{span}</VisibleText>
            </q>
          ) : null}{" "}
          {location && show ? (
            <button type="button" className="text-link text-sm underline" onClick={() => show(location)}>
              <VisibleText>{positionLabel(location)}</VisibleText>
            </button>
          ) : null}
        </li>
      ))}
    </ul>
  );
}
