import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { queries } from "@/api/queries";
import type { CheckLabels, CheckResult, ComparedReports, Report, ReportLabels } from "@/api/types";
import { Badge, Label } from "@/components/Badge";
import { ButtonLink } from "@/components/Button";
import { Disclaimers } from "@/components/Disclaimers";
import { Facts, PageTitle, Section } from "@/components/layout";
import { Empty, ErrorNotice, Loading, Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { checkTitle, formatChange, formatScore } from "@/lib/format";
import { useOpenFoldsInPrint, usePrintMargins } from "../report/printing";
import { RedlineSection } from "./RedlineSection";

export function CompareReportsPage() {
  const [params] = useSearchParams();
  const a = params.get("a") ?? "";
  const b = params.get("b") ?? "";
  const { data, error, refetch } = useQuery({ ...queries.compareReports(a, b), enabled: Boolean(a && b) });
  return (
    <>
      <Disclaimers extra={data?.disclaimers ?? []} />
      <PageTitle>Compare two reports</PageTitle>
      {!a || !b ? (
        <Empty title="Select two reports">
          <ButtonLink to="/history" variant="primary">
            Go to History
          </ButtonLink>
        </Empty>
      ) : null}
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {a && b && !data && !error ? <Loading label="the two reports" /> : null}
      {data ? <ComparisonView data={data} /> : null}
    </>
  );
}

function ComparisonView({ data }: { data: ComparedReports }) {
  const { comparison } = data;
  usePrintMargins(`${data.labels_a.title} – ${data.labels_b.title}`, data.disclaimers);
  useOpenFoldsInPrint();
  return (
    <>
      <p className="max-w-prose font-serif text-lg">{comparison.attribution}</p>
      <div className="mt-3 space-y-2 empty:hidden">
        {comparison.cautions.map((caution) => (
          <Notice key={caution}>
            <VisibleText>{caution}</VisibleText>
          </Notice>
        ))}
      </div>
      <div className="mt-6 grid gap-4 md:grid-cols-2">
        <ComparedReport name="A" report={data.a} labels={data.labels_a} />
        <ComparedReport name="B" report={data.b} labels={data.labels_b} />
      </div>
      {comparison.consistency_delta !== null && data.labels_a.shows_consistency && data.labels_b.shows_consistency ? (
        <p className="mt-4">
          Consistency {formatScore(comparison.before.consistency_score)} →{" "}
          {formatScore(comparison.after.consistency_score)} ({formatChange(comparison.consistency_delta)})
        </p>
      ) : null}
      <RedlineSection data={data} />
      <Section title="Checks">
        <ul className="space-y-3">
          {checkIds(data).map((checkId) => (
            <CheckRow key={checkId} checkId={checkId} data={data} />
          ))}
        </ul>
      </Section>
    </>
  );
}

function ComparedReport({ name, report, labels }: { name: string; report: Report; labels: ReportLabels }) {
  const { status, mode } = labels;
  return (
    <section aria-label={`Report ${name}`} className="rounded border border-rule bg-card p-4">
      <h2 className="mb-2 flex flex-wrap items-center gap-3 text-lg">
        <span>{name}</span> <Badge value={status} />
        <Link
          to={`/reports/${report.report_id}`}
          className="font-sans text-base text-link underline [overflow-wrap:anywhere]"
        >
          <VisibleText>{labels.title}</VisibleText>
        </Link>
      </h2>
      <Facts
        facts={[
          // The title of the document is the heading above.
          ...labels.identity.filter(({ name, value }) => name !== "Document" || value !== labels.title),
          { name: "Subject", value: report.subject },
          { name: "Evaluator", value: report.evaluator, code: true },
          { name: "Playbook", value: `${report.playbook_id} ${report.playbook_version}`, code: true },
          { name: "Mode", value: mode },
        ]}
      />
    </section>
  );
}

/** The checks of both reports, in the order of the second. */
function checkIds({ a, b }: ComparedReports): string[] {
  return [...new Set([...b.check_results, ...a.check_results].map(({ check_id }) => check_id))];
}

function CheckRow({ checkId, data }: { checkId: string; data: ComparedReports }) {
  const changed = data.comparison.changed_checks.find(({ check_id }) => check_id === checkId);
  const quotes = data.comparison.evidence.find(({ check_id }) => check_id === checkId);
  const cause = data.comparison.causes.find(({ check_id }) => check_id === checkId);
  const find = (report: Report) => report.check_results.find(({ check_id }) => check_id === checkId);
  const [a, b] = [find(data.a), find(data.b)];
  return (
    <li
      data-tone={changed ? (changed.worse ? "red" : "green") : "plain"}
      className={`rounded border border-rule border-l-[0.4rem] bg-card p-4 ${changed ? "border-l-(--tone)" : ""}`}
    >
      <h3 className="flex flex-wrap items-center gap-2 font-semibold">
        <VisibleText>{checkTitle(checkId)}</VisibleText>
        {changed ? (
          <Label tone={changed.worse ? "red" : "green"}>{changed.worse ? "↓ worse" : "↑ better"}</Label>
        ) : (
          <span className="font-normal text-soft">{unchangedLabel(checkId, data)}</span>
        )}
      </h3>
      {changed && cause ? (
        <p className="mt-1">
          {changed.before} in A, {changed.now} in B. {cause.reason}
        </p>
      ) : null}
      <div className="mt-2 grid gap-4 md:grid-cols-2">
        <CheckVerdict side="A" check={a} labels={data.labels_a.checks[checkId]} quotes={quotes?.lost ?? []} />
        <CheckVerdict side="B" check={b} labels={data.labels_b.checks[checkId]} quotes={quotes?.gained ?? []} />
      </div>
    </li>
  );
}

/** Only what was compared can be unchanged. */
function unchangedLabel(checkId: string, { comparison }: ComparedReports): string {
  if (comparison.unchanged.includes(checkId)) return "unchanged";
  const skipped = comparison.not_compared.find(({ check_id }) => check_id === checkId);
  return skipped ? `not compared: ${skipped.reason}` : "only in one of the reports";
}

interface CheckVerdictProps {
  side: "A" | "B";
  check: CheckResult | undefined;
  labels: CheckLabels | undefined;
  /** Only in this report. */
  quotes: readonly string[];
}

function CheckVerdict({ side, check, labels, quotes }: CheckVerdictProps) {
  return (
    <div className="min-w-0">
      <p className="flex flex-wrap items-center gap-2">
        <span className="text-soft">{side}</span>
        {check ? <Badge value={check.result} /> : <span className="text-soft">not in this report</span>}
        {check && labels?.shows_votes && check.per_check_consistency !== null ? (
          <span className="text-sm text-soft">
            {labels.votes} · consistency {formatScore(check.per_check_consistency)}
          </span>
        ) : null}
      </p>
      {quotes.length ? (
        <>
          <p className="mt-2 text-sm text-soft">Evidence only in {side}</p>
          <ul className="mt-1 space-y-1.5">
            {quotes.map((span) => (
              <li key={span} className="foreign border-(--color-mark-deep) border-l-[3px] pl-3 font-serif">
                <span aria-hidden="true">{side === "A" ? "−" : "+"} </span>“<VisibleText>{span}</VisibleText>”
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </div>
  );
}
