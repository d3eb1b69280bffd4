import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Navigate, useParams } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { Connection } from "@/api/reconnectingStream";
import type { Evaluation, OpenCalls, RetryWait, VoteEvent } from "@/api/types";
import { Badge, Label } from "@/components/Badge";
import { Button, ButtonLink } from "@/components/Button";
import { Facts, PageTitle } from "@/components/layout";
import { ErrorNotice, Loading, Notice, PageError, ProblemNotice, Warnings } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { ForRole } from "@/features/account/roles";
import { checkTitle, formatSeconds, pluralize } from "@/lib/format";
import { applyEvent, isFinal, watchEvaluation } from "./evaluationEvents";
import { ResumeForm } from "./ResumeForm";
import { formatClock, remainingSeconds } from "./remainingTime";

export function ProgressPage() {
  const { id = "" } = useParams();
  // The key resets all state when another evaluation is opened.
  return <Progress key={id} id={id} />;
}

function Progress({ id }: { id: string }) {
  const first = useQuery({ ...queries.evaluation(id), refetchOnReconnect: false });
  if (first.error) return <PageError title="Evaluation" error={first.error} onRetry={first.refetch} />;
  if (!first.data) return <Loading label="the evaluation" />;
  return <WatchedEvaluation key={first.dataUpdatedAt} start={first.data} reload={first.refetch} />;
}

function WatchedEvaluation({ start, reload }: { start: Evaluation; reload: () => void }) {
  const { evaluation, connection, error } = useEvaluation(start);
  const client = useQueryClient();
  const isOver = isFinal(evaluation.state);
  useEffect(() => {
    if (isOver) for (const name of ["history", "subjects", "timeline"]) client.invalidateQueries({ queryKey: [name] });
  }, [isOver, client]);
  if (evaluation.state === "done" && evaluation.report_id) {
    return <Navigate to={`/reports/${evaluation.report_id}`} replace />;
  }
  const { document_identity: document } = evaluation;
  return (
    <div className="mx-auto max-w-3xl">
      <PageTitle>{STATE_TITLES[evaluation.state]}</PageTitle>
      <Facts
        facts={[
          ...(document?.title ? [{ name: "Document", value: document.title }] : []),
          ...(document?.file_name ? [{ name: "File", value: document.file_name }] : []),
          { name: "Playbook", value: `${evaluation.playbook_id} ${evaluation.playbook_version}`, code: true },
          { name: "Evaluator", value: evaluation.evaluator, code: true },
          ...(evaluation.subject === "default" ? [] : [{ name: "Subject", value: evaluation.subject }]),
          { name: "Mode", value: evaluation.mode === "full" ? `Full, ${evaluation.runs} runs` : "Screening, 1 run" },
        ]}
      />
      <div className="mt-6 space-y-4">
        {error ? <ErrorNotice error={error} onRetry={reload} /> : null}
        <Warnings warnings={evaluation.warnings} />
        {isOver ? (
          <EndedEvaluation evaluation={evaluation} onResumed={reload} />
        ) : (
          <RunningEvaluation evaluation={evaluation} />
        )}
        {connection === "lost" && !isOver && !error ? (
          <Notice>Connection lost. The evaluation continues on the server. Reconnecting …</Notice>
        ) : null}
        <Votes evaluation={evaluation} />
      </div>
    </div>
  );
}

const STATE_TITLES: Record<Evaluation["state"], string> = {
  queued: "Evaluation queued",
  running: "Evaluation in progress",
  done: "Evaluation done",
  cancelled: "Evaluation cancelled",
  interrupted: "Evaluation interrupted",
  batched: "Evaluation waits for the provider",
  failed: "Evaluation failed",
};

function useEvaluation(start: Evaluation) {
  const [evaluation, setEvaluation] = useState(start);
  const [connection, setConnection] = useState<Connection>("live");
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (isFinal(start.state)) return;
    const controller = new AbortController();
    const lastSequence = start.votes.at(-1)?.sequence;
    watchEvaluation(
      {
        connect: (from, signal) => api.watchEvaluation(start.id, from, signal),
        pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
      },
      { onEvent: (event) => setEvaluation((current) => applyEvent(current, event)), onConnection: setConnection },
      lastSequence === undefined ? null : String(lastSequence),
      controller.signal,
    ).catch(setError);
    return () => controller.abort();
  }, [start]);
  return { evaluation, connection, error };
}

function RunningEvaluation({ evaluation }: { evaluation: Evaluation }) {
  const cancel = useMutation({ mutationFn: () => api.cancelEvaluation(evaluation.id) });
  const status = evaluation.state === "queued" ? queueStatus(evaluation.queue_position) : evaluation.progress;
  return (
    <div className="space-y-3">
      <p className="flex flex-wrap justify-between gap-x-4">
        <span role="status" className="font-semibold">
          {status || "Starting"}
        </span>
        <span className="text-soft tabular-nums">
          {evaluation.done} of {evaluation.total} answers
        </span>
      </p>
      <ElapsedTime evaluation={evaluation} />
      <progress value={evaluation.done} max={Math.max(evaluation.total, 1)} aria-label="Answers so far" />
      {evaluation.state === "queued" && evaluation.waits_for ? <Notice>{evaluation.waits_for}</Notice> : null}
      {evaluation.open_calls?.count ? <OpenCallsStatus calls={evaluation.open_calls} /> : null}
      {evaluation.waiting ? <RetryNotice wait={evaluation.waiting} /> : null}
      <div className="flex flex-wrap items-center gap-3">
        <ForRole needs="reviewer">
          <Button onClick={() => cancel.mutate()} disabled={cancel.isPending}>
            {cancel.isPending ? "Cancelling …" : "Cancel"}
          </Button>
        </ForRole>
        <span className="text-sm text-soft">
          You can close this page. The evaluation continues and appears in History.
        </span>
      </div>
      {cancel.error ? <ErrorNotice error={cancel.error} /> : null}
    </div>
  );
}

function queueStatus(position: number | null): string {
  if (position === null) return "Waiting for a server to continue it";
  return position === 1 ? "Next in the queue" : `Number ${position} in the queue`;
}

/** Counts on from what the server said, so that a slow call does not look like a page that stopped. */
function OpenCallsStatus({ calls }: { calls: OpenCalls }) {
  const [counted, setCounted] = useState({ calls, seconds: 0 });
  useEffect(() => {
    const start = performance.now();
    const timer = setInterval(
      () => setCounted({ calls, seconds: Math.floor((performance.now() - start) / 1000) }),
      1000,
    );
    return () => clearInterval(timer);
  }, [calls]);
  const seconds = calls.seconds + (counted.calls === calls ? counted.seconds : 0);
  return (
    <p className="text-sm text-soft tabular-nums" data-testid="open-calls">
      Waiting for {pluralize(calls.count, "call")} to the evaluator, the oldest for{" "}
      {seconds < 60 ? `${seconds} s` : formatSeconds(seconds)}.
    </p>
  );
}

/** Each call that waits, with a countdown; for its announced wait, and long enough to be read. */
function RetryNotice({ wait }: { wait: RetryWait }) {
  const passed = useSecondsSince(wait);
  if (passed >= Math.max(wait.seconds, MIN_SECONDS_SHOWN)) return null;
  const calls = wait.calls.length ? wait.calls : [{ name: "", seconds: wait.seconds, reason: wait.reason }];
  return (
    <Notice tone="blue">
      <ul data-testid="waiting-calls">
        {calls.map((call) => (
          <li key={call.name}>
            Retrying a call in {formatSeconds(Math.max(call.seconds - passed, 0))}:{" "}
            <VisibleText>{call.reason}</VisibleText>
            {call.name ? (
              <>
                {" "}
                (<VisibleText>{callTitle(call.name)}</VisibleText>)
              </>
            ) : null}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

/** "check/certainty_language/run-2" in words. */
function callTitle(name: string): string {
  const [, check = "", run = ""] = name.split("/");
  return check && run ? `${checkTitle(check)}, run ${run.replace(/\D/g, "")}` : name;
}

/** Seconds since the value changed, counted by this browser. */
function useSecondsSince(value: unknown): number {
  const [counted, setCounted] = useState({ value, seconds: 0 });
  useEffect(() => {
    const start = performance.now();
    const timer = setInterval(() => setCounted({ value, seconds: (performance.now() - start) / 1000 }), 250);
    return () => clearInterval(timer);
  }, [value]);
  return counted.value === value ? counted.seconds : 0;
}

/** How long it has taken since it was requested, and how much longer it takes at the pace that this page has seen. */
function ElapsedTime({ evaluation }: { evaluation: Evaluation }) {
  const [now, setNow] = useState(() => Date.now());
  const [first] = useState({ at: Date.now(), done: evaluation.done });
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const elapsed = Math.max(0, Math.floor((now - Date.parse(evaluation.created_at)) / 1000));
  const remaining = remainingSeconds((now - first.at) / 1000, evaluation.done - first.done, evaluation);
  return (
    <p className="text-sm text-soft tabular-nums" data-testid="elapsed">
      {formatClock(elapsed)} since it was requested.{" "}
      {remaining === null
        ? "The time left is estimated after two answers."
        : `About ${formatClock(remaining)} left at the pace so far.`}
    </p>
  );
}

const MIN_SECONDS_SHOWN = 3;

const ENDING_LABELS: Partial<Record<Evaluation["state"], string>> = {
  cancelled: "The evaluation was cancelled. The votes so far are kept.",
  interrupted: "The evaluation was interrupted. The votes so far are kept; resuming requests only the missing ones.",
  failed: "The evaluation could not be finished.",
  batched: "The provider has not answered yet.",
};

function EndedEvaluation({ evaluation, onResumed }: { evaluation: Evaluation; onResumed: () => void }) {
  return (
    <div className="space-y-4">
      {evaluation.problem ? <ProblemNotice problem={evaluation.problem} /> : null}
      <p role="status">
        {ENDING_LABELS[evaluation.state]} {evaluation.done} of {evaluation.total} answers received.
      </p>
      {["interrupted", "batched"].includes(evaluation.state) && evaluation.waits_for ? (
        <Notice>{evaluation.waits_for}</Notice>
      ) : null}
      {evaluation.resumable || !["done", "batched"].includes(evaluation.state) ? (
        <ForRole needs="reviewer">
          <ResumeForm evaluation={evaluation} onResumed={onResumed} />
        </ForRole>
      ) : null}
      <ForRole needs="reviewer">
        <ButtonLink to="/" variant="text">
          Evaluate another text
        </ButtonLink>
      </ForRole>
    </div>
  );
}

/** A row for each judged check; the results of the other checks are derived from these. */
function Votes({ evaluation }: { evaluation: Evaluation }) {
  return (
    <section aria-labelledby="votes">
      <h2 id="votes" className="mb-2 text-xl">
        Votes so far
      </h2>
      <ul className="divide-y divide-rule rounded border border-rule bg-card">
        {evaluation.checks
          .filter(({ judged }) => judged)
          .map(({ check_id: id, severity }) => (
            <li key={id} className="flex min-h-11 flex-wrap items-center justify-between gap-2 px-4 py-2">
              <span className="[overflow-wrap:anywhere]">
                <VisibleText>{checkTitle(id)}</VisibleText> <span className="text-sm text-soft">{severity}</span>
              </span>
              <span className="flex flex-wrap gap-2">
                {evaluation.votes
                  .filter(({ check_id }) => check_id === id)
                  .sort((a, b) => a.run - b.run || a.sequence - b.sequence)
                  .map((vote) => (
                    <Vote key={vote.sequence} vote={vote} />
                  ))}
              </span>
            </li>
          ))}
      </ul>
    </section>
  );
}

function Vote({ vote }: { vote: VoteEvent }) {
  return (
    <span className="inline-flex items-center gap-1 text-sm text-soft">
      <span className="sr-only">run </span>
      {vote.run} {vote.valid ? <Badge value={vote.result} /> : <Label tone="plain">no vote</Label>}
      {vote.problem ? (
        <span className="max-w-xs">
          <VisibleText>{vote.problem}</VisibleText>
        </span>
      ) : null}
    </span>
  );
}
