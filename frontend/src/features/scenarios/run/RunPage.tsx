import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useParams } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { RunDetail, RunHead, Trajectory, TrajectoryStep } from "@/api/types";
import { ButtonLink, DownloadLink, TextLink } from "@/components/Button";
import { CopyButton } from "@/components/CopyButton";
import { LazyDetails } from "@/components/Details";
import { LongText } from "@/components/LongText";
import { type Fact, Facts, PageTitle, Section } from "@/components/layout";
import { StatusBanner } from "@/components/StatusBanner";
import { ErrorNotice, Loading, PageError } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatScore, formatSeconds, formatTime, pluralize } from "@/lib/format";
import { OutcomeBadge, outcomeTone } from "../Badges";
import { Command } from "../Command";
import { formatDollars, formatTokens, modelName } from "../format";
import { outcomeSentence } from "../labels";
import { compareRunsPath } from "../RunLink";
import { Assertion } from "./Assertion";
import { Conversation } from "./Conversation";
import { StepRow } from "./StepRow";
import { assertionLabel, groupTurns, placeAssertions } from "./steps";

export function RunPage() {
  const { id = "" } = useParams();
  const { data, error, refetch } = useQuery(queries.run(id));
  if (error) return <PageError title="Run" error={error} onRetry={refetch} />;
  if (!data) return <Loading label="the run" />;
  return <RunView key={data.run.run_id} detail={data} />;
}

function RunView({ detail }: { detail: RunDetail }) {
  const { run, trajectory } = detail;
  return (
    <>
      <RunHeader run={run} partner={detail.partner} />
      <Section title="Assertions">
        <AssertionOverview run={run} trajectory={trajectory} />
      </Section>
      <RunSteps run={run} steps={trajectory.steps} />
      <Section title="Details">
        <StoredRunJson id={run.run_id} />
      </Section>
    </>
  );
}

/** The steps one after the other; those of a conversation turn by turn. */
function RunSteps({ run, steps }: { run: RunHead; steps: readonly TrajectoryStep[] }) {
  const { before, turns, after } = groupTurns(steps);
  const list = (items: readonly TrajectoryStep[]) => (
    <ol className="space-y-3">
      {items.map((step) => (
        <li key={step.number}>
          <StepRow step={step} run={run} />
        </li>
      ))}
    </ol>
  );
  if (!turns.length)
    return (
      <Section title="Trajectory" aside={<span className="text-soft">{pluralize(steps.length, "step")}</span>}>
        {list(steps)}
      </Section>
    );
  return (
    <Section title="Conversation" aside={<span className="text-soft">{pluralize(turns.length, "turn")}</span>}>
      <div className="space-y-6">
        {before.length ? list(before) : null}
        <Conversation turns={turns} run={run} />
        {list(after)}
      </div>
    </Section>
  );
}

function RunHeader({ run, partner }: Pick<RunDetail, "run" | "partner">) {
  const batch = `/scenarios/batches/${run.batch_id}`;
  return (
    <header>
      <p className="mb-1 flex flex-wrap gap-x-2 text-sm">
        <TextLink to="/scenarios">Batches of runs</TextLink>
        <span aria-hidden="true">/</span>
        <TextLink to={batch}>
          <VisibleText>{run.scenario_id}</VisibleText>
        </TextLink>
      </p>
      <PageTitle
        lead={
          <>
            <VisibleText>{modelName(run)}</VisibleText>, {formatTime(run.timestamp)}
          </>
        }
      >
        {`Run ${run.number} of ${run.scenario_id}`}
      </PageTitle>
      <StatusBanner
        label="Outcome"
        tone={outcomeTone(run.outcome)}
        badge={<OutcomeBadge outcome={run.outcome} large />}
      >
        <p className="font-semibold [overflow-wrap:anywhere]">
          <VisibleText>{outcomeSentence(run)}</VisibleText>
        </p>
        {run.error ? (
          <p className="foreign mt-1">
            <VisibleText>{run.error.length > 600 ? `${run.error.slice(0, 600)} …` : run.error}</VisibleText>
          </p>
        ) : null}
      </StatusBanner>
      <div className="mt-5">
        <Facts facts={headFacts(run)} />
      </div>
      <ReplayHint run={run} />
      <div className="mt-5 flex flex-wrap gap-3 print:hidden">
        {partner ? (
          <ButtonLink
            to={run.passed ? compareRunsPath(partner, run.run_id) : compareRunsPath(run.run_id, partner)}
            variant="primary"
          >
            Compare with a {run.passed ? "failing" : "passing"} run
          </ButtonLink>
        ) : null}
        <ButtonLink to={batch}>Show the batch</ButtonLink>
      </div>
    </header>
  );
}

function headFacts(run: RunHead): Fact[] {
  const { metrics } = run;
  return [
    { name: "Score", value: formatScore(run.weighted_score) },
    { name: "Cost", value: formatDollars(metrics.cost) },
    { name: "Judge cost (separate)", value: formatDollars(run.judge_cost) },
    ...(run.user_cost === 0 ? [] : [{ name: "Simulated user's cost (separate)", value: formatDollars(run.user_cost) }]),
    { name: "Latency", value: formatSeconds(metrics.latency) },
    { name: "Tokens", value: formatTokens(metrics.tokens) },
    {
      name: "Calls",
      value: [
        pluralize(metrics.model_calls, "model call"),
        pluralize(metrics.tool_count, "tool call"),
        metrics.tool_errors ? pluralize(metrics.tool_errors, "tool error") : "",
        metrics.retries ? pluralize(metrics.retries, "retry", "retries") : "",
      ]
        .filter(Boolean)
        .join(", "),
    },
    { name: "Seed", value: run.seed === null ? "none" : String(run.seed) },
    { name: "Run", value: run.run_id, code: true, copy: true },
  ];
}

function ReplayHint({ run }: { run: RunHead }) {
  if (!run.recorded) {
    return (
      <p className="mt-4 text-soft">
        Not recorded. Use <code>salvo run --record</code> to make runs replayable.
      </p>
    );
  }
  return (
    <div className="mt-4">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="text-soft">Recorded. To replay it, run</span> <Command text={`salvo replay ${run.run_id}`} />
      </p>
      <p className="text-sm text-soft [overflow-wrap:anywhere]">
        <VisibleText>{run.replay_note || run.replay_label}</VisibleText>
      </p>
    </div>
  );
}

/** Assertions about the whole run in full, the others as links to their steps; failed ones first. */
function AssertionOverview({ run, trajectory }: { run: RunHead; trajectory: Trajectory }) {
  if (!run.eval_results.length)
    return <p className="text-soft">No assertions were evaluated: the run ended before that.</p>;
  const placedAssertions = placeAssertions(run.eval_results, trajectory);
  const onRun = placedAssertions.filter(({ step }) => step === null);
  const onStep = placedAssertions.filter(({ step }) => step !== null);
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      {onStep.length ? (
        <div className="min-w-0">
          <h3 className="mb-2 text-sm text-soft">About a step</h3>
          <ul className="space-y-1.5">
            {onStep.map(({ result, index, step }) => (
              <li key={index} className="flex flex-wrap items-baseline gap-x-2 [overflow-wrap:anywhere]">
                <AssertionOutcome passed={result.passed} /> <VisibleText>{assertionLabel(result)}</VisibleText>
                <a href={`#step-${step}`} className="text-link text-sm underline">
                  step {step}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ) : null}
      {onRun.length ? (
        <div className="min-w-0">
          <h3 className="mb-2 text-sm text-soft">About the whole run</h3>
          <ul className="space-y-2">
            {onRun.map(({ result, index }) => (
              <li key={index}>
                <Assertion result={result} />
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </div>
  );
}

function AssertionOutcome({ passed }: { passed: boolean | null }) {
  const outcome = passed === null ? "error" : passed ? "passed" : "failed";
  return (
    <span data-tone={outcomeTone(outcome)} className="whitespace-nowrap text-(--tone)">
      <span aria-hidden="true">{passed === null ? "!" : passed ? "✓" : "✗"} </span>
      {passed === null ? "not judged" : outcome}
    </span>
  );
}

/** The run as stored, fetched when it is opened. */
function StoredRunJson({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  const { data, error, refetch } = useQuery({ ...queries.rawRun(id), enabled: open });
  const text = useMemo(() => (data === undefined ? "" : JSON.stringify(data, null, 2)), [data]);
  return (
    <LazyDetails title="Raw JSON" onToggle={setOpen}>
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {open && !data && !error ? <Loading label="the stored run" /> : null}
      {open && data ? (
        <>
          <p className="mb-2 flex flex-wrap items-center gap-3">
            <CopyButton text={text} label="the JSON" />
            <DownloadLink href={api.rawRunUrl(id)}>Download</DownloadLink>
          </p>
          <LongText text={text} label="the raw JSON" />
        </>
      ) : null}
    </LazyDetails>
  );
}
