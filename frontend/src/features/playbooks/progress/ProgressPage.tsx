import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Navigate, useNavigate, useParams } from "react-router";
import { api } from "@/api/client";
import type { Connection } from "@/api/follow";
import { queries } from "@/api/queries";
import type { Evaluation, VoteSeen, Waiting } from "@/api/types";
import { Badge, Label } from "@/components/Badge";
import { Button, ButtonLink } from "@/components/Button";
import { Facts, PageTitle } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { Failure, Loading, Notice, ProblemNotice } from "@/components/states";
import { seconds, title } from "@/lib/format";
import { useDraft } from "../evaluate/draft";
import { KeyField } from "../KeyField";
import { advanced, followEvaluation, hasEnded } from "./follow";

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
        <Failure fault={first.error} retry={first.refetch} />
      </>
    );
  }
  if (!first.data) return <Loading what="the evaluation" />;
  return <Watched key={first.dataUpdatedAt} start={first.data} reload={first.refetch} />;
}

function Watched({ start, reload }: { start: Evaluation; reload: () => void }) {
  const { evaluation, connection, fault } = useFollowed(start);
  const client = useQueryClient();
  const ended = hasEnded(evaluation.state);
  useEffect(() => {
    if (ended) for (const name of ["history", "subjects", "timeline"]) client.invalidateQueries({ queryKey: [name] });
  }, [ended, client]);
  if (evaluation.state === "done" && evaluation.report_id) {
    return <Navigate to={`/reports/${evaluation.report_id}`} replace />;
  }
  return (
    <div className="mx-auto max-w-3xl">
      <PageTitle>{TITLES[evaluation.state]}</PageTitle>
      <Facts
        of={[
          { name: "Playbook", value: `${evaluation.playbook_id} ${evaluation.playbook_version}`, code: true },
          { name: "Evaluator", value: evaluation.evaluator, code: true },
          { name: "Subject", value: evaluation.subject },
          { name: "Mode", value: evaluation.mode === "full" ? `Full, ${evaluation.runs} runs` : "Screening, 1 run" },
        ]}
      />
      <div className="mt-6 space-y-4">
        {fault ? <Failure fault={fault} retry={reload} /> : null}
        {ended ? <Ended evaluation={evaluation} resumed={reload} /> : <Going evaluation={evaluation} />}
        {connection === "lost" && !ended && !fault ? (
          <Notice>The connection is lost. The evaluation goes on without this page; trying to reach it again …</Notice>
        ) : null}
        <Votes of={evaluation} />
      </div>
    </div>
  );
}

const TITLES: Record<Evaluation["state"], string> = {
  queued: "Waiting in line",
  running: "Evaluation under way",
  done: "Evaluation done",
  cancelled: "Evaluation cancelled",
  interrupted: "Evaluation interrupted",
  failed: "Evaluation failed",
};

function useFollowed(start: Evaluation) {
  const [evaluation, setEvaluation] = useState(start);
  const [connection, setConnection] = useState<Connection>("live");
  const [fault, setFault] = useState<unknown>(null);
  useEffect(() => {
    if (hasEnded(start.state)) return;
    const leaving = new AbortController();
    const last = start.votes.at(-1)?.sequence;
    followEvaluation(
      {
        watch: (from, signal) => api.watch(start.id, from, signal),
        pause: (milliseconds) => new Promise((go) => setTimeout(go, milliseconds)),
      },
      { event: (event) => setEvaluation((now) => advanced(now, event)), connection: setConnection },
      last === undefined ? null : String(last),
      leaving.signal,
    ).catch(setFault);
    return () => leaving.abort();
  }, [start]);
  return { evaluation, connection, fault };
}

function Going({ evaluation }: { evaluation: Evaluation }) {
  const cancel = useMutation({ mutationFn: () => api.cancel(evaluation.id) });
  const words =
    evaluation.state === "queued"
      ? evaluation.queue_position === 1
        ? "Next in line"
        : `Number ${evaluation.queue_position ?? "?"} in line`
      : evaluation.progress || "Starting";
  return (
    <div className="space-y-3">
      <p className="flex flex-wrap justify-between gap-x-4">
        <span role="status" className="font-semibold">
          {words}
        </span>
        <span className="text-soft tabular-nums">
          {evaluation.done} of {evaluation.total} answers
        </span>
      </p>
      <progress value={evaluation.done} max={Math.max(evaluation.total, 1)} aria-label="Answers so far" />
      {evaluation.waiting ? <Pause of={evaluation.waiting} /> : null}
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => cancel.mutate()} disabled={cancel.isPending}>
          {cancel.isPending ? "Cancelling …" : "Cancel"}
        </Button>
        <span className="text-sm text-soft">You may close this page: the evaluation goes on, and History has it.</span>
      </div>
      {cancel.error ? <Failure fault={cancel.error} /> : null}
    </div>
  );
}

/** Told while it lasts, and long enough to be read: nobody says when a wait is over. */
function Pause({ of }: { of: Waiting }) {
  const [over, setOver] = useState<Waiting | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setOver(of), 1000 * Math.max(of.seconds, SECONDS_TO_READ));
    return () => clearTimeout(timer);
  }, [of]);
  if (over === of) return null;
  return (
    <Notice tone="blue">
      Waiting {seconds(of.seconds)} before a call is tried again: <Seen>{of.reason}</Seen>.
    </Notice>
  );
}

const SECONDS_TO_READ = 3;

const ENDINGS: Partial<Record<Evaluation["state"], string>> = {
  cancelled: "It was cancelled. What was judged until then is kept.",
  interrupted: "It was interrupted before it was done. What was judged until then is kept, and only the rest is asked.",
  failed: "It could not be finished.",
};

function Ended({ evaluation, resumed }: { evaluation: Evaluation; resumed: () => void }) {
  return (
    <div className="space-y-4">
      {evaluation.problem ? <ProblemNotice problem={evaluation.problem} /> : null}
      <p role="status">
        {ENDINGS[evaluation.state]} {evaluation.done} of {evaluation.total} answers are there.
      </p>
      {evaluation.resumable || evaluation.state !== "done" ? (
        <Resume evaluation={evaluation} resumed={resumed} />
      ) : null}
      <ButtonLink to="/" look="quiet">
        Evaluate another text
      </ButtonLink>
    </div>
  );
}

/** Asks what has no answer yet; the key was forgotten with the evaluation, so it is given again. */
export function Resume({
  evaluation,
  resumed,
}: {
  evaluation: Pick<Evaluation, "id" | "evaluator" | "needs_key">;
  resumed?: () => void;
}) {
  const { apiKey } = useDraft();
  const navigate = useNavigate();
  const client = useQueryClient();
  const resume = useMutation({
    mutationFn: () => api.resume(evaluation.id, evaluation.needs_key ? apiKey.trim() : ""),
    gcTime: 0,
    onSuccess: ({ id }) => {
      client.removeQueries({ queryKey: ["evaluations", id] });
      if (id === evaluation.id && resumed) resumed();
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
      <Button type="submit" look="main" disabled={resume.isPending || (evaluation.needs_key && !apiKey.trim())}>
        {resume.isPending ? "Resuming …" : "Resume: ask what is missing"}
      </Button>
      {resume.error ? <Failure fault={resume.error} /> : null}
    </form>
  );
}

/** A row for each check that is judged, from the beginning; the others follow from these. */
function Votes({ of }: { of: Evaluation }) {
  return (
    <section aria-labelledby="votes">
      <h2 id="votes" className="mb-2 text-xl">
        Votes so far
      </h2>
      <ul className="divide-y divide-rule rounded border border-rule bg-card">
        {of.checks
          .filter(({ judged }) => judged)
          .map(({ check_id: id, severity }) => (
            <li key={id} className="flex min-h-11 flex-wrap items-center justify-between gap-2 px-4 py-2">
              <span className="[overflow-wrap:anywhere]">
                <Seen>{title(id)}</Seen> <span className="text-sm text-soft">{severity}</span>
              </span>
              <span className="flex flex-wrap gap-2">
                {of.votes
                  .filter(({ check_id }) => check_id === id)
                  .sort((a, b) => a.run - b.run || a.sequence - b.sequence)
                  .map((vote) => (
                    <Vote key={vote.sequence} of={vote} />
                  ))}
              </span>
            </li>
          ))}
      </ul>
    </section>
  );
}

function Vote({ of }: { of: VoteSeen }) {
  return (
    <span className="inline-flex items-center gap-1 text-sm text-soft">
      <span className="sr-only">run </span>
      {of.run} {of.valid ? <Badge of={of.result} /> : <Label tone="plain">no vote</Label>}
      {of.problem ? (
        <span className="max-w-xs">
          <Seen>{of.problem}</Seen>
        </span>
      ) : null}
    </span>
  );
}
