import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useParams } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { Batch, BatchDetail, BatchSummary, Evidence } from "@/api/types";
import { Label } from "@/components/Badge";
import { ButtonLink, DownloadLink } from "@/components/Button";
import { Fold } from "@/components/Fold";
import { type Fact, Facts, PageTitle, Rows, Section } from "@/components/layout";
import { RawJson } from "@/components/Raw";
import { Seen } from "@/components/Seen";
import { Failure, Loading } from "@/components/states";
import { useFilters } from "@/lib/filters";
import { counted, score, seconds, time, UNKNOWN, whole } from "@/lib/format";
import { Live } from "../Live";
import { useLive, useNews } from "../live";
import { VerdictBadge, verdictTone } from "../Marks";
import { Parted } from "../Parted";
import { Rate } from "../Rate";
import { costOf, counts, modelName, percent, spent, VERDICT_MEANINGS } from "../words";
import { Assertions } from "./Assertions";
import { Errors, Failures, NotMade } from "./Reasons";
import { Runs } from "./Runs";

export function BatchPage() {
  const { id = "" } = useParams();
  const connection = useLive();
  const { data, error, refetch } = useQuery(queries.batch(id));
  const watched = useMemo(() => data && [{ ...data.summary, running: data.running }], [data]);
  const news = useNews(watched, id);
  return (
    <>
      <Live connection={connection} news={news} />
      {error ? (
        <>
          <PageTitle>Batch</PageTitle>
          <Failure fault={error} retry={refetch} />
        </>
      ) : null}
      {!data && !error ? <Loading what="the batch" /> : null}
      {data && !error ? <Shown of={data} /> : null}
    </>
  );
}

function Shown({ of }: { of: BatchDetail }) {
  const { summary, batch } = of;
  const [address, go] = useFilters();
  const unmade = summary.not_run + summary.interrupted + summary.missing;
  return (
    <>
      <Head of={of} />
      <Section title="Assertions">
        <Assertions
          of={summary.assertions}
          runsAddress={(label) => `?${new URLSearchParams({ assertion: label })}#runs`}
        />
      </Section>
      <Section title="Failures" aside={<Count of={summary.failed} what="failed run" />}>
        <Failures of={of.failure_groups} completed={summary.completed} />
      </Section>
      {of.parting ? (
        <Section title="Where runs part">
          <Parted of={of.parting} />
        </Section>
      ) : null}
      {summary.errors ? (
        <Section title="Errors, not failures" aside={<Count of={summary.errors} what="run" />}>
          <p className="mb-2 max-w-prose text-soft">
            These runs could not be judged. They are in no rate, and nothing is counted against the agent.
          </p>
          <Errors of={summary} />
        </Section>
      ) : null}
      {unmade ? (
        <Section title="Not made">
          <NotMade of={summary} running={of.running} />
        </Section>
      ) : null}
      <Section title="Runs" id="runs">
        <Runs batch={batch.batch_id} labels={summary.assertions.map(({ label }) => label)} address={address} go={go} />
      </Section>
      <Section title="What was run">
        <Rows of={batchFacts(batch)} />
        <div className="mt-4 space-y-2">
          <RawJson of={batch.scenario} title="The scenario as it was resolved" />
          {Object.keys(batch.tools).length ? (
            <Fold title="Tools and what they are, as hashes">
              <Rows of={Object.entries(batch.tools).map(([name, value]) => ({ name, value, code: true }))} />
            </Fold>
          ) : null}
          <RawJson of={batch} title="The batch as JSON" />
        </div>
      </Section>
    </>
  );
}

function Count({ of, what }: { of: number; what: string }) {
  return of ? <span className="text-soft">{counted(of, what)}</span> : null;
}

function Head({ of }: { of: BatchDetail }) {
  const { summary, batch } = of;
  return (
    <header>
      <p className="mb-1 text-sm">
        <Link to="/scenarios" className="text-link underline">
          Batches of runs
        </Link>
      </p>
      <PageTitle
        lead={
          <>
            <Seen>{modelName(summary)}</Seen>, {time(summary.created_at)}
          </>
        }
      >
        {summary.scenario_id}
      </PageTitle>
      <section
        aria-label="Verdict"
        data-tone={verdictTone(summary.verdict)}
        className="flex flex-wrap items-start gap-x-5 gap-y-2 rounded border-(--tone) border-l-[0.4rem] bg-(--tint) px-5 py-4"
      >
        <VerdictBadge of={summary.verdict} large />
        <div className="min-w-0 flex-1 basis-72">
          <p className="font-semibold first-letter:uppercase">
            <Seen>{of.why}</Seen>.
          </p>
          <p className="mt-1">{VERDICT_MEANINGS[summary.verdict]}</p>
        </div>
        {of.running ? <Label tone="blue">running: {counts(summary).join(", ")}</Label> : null}
      </section>
      <div className="mt-5">
        <p className="text-[0.8rem] text-soft">
          Pass rate, {summary.evidence ? evidenceName(summary.evidence) : "95% interval"}, and what is asked for
        </p>
        <Rate
          rate={summary.pass_rate}
          interval={summary.evidence?.interval ?? summary.interval}
          least={summary.min_pass_rate}
          wide
        />
      </div>
      <div className="mt-4">
        <Facts of={headFacts(summary, batch)} />
      </div>
      <div className="mt-5 flex flex-wrap gap-3 print:hidden">
        <DownloadLink href={api.batchFile(batch.batch_id)}>One HTML file of this batch</DownloadLink>
        <ButtonLink to={`/scenarios?${new URLSearchParams({ scenario: summary.scenario_id })}`}>
          All batches of this scenario
        </ButtonLink>
      </div>
    </header>
  );
}

function evidenceName({ confidence, method }: Evidence): string {
  return `${percent(confidence)} ${method}`;
}

function headFacts(summary: BatchSummary, batch: Batch): Fact[] {
  const { latency, evidence } = summary;
  const chances = Object.entries(summary.pass_hat).map(([k, chance]) => `${k}: ${percent(chance)}`);
  return [
    { name: "Runs completed", value: counts(summary).join(", ") },
    { name: "Passed", value: `${whole(summary.passed)} of ${whole(summary.completed)}` },
    { name: "Asked for, at least", value: percent(summary.min_pass_rate) },
    ...(evidence ? evidenceFacts(evidence, summary) : []),
    { name: "Average score", value: score(summary.average_score) },
    { name: "pass^k, the chance that k runs all pass", value: chances.join(", ") || UNKNOWN },
    { name: "Cost", value: costOf(summary.cost) },
    { name: "Cost a run", value: spent(summary.cost.average, summary.cost.average_at_least) },
    { name: "Judge’s cost, apart", value: costOf(summary.judge_cost) },
    {
      name: "Latency p50, p95, max",
      value: latency ? [latency.p50, latency.p95, latency.max].map(seconds).join(", ") : UNKNOWN,
    },
    { name: "Batch", value: batch.batch_id, code: true, copy: true },
  ];
}

function evidenceFacts(evidence: Evidence, summary: BatchSummary): Fact[] {
  const facts: Fact[] = [];
  if (evidence.more !== null) {
    facts.push({ name: "To settle it", value: counted(evidence.more, "more passing run") });
  }
  if (evidence.fixed_runs !== null) {
    const saved = evidence.fixed_runs - summary.completed;
    facts.push({
      name: "Saved by stopping when sure",
      value: saved > 0 ? `${counted(saved, "run")} of ${whole(evidence.fixed_runs)}` : "nothing",
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
      name: "Runs asked for",
      value: batch.max_runs === null ? whole(batch.runs) : `until sure, at most ${whole(batch.max_runs)}`,
    },
    { name: "Threshold of the score", value: String(batch.threshold) },
    { name: "Seed", value: batch.seed === null ? "none" : String(batch.seed) },
    { name: "Recorded", value: batch.recorded ? "yes" : "no" },
    { name: "Salvo", value: batch.salvo_version || UNKNOWN },
  ];
}
