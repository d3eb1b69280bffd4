import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link, useParams } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { RunDetail, RunHead, Trajectory } from "@/api/types";
import { ButtonLink, DownloadLink } from "@/components/Button";
import { Copy } from "@/components/Copy";
import { Disclosure } from "@/components/Fold";
import { Folded } from "@/components/Folded";
import { type Fact, Facts, PageTitle, Section } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { Failure, Loading } from "@/components/states";
import { counted, score, seconds, time } from "@/lib/format";
import { OutcomeBadge, outcomeTone } from "../Marks";
import { besideAddress } from "../RunLink";
import { dollars, modelName, outcomeSentence, REPLAYS, tokensOf } from "../words";
import { Assertion } from "./Assertion";
import { StepBody, StepHead } from "./Step";
import { labelOf, placed } from "./steps";

export function RunPage() {
  const { id = "" } = useParams();
  const { data, error, refetch } = useQuery(queries.run(id));
  if (error) {
    return (
      <>
        <PageTitle>Run</PageTitle>
        <Failure fault={error} retry={refetch} />
      </>
    );
  }
  if (!data) return <Loading what="the run" />;
  return <Shown key={data.run.run_id} of={data} />;
}

function Shown({ of }: { of: RunDetail }) {
  const { run, trajectory } = of;
  return (
    <>
      <Head of={of} />
      <Section title="Assertions">
        <Overview run={run} trajectory={trajectory} />
      </Section>
      <Section title="Trajectory" aside={<span className="text-soft">{counted(trajectory.steps.length, "step")}</span>}>
        <ol className="space-y-3">
          {trajectory.steps.map((step) => (
            <li
              key={step.number}
              id={`step-${step.number}`}
              tabIndex={-1}
              className="grid scroll-mt-4 grid-cols-[minmax(0,1fr)] items-start gap-3 xl:grid-cols-[minmax(0,1fr)_minmax(18rem,26rem)]"
            >
              <div
                className={`min-w-0 rounded border bg-card px-4 py-3 ${step.assertions.some((index) => run.eval_results[index]?.passed === false) ? "border-edge" : "border-rule"}`}
              >
                <StepHead of={step} />
                <StepBody of={step} />
              </div>
              {step.assertions.length ? (
                <ul className="space-y-2" aria-label={`Assertions on step ${step.number}`}>
                  {step.assertions.map((index) => {
                    const result = run.eval_results[index];
                    return result ? (
                      <li key={index}>
                        <Assertion of={result} />
                      </li>
                    ) : null;
                  })}
                </ul>
              ) : null}
            </li>
          ))}
        </ol>
      </Section>
      <Section title="Details">
        <Raw id={run.run_id} />
      </Section>
    </>
  );
}

function Head({ of: { run, partner } }: { of: RunDetail }) {
  const batch = `/scenarios/batches/${run.batch_id}`;
  return (
    <header>
      <p className="mb-1 flex flex-wrap gap-x-2 text-sm">
        <Link to="/scenarios" className="text-link underline">
          Batches of runs
        </Link>
        <span aria-hidden="true">/</span>
        <Link to={batch} className="text-link underline">
          <Seen>{run.scenario_id}</Seen>
        </Link>
      </p>
      <PageTitle
        lead={
          <>
            <Seen>{modelName(run)}</Seen>, {time(run.timestamp)}
          </>
        }
      >
        {`Run ${run.number} of ${run.scenario_id}`}
      </PageTitle>
      <section
        aria-label="Outcome"
        data-tone={outcomeTone(run.outcome)}
        className="flex flex-wrap items-start gap-x-5 gap-y-2 rounded border-(--tone) border-l-[0.4rem] bg-(--tint) px-5 py-4"
      >
        <OutcomeBadge of={run.outcome} large />
        <div className="min-w-0 flex-1 basis-72">
          <p className="font-semibold [overflow-wrap:anywhere]">
            <Seen>{outcomeSentence(run)}</Seen>
          </p>
          {run.error ? (
            <p className="foreign mt-1">
              <Seen>{run.error.length > 600 ? `${run.error.slice(0, 600)} …` : run.error}</Seen>
            </p>
          ) : null}
        </div>
      </section>
      <div className="mt-5">
        <Facts of={headFacts(run)} />
      </div>
      <Replay run={run} />
      <div className="mt-5 flex flex-wrap gap-3 print:hidden">
        {partner ? (
          <ButtonLink
            to={run.passed ? besideAddress(partner, run.run_id) : besideAddress(run.run_id, partner)}
            look="main"
          >
            Beside a {run.passed ? "failing" : "passing"} run
          </ButtonLink>
        ) : null}
        <ButtonLink to={batch}>Its batch</ButtonLink>
      </div>
    </header>
  );
}

function headFacts(run: RunHead): Fact[] {
  const { metrics } = run;
  return [
    { name: "Score", value: score(run.weighted_score) },
    { name: "Cost", value: dollars(metrics.cost) },
    { name: "Judge’s cost, apart", value: dollars(run.judge_cost) },
    { name: "Latency", value: seconds(metrics.latency) },
    { name: "Tokens", value: tokensOf(metrics.tokens) },
    {
      name: "Calls",
      value: [
        counted(metrics.model_calls, "model call"),
        counted(metrics.tool_count, "tool call"),
        metrics.tool_errors ? counted(metrics.tool_errors, "tool error") : "",
        metrics.retries ? counted(metrics.retries, "retry", "retries") : "",
      ]
        .filter(Boolean)
        .join(", "),
    },
    { name: "Seed", value: run.seed === null ? "none" : String(run.seed) },
    { name: "Run", value: run.run_id, code: true, copy: true },
  ];
}

function Replay({ run }: { run: RunHead }) {
  if (!run.recorded) {
    return (
      <p className="mt-4 text-soft">
        Not recorded. <code>salvo run --record</code> makes replay possible.
      </p>
    );
  }
  const command = `salvo replay ${run.run_id}`;
  return (
    <div className="mt-4">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="text-soft">Recorded. Replay it with</span> <code>{command}</code>
        <Copy text={command} what="the command" />
      </p>
      <p className="text-sm text-soft [overflow-wrap:anywhere]">
        {run.replay_note ? <Seen>{run.replay_note}</Seen> : REPLAYS[run.replayable]}
      </p>
    </div>
  );
}

/** Those of the whole run in full; of the others where they stand, what did not pass first. */
function Overview({ run, trajectory }: { run: RunHead; trajectory: Trajectory }) {
  if (!run.eval_results.length) return <p className="text-soft">Nothing was judged: the run did not come so far.</p>;
  const all = placed(run.eval_results, trajectory);
  const whole = all.filter(({ step }) => step === null);
  const elsewhere = all.filter(({ step }) => step !== null);
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      {elsewhere.length ? (
        <div className="min-w-0">
          <h3 className="mb-2 text-sm text-soft">On a step</h3>
          <ul className="space-y-1.5">
            {elsewhere.map(({ result, index, step }) => (
              <li key={index} className="flex flex-wrap items-baseline gap-x-2 [overflow-wrap:anywhere]">
                <Sign passed={result.passed} /> <Seen>{labelOf(result)}</Seen>
                <a href={`#step-${step}`} className="text-link text-sm underline">
                  step {step}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ) : null}
      {whole.length ? (
        <div className="min-w-0">
          <h3 className="mb-2 text-sm text-soft">On the whole run</h3>
          <ul className="space-y-2">
            {whole.map(({ result, index }) => (
              <li key={index}>
                <Assertion of={result} />
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </div>
  );
}

function Sign({ passed }: { passed: boolean | null }) {
  const outcome = passed === null ? "error" : passed ? "passed" : "failed";
  return (
    <span data-tone={outcomeTone(outcome)} className="whitespace-nowrap text-(--tone)">
      <span aria-hidden="true">{passed === null ? "!" : passed ? "✓" : "✗"} </span>
      {passed === null ? "not judged" : outcome}
    </span>
  );
}

/** As it is stored, all of it: asked for only when it is looked at. */
function Raw({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  const { data, error, refetch } = useQuery({ ...queries.rawRun(id), enabled: open });
  const text = useMemo(() => (data === undefined ? "" : JSON.stringify(data, null, 2)), [data]);
  return (
    <Disclosure title="Raw JSON" toggle={setOpen}>
      {error ? <Failure fault={error} retry={refetch} /> : null}
      {open && !data && !error ? <Loading what="the run as it is stored" /> : null}
      {open && data ? (
        <>
          <p className="mb-2 flex flex-wrap items-center gap-3">
            <Copy text={text} what="the JSON" />
            <DownloadLink href={api.rawRunFile(id)}>Download</DownloadLink>
          </p>
          <Folded text={text} what="the raw JSON" />
        </>
      ) : null}
    </Disclosure>
  );
}
