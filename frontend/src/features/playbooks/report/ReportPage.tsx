import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { useParams } from "react-router";
import { queries } from "@/api/queries";
import type { Location, Report, StoredReport } from "@/api/types";
import { Badge, badgeTone } from "@/components/Badge";
import { ButtonLink } from "@/components/Button";
import { CopyButton } from "@/components/CopyButton";
import { Details } from "@/components/Details";
import { Disclaimers } from "@/components/Disclaimers";
import { LongText } from "@/components/LongText";
import { type Fact, FactRows, Facts, ScrollRegion, Section, TextList, useTitle } from "@/components/layout";
import { RawJson } from "@/components/RawJson";
import { StatusBanner } from "@/components/StatusBanner";
import { Loading, Notice, PageError } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { ResumeForm } from "../progress/ResumeForm";
import { CheckReviewControls } from "../review/CheckReviewControls";
import { ReviewSection } from "../review/ReviewSection";
import { Actions } from "./Actions";
import { CheckCard, type ShowInText } from "./CheckCard";
import { Drift } from "./Drift";
import { WithheldProvider } from "./EvaluatorNote";
import { FrozenText, type Target } from "./frozen/FrozenText";
import { reportPlaces } from "./places";
import { Variance } from "./Variance";

export function ReportPage() {
  const { id = "" } = useParams();
  const { data, error, refetch } = useQuery(queries.report(id));
  if (error) {
    return (
      <PageError title="Report" error={error} onRetry={refetch}>
        <p className="mt-4">
          <ButtonLink to={`/evaluations/${id}`}>Show the status of the evaluation</ButtonLink>
        </p>
      </PageError>
    );
  }
  if (!data) return <Loading label="the report" />;
  return <ReportView key={id} stored={data} />;
}

function ReportView({ stored }: { stored: StoredReport }) {
  const { report, labels, texts } = stored;
  const withheld = useMemo(() => ({ texts: new Set(stored.withheld), notice: stored.withheld_notice }), [stored]);
  const places = useMemo(() => reportPlaces(report), [report]);
  const [target, setTarget] = useState<Target | null>(null);
  const show: ShowInText = useMemo(
    () => (texts ? (location: Location) => setTarget({ start: location.start }) : null),
    [texts],
  );
  const goToCheck = useCallback((number: number) => {
    const card = document.getElementById(`check-${number}`);
    card?.scrollIntoView({ block: "start" });
    card?.focus({ preventScroll: true });
  }, []);
  useTitle(`${labels.status} – ${labels.title}`);
  return (
    <WithheldProvider value={withheld}>
      <Disclaimers extra={report.presentation_rules.disclaimers} />
      <ReportHeader stored={stored} />
      <ReviewSection reportId={report.report_id} />
      <ArtifactFindings report={report} show={show} />
      <div className="mt-8 grid grid-cols-[minmax(0,1fr)] gap-x-8 gap-y-8 xl:grid-cols-[minmax(0,11fr)_minmax(0,10fr)] print:block">
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
            <>
              <p className="mb-2 text-sm text-soft">
                Evidence is highlighted and numbered by check. Other places that the report mentions are underlined.
              </p>
              <ScrollRegion
                label="Text with evidence highlighted"
                className="rounded border border-rule bg-card py-4 pr-5 xl:min-h-0 xl:overflow-y-auto print:overflow-visible print:border-0"
              >
                <FrozenText text={texts.ai_output} places={places} target={target} onCheck={goToCheck} />
              </ScrollRegion>
            </>
          ) : (
            <Notice>Only fingerprints of the texts were stored, so the text cannot be shown.</Notice>
          )}
        </section>
      </div>
      <div className="max-w-4xl">
        <ReportSections stored={stored} show={show} />
      </div>
    </WithheldProvider>
  );
}

function ReportHeader({ stored }: { stored: StoredReport }) {
  const { report, labels } = stored;
  const { status } = labels;
  return (
    <header>
      <h1 className="text-3xl leading-tight [overflow-wrap:anywhere]">
        <VisibleText>{labels.title}</VisibleText>
      </h1>
      <p className="mt-1 mb-3 text-soft">BYOP observability report · {labels.mode}</p>
      <div className="mb-4">
        <Facts facts={labels.identity} />
      </div>
      <StatusBanner label="Status" tone={badgeTone(status)} badge={<Badge value={status} large />}>
        <p className="font-semibold">{labels.status_meaning}</p>
        <ul className="mt-1 list-disc pl-5">
          {labels.status_reasons.map((reason) => (
            <li key={reason}>
              <VisibleText>{reason}</VisibleText>
            </li>
          ))}
        </ul>
        {report.incomplete ? <p className="mt-2">{whatToDo(stored)}</p> : null}
      </StatusBanner>
      <div className="mt-4 space-y-3 empty:hidden">
        {labels.injections ? <Notice>{labels.injections}</Notice> : null}
        {report.texts_withheld ? <Notice>{labels.texts_withheld}</Notice> : null}
        {report.input_notices.map((notice) => (
          <Notice key={notice}>
            <VisibleText>{notice}</VisibleText>
          </Notice>
        ))}
        {stored.resumable ? (
          <ResumeForm
            evaluation={{
              id: report.report_id,
              evaluator: report.evaluator,
              needs_key: report.model_fingerprints.evaluator.provider !== null,
            }}
          />
        ) : null}
      </div>
      <div className="mt-5">
        <Facts facts={headFacts(report)} />
      </div>
      <Actions stored={stored} />
    </header>
  );
}

/** At the top: who reads the checks must know first what the text tries or hides. */
function ArtifactFindings({ report, show }: { report: Report; show: ShowInText }) {
  if (!report.artifact_findings.length) return null;
  return (
    <div className="max-w-4xl">
      <Section title="Findings in the text">
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
    </div>
  );
}

/** What the reader of this page can do about missing votes. */
function whatToDo({ resumable, report }: StoredReport): string {
  if (!resumable) return "Correct the cause, then evaluate the text again.";
  return report.model_fingerprints.evaluator.provider === null
    ? "Request the missing votes below."
    : "Correct the cause, enter the API key and request the missing votes below.";
}

function headFacts(report: Report): Fact[] {
  return [
    { name: "Playbook", value: `${report.playbook_id} ${report.playbook_version}`, code: true },
    { name: "Mode", value: report.execution_mode },
    { name: "Subject", value: report.subject },
    { name: "Evaluator", value: report.evaluator, code: true },
    { name: "Report", value: report.report_id, code: true },
  ];
}

function ReportSections({ stored, show }: { stored: StoredReport; show: ShowInText }) {
  const { report, labels, texts } = stored;
  const { summary } = report;
  const file = useMemo(() => ({ byop_report: stored.document }), [stored]);
  return (
    <>
      <Section title="Key risks">
        <TextList items={summary.key_risks} emptyText={labels.no_key_risks} />
      </Section>
      <Section title="Recommended next steps">
        <TextList items={summary.recommended_next_steps} emptyText="No next steps." />
      </Section>
      {summary.mending_prompt ? (
        <Section
          title="Suggested revision prompt"
          aside={<CopyButton text={summary.mending_prompt} label="the prompt" />}
        >
          <p className="mb-2 text-soft">{labels.revision_prompt}</p>
          <LongText text={summary.mending_prompt} label="Revision prompt" mono={false} expanded />
        </Section>
      ) : null}
      <Variance report={report} labels={labels} />
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
      <Section title="Uncertainty">
        <TextList items={report.uncertainty} emptyText="None recorded." />
      </Section>
      <Section title="Limitations">
        <TextList items={report.limitations} emptyText="None recorded." />
      </Section>
      <Section title="Integrity">
        <FactRows facts={labels.integrity.map((fact) => ({ ...fact, copy: fact.value.startsWith("sha256:") }))} />
      </Section>
      <Section title="Details">
        <div className="space-y-2">
          <Details title="Models, tokens and cost">
            <h3 className="font-semibold">Evaluator (measured)</h3>
            <FactRows facts={labels.evaluator} />
            <h3 className="mt-4 font-semibold">Producer (declared by the requester)</h3>
            <FactRows facts={labels.producer} />
            <h3 className="mt-4 font-semibold">Spent</h3>
            <FactRows facts={labels.spending} />
          </Details>
          {(["source_document", "prompt", "system_instructions"] as const).map((name) =>
            texts?.[name] ? (
              <Details key={name} title={INPUT_LABELS[name]}>
                <LongText text={texts[name]} label={INPUT_LABELS[name]} mono={false} expanded />
              </Details>
            ) : null,
          )}
          <RawJson value={file} />
        </div>
      </Section>
    </>
  );
}

const INPUT_LABELS = {
  source_document: "Source document",
  prompt: "Prompt",
  system_instructions: "System instructions",
};

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
              line {location.line}
            </button>
          ) : null}
        </li>
      ))}
    </ul>
  );
}
