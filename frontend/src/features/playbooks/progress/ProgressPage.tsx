import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Navigate, useNavigate, useParams } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { Connection } from "@/api/reconnectingStream";
import type { Evaluation, RetryWait, VoteEvent } from "@/api/types";
import { Badge, Label } from "@/components/Badge";
import { Button, ButtonLink } from "@/components/Button";
import { Facts, PageTitle } from "@/components/layout";
import { ErrorNotice, Loading, Notice, ProblemNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { checkTitle, formatSeconds } from "@/lib/format";
import { useDraft } from "../evaluate/draft";
import { KeyField } from "../KeyField";
import { applyEvent, isFinal, watchEvaluation } from "./evaluationEvents";

export function ProgressPage() {
  const { id = "" } = useParams();
  // By its id: another evaluation is another page, with nothing left of the one before.
  return <Progress key={id} id={id} />;
}

function Progress({ id }: { id: string }) {
  const first = useQuery({ ...queries.evaluation(id), refetchOnReconnect: false });
  if (first.error) {
    return (
      <>
        <PageTitle>Evaluation</PageTitle>
        <ErrorNotice error={first.error} onRetry={first.refetch} />
      </>
    );
  }
  if (!first.data) return <Loading label="the evaluation" />;
  return <WatchedEvaluation key={first.dataUpdatedAt} start={first.data} reload={first.refetch} />;
}

function WatchedEvaluation({ start, reload }: { start: Evaluation; reload: () => void }) {
  const { evaluation, connection, fault: error } = useEvaluation(start);
  const client = useQueryClient();
  const isOver = isFinal(evaluation.state);
  useEffect(() => {
    if (isOver) for (const name of ["history", "subjects", "timeline"]) client.invalidateQueries({ queryKey: [name] });
  }, [isOver, client]);
  if (evaluation.state === "done" && evaluation.report_id) {
    return <Navigate to={`/reports/${evaluation.report_id}`} replace />;
  }
  return (
    <div className="mx-auto max-w-3xl">
      <PageTitle>{STATE_TITLES[evaluation.state]}</PageTitle>
      <Facts
        facts={[
          { name: "Playbook", value: `${evaluation.playbook_id} ${evaluation.playbook_version}`, code: true },
          { name: "Evaluator", value: evaluation.evaluator, code: true },
          { name: "Subject", value: evaluation.subject },
          { name: "Mode", value: evaluation.mode === "full" ? `Full, ${evaluation.runs} runs` : "Screening, 1 run" },
        ]}
      />
      <div className="mt-6 space-y-4">
        {error ? <ErrorNotice error={error} onRetry={reload} /> : null}
        {isOver ? (
          <EndedEvaluation evaluation={evaluation} onResumed={reload} />
        ) : (
          <RunningEvaluation evaluation={evaluation} />
        )}
        {connection === "lost" && !isOver && !error ? (
          <Notice>The connection is lost. The evaluation goes on without this page; trying to reach it again …</Notice>
        ) : null}
        <Votes evaluation={evaluation} />
      </div>
    </div>
  );
}

const STATE_TITLES: Record<Evaluation["state"], string> = {
  queued: "Waiting in line",
  running: "Evaluation under way",
  done: "Evaluation done",
  cancelled: "Evaluation cancelled",
  interrupted: "Evaluation interrupted",
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
  return { evaluation, connection, fault: error };
}

function RunningEvaluation({ evaluation }: { evaluation: Evaluation }) {
  const cancel = useMutation({ mutationFn: () => api.cancelEvaluation(evaluation.id) });
  const status =
    evaluation.state === "queued"
      ? evaluation.queue_position === 1
        ? "Next in line"
        : `Number ${evaluation.queue_position ?? "?"} in line`
      : evaluation.progress || "Starting";
  return (
    <div className="space-y-3">
      <p className="flex flex-wrap justify-between gap-x-4">
        <span role="status" className="font-semibold">
          {status}
        </span>
        <span className="text-soft tabular-nums">
          {evaluation.done} of {evaluation.total} answers
        </span>
      </p>
      <progress value={evaluation.done} max={Math.max(evaluation.total, 1)} aria-label="Answers so far" />
      {evaluation.waiting ? <RetryNotice wait={evaluation.waiting} /> : null}
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => cancel.mutate()} disabled={cancel.isPending}>
          {cancel.isPending ? "Cancelling …" : "Cancel"}
        </Button>
        <span className="text-sm text-soft">You may close this page: the evaluation goes on, and History has it.</span>
      </div>
      {cancel.error ? <ErrorNotice error={cancel.error} /> : null}
    </div>
  );
}

/** Told while it lasts, and long enough to be read: nobody says when a wait is over. */
function RetryNotice({ wait }: { wait: RetryWait }) {
  const [hidden, setHidden] = useState<RetryWait | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setHidden(wait), 1000 * Math.max(wait.seconds, MIN_SECONDS_SHOWN));
    return () => clearTimeout(timer);
  }, [wait]);
  if (hidden === wait) return null;
  return (
    <Notice tone="blue">
      Waiting {formatSeconds(wait.seconds)} before a call is tried again: <VisibleText>{wait.reason}</VisibleText>.
    </Notice>
  );
}

const MIN_SECONDS_SHOWN = 3;

const ENDING_LABELS: Partial<Record<Evaluation["state"], string>> = {
  cancelled: "It was cancelled. What was judged until then is kept.",
  interrupted: "It was interrupted before it was done. What was judged until then is kept, and only the rest is asked.",
  failed: "It could not be finished.",
};

function EndedEvaluation({ evaluation, onResumed }: { evaluation: Evaluation; onResumed: () => void }) {
  return (
    <div className="space-y-4">
      {evaluation.problem ? <ProblemNotice problem={evaluation.problem} /> : null}
      <p role="status">
        {ENDING_LABELS[evaluation.state]} {evaluation.done} of {evaluation.total} answers are there.
      </p>
      {evaluation.resumable || evaluation.state !== "done" ? (
        <ResumeForm evaluation={evaluation} onResumed={onResumed} />
      ) : null}
      <ButtonLink to="/" variant="text">
        Evaluate another text
      </ButtonLink>
    </div>
  );
}

/** Asks what has no answer yet; the key was forgotten with the evaluation, so it is given again. */
export function ResumeForm({
  evaluation,
  onResumed,
}: {
  evaluation: Pick<Evaluation, "id" | "evaluator" | "needs_key">;
  onResumed?: () => void;
}) {
  const { apiKey } = useDraft();
  const navigate = useNavigate();
  const client = useQueryClient();
  const resume = useMutation({
    mutationFn: () => api.resumeEvaluation(evaluation.id, evaluation.needs_key ? apiKey.trim() : ""),
    gcTime: 0,
    onSuccess: ({ id }) => {
      client.removeQueries({ queryKey: ["evaluations", id] });
      if (id === evaluation.id && onResumed) onResumed();
      else navigate(`/evaluations/${id}`);
    },
  });
  return (
    <form
      className="space-y-3 rounded border border-rule bg-card p-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!resume.isPending) resume.mutate();
      }}
    >
      {evaluation.needs_key ? <KeyField provider={evaluation.evaluator} /> : null}
      <Button type="submit" variant="primary" disabled={resume.isPending || (evaluation.needs_key && !apiKey.trim())}>
        {resume.isPending ? "Resuming …" : "Resume: ask what is missing"}
      </Button>
      {resume.error ? <ErrorNotice error={resume.error} /> : null}
    </form>
  );
}

/** A row for each check that is judged, from the beginning; the others follow from these. */
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
