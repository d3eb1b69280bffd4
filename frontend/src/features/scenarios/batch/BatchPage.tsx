import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useParams } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { Batch, BatchDetail, BatchSummary, Evidence } from "@/api/types";
import { Label } from "@/components/Badge";
import { ButtonLink, DownloadLink, TextLink } from "@/components/Button";
import { Details } from "@/components/Details";
import { type Fact, FactRows, Facts, PageTitle, Section } from "@/components/layout";
import { RawJson } from "@/components/RawJson";
import { StatusBanner } from "@/components/StatusBanner";
import { Loading, PageError } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { ForRole } from "@/features/account/roles";
import { formatCount, formatScore, formatSeconds, formatTime, pluralize, UNKNOWN } from "@/lib/format";
import { useFilters } from "@/lib/useFilters";
import { VerdictBadge, verdictTone } from "../Badges";
import { ConnectionStatus } from "../ConnectionStatus";
import { DivergenceNote } from "../DivergenceNote";
import { describeCost, formatSpending, modelName } from "../format";
import { completionCounts } from "../labels";
import { PassRate } from "../PassRate";
import { useAnnouncement, useLiveBatches } from "../useLiveBatches";
import { AssertionTable } from "./AssertionTable";
import { Errors, Failures, PendingRuns, SkippedRuns } from "./Reasons";
import { RunTable } from "./RunTable";
import { Scores } from "./Scores";
import { ToolChoices } from "./ToolChoices";

export function BatchPage() {
  const { id = "" } = useParams();
  const connection = useLiveBatches();
  const { data, error, refetch } = useQuery(queries.batch(id));
  const watched = useMemo(() => data && [{ ...data.summary, running: data.running }], [data]);
  const announcement = useAnnouncement(watched, id);
  return (
    <>
      <ConnectionStatus connection={connection} announcement={announcement} />
      {error ? <PageError title="Batch" error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="the batch" /> : null}
      {data && !error ? <BatchView detail={data} /> : null}
    </>
  );
}

function BatchView({ detail }: { detail: BatchDetail }) {
  const { summary, batch } = detail;
  const [params, update] = useFilters();
  const skipped = summary.not_run + summary.interrupted + summary.missing;
  return (
    <>
      <BatchHeader detail={detail} />
      <Section title="Assertions">
        <AssertionTable
          assertions={summary.assertions}
          runsAddress={(label) => `?${new URLSearchParams({ assertion: label })}#runs`}
        />
      </Section>
      {batch.scenario.adapter === "mcp" ? <ToolChoices batchId={batch.batch_id} /> : null}
      <Section title="Failures" aside={<Count count={summary.failed} label="failed run" />}>
        <Failures detail={detail} />
      </Section>
      {detail.divergence ? (
        <Section title="Where runs diverge">
          <DivergenceNote divergence={detail.divergence} />
        </Section>
      ) : null}
      {summary.errors ? (
        <Section title="Errors (not failures)" aside={<Count count={summary.errors} label="run" />}>
          <p className="mb-2 max-w-prose text-soft">
            These runs could not be judged. They are not included in any rate and do not count against the agent.
          </p>
          <Errors detail={detail} />
        </Section>
      ) : null}
      {summary.pending ? (
        <Section title="Waiting for judges" aside={<Count count={summary.pending} label="run" />}>
          <PendingRuns detail={detail} />
        </Section>
      ) : null}
      {skipped ? (
        <Section title="Runs not executed">
          <SkippedRuns detail={detail} />
        </Section>
      ) : null}
      <Scores batchId={batch.batch_id} />
      <Section title="Runs" id="runs">
        <RunTable
          causes={detail.cause_labels}
          batch={batch.batch_id}
          labels={summary.assertions.map(({ label }) => label)}
          params={params}
          onFilter={update}
        />
      </Section>
      <Section title="Configuration">
        <FactRows facts={batchFacts(batch)} />
        <div className="mt-4 space-y-2">
          <RawJson value={batch.scenario} title="Resolved scenario" />
          {Object.keys(batch.tools).length ? (
            <Details title="Tool fingerprints">
              <FactRows facts={Object.entries(batch.tools).map(([name, value]) => ({ name, value, code: true }))} />
            </Details>
          ) : null}
          <RawJson value={batch} title="Batch as JSON" />
        </div>
      </Section>
    </>
  );
}

function Count({ count, label }: { count: number; label: string }) {
  return count ? <span className="text-soft">{pluralize(count, label)}</span> : null;
}

function BatchHeader({ detail }: { detail: BatchDetail }) {
  const { summary, batch } = detail;
  return (
    <header>
      <p className="mb-1 text-sm">
        <TextLink to="/scenarios">Batches of runs</TextLink>
      </p>
      <PageTitle
        lead={
          <>
            <VisibleText>{modelName(summary)}</VisibleText>, {formatTime(summary.created_at)}
          </>
        }
      >
        {summary.scenario_id}
      </PageTitle>
      <StatusBanner
        label="Verdict"
        tone={verdictTone(summary.verdict)}
        badge={<VerdictBadge verdict={summary.verdict} large />}
        aside={detail.running ? <Label tone="blue">running: {completionCounts(summary).join(", ")}</Label> : null}
      >
        <p className="font-semibold first-letter:uppercase">
          <VisibleText>{detail.why}</VisibleText>.
        </p>
        <p className="mt-1">{detail.verdict_label}</p>
      </StatusBanner>
      <div className="mt-5">
        <p className="text-[0.8rem] text-soft">
          Pass rate, {summary.evidence ? evidenceLabel(summary.evidence) : "95% interval"}, and the required pass rate
        </p>
        <PassRate
          rate={summary.pass_rate}
          interval={summary.evidence?.interval ?? summary.interval}
          labels={detail.labels}
          minimum={summary.min_pass_rate}
          large
        />
      </div>
      <div className="mt-4">
        <Facts facts={headFacts(detail)} />
      </div>
      <div className="mt-5 flex flex-wrap gap-3 print:hidden">
        <DownloadLink href={api.batchExportUrl(batch.batch_id)}>Download as HTML</DownloadLink>
        <ButtonLink to={`/scenarios?${new URLSearchParams({ scenario: summary.scenario_id })}`}>
          All batches of this scenario
        </ButtonLink>
        {detail.is_judged ? (
          <ForRole needs="reviewer">
            <ButtonLink to={`/scenarios/batches/${batch.batch_id}/review`}>Review runs</ButtonLink>
          </ForRole>
        ) : null}
        {summary.suite ? (
          <ButtonLink to={`/scenarios/batches/${batch.batch_id}/grid`}>All cells of {summary.suite}</ButtonLink>
        ) : null}
      </div>
    </header>
  );
}

function evidenceLabel({ confidence, one_sided, method }: Evidence): string {
  return `${Number((confidence * 100).toPrecision(12))}% ${one_sided ? "one-sided " : ""}${method}`;
}

function headFacts({ summary, batch, labels, figures }: BatchDetail): Fact[] {
  const { latency, evidence } = summary;
  const figure = (name: string) => figures.find((row) => row.name === name)?.value;
  return [
    { name: "Runs completed", value: completionCounts(summary).join(", ") },
    { name: "Passed", value: `${formatCount(summary.passed)} of ${formatCount(summary.completed)}` },
    { name: "Pass rate", value: figure("pass rate") ?? UNKNOWN },
    ...(summary.labels ? [{ name: "Pass rate corrected by labels", value: figure("corrected") ?? UNKNOWN }] : []),
    ...(summary.pass_rate_bounds ? [{ name: "Bounds of the pass rate", value: figure("bounds") ?? UNKNOWN }] : []),
    { name: "Required pass rate", value: labels.required },
    ...(evidence ? evidenceFacts(evidence, summary) : []),
    { name: "Average score", value: formatScore(summary.average_score) },
    { name: "pass^k", value: separated(figure("pass^k") ?? "too few runs") },
    ...(summary.identical ? [{ name: "Identical runs", value: figure("identical") ?? UNKNOWN }] : []),
    { name: "Cost", value: describeCost(summary.cost) },
    ...(summary.lost ? [{ name: "In flight at an end", value: figure("in flight") ?? UNKNOWN }] : []),
    { name: "Cost per run", value: formatSpending(summary.cost.average, summary.cost.average_at_least) },
    { name: "Judge cost (separate)", value: describeCost(summary.judge_cost) },
    ...(summary.user_cost.unknown || summary.user_cost.at_least
      ? [{ name: "Simulated user's cost (separate)", value: describeCost(summary.user_cost) }]
      : []),
    {
      name: "Latency p50, p95, max",
      value: latency ? [latency.p50, latency.p95, latency.max].map(formatSeconds).join(", ") : UNKNOWN,
    },
    ...(summary.turns ? [{ name: "Turns", value: figure("turns") ?? UNKNOWN }] : []),
    { name: "Batch", value: batch.batch_id, code: true, copy: true },
  ];
}

/** Values that a terminal shows in columns, with semicolons between them. */
function separated(columns: string): string {
  return columns.replaceAll(/ {2,}(?=\d)/g, "; ");
}

function evidenceFacts(evidence: Evidence, summary: BatchSummary): Fact[] {
  const facts: Fact[] = [];
  if (evidence.more !== null) {
    facts.push({ name: "Needed for a verdict", value: `${pluralize(evidence.more, "more run")} without a failure` });
  }
  if (evidence.fixed_runs !== null) {
    const saved = evidence.fixed_runs - summary.completed;
    facts.push({
      name: "Saved by stopping early",
      value: saved > 0 ? `${pluralize(saved, "run")} of ${formatCount(evidence.fixed_runs)}` : "nothing",
    });
  }
  return facts;
}

function batchFacts(batch: Batch): Fact[] {
  return [
    { name: "Scenario file", value: batch.source || UNKNOWN, code: true },
    { name: "Adapter", value: batch.adapter, code: true },
    { name: "Model", value: modelName(batch), code: true },
    {
      name: "Requested runs",
      value:
        batch.max_runs === null
          ? formatCount(batch.runs)
          : `until the verdict is certain enough, at most ${formatCount(batch.max_runs)}`,
    },
    { name: "Score threshold", value: String(batch.threshold) },
    { name: "Seed", value: batch.seed === null ? "none" : String(batch.seed) },
    { name: "Recorded", value: batch.recorded ? "yes" : "no" },
    { name: "Salvo version", value: batch.salvo_version || UNKNOWN },
    { name: "Git commit", value: batch.code.commit ? describeCommit(batch.code.commit, batch.code.dirty) : UNKNOWN },
    ...(batch.code.agent ? [{ name: "Hash of the agent’s code", value: batch.code.agent, code: true }] : []),
  ];
}

function describeCommit(commit: string, dirty: boolean | null): string {
  const changes = dirty === null ? ", perhaps with uncommitted changes" : dirty ? " with uncommitted changes" : "";
  return `${commit.slice(0, 12)}${changes}`;
}
