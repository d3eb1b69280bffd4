import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { BlindQuestion, LabelAnswer, LabelProgress } from "@/api/types";
import { TextLink } from "@/components/Button";
import type { Draw } from "@/components/DrawForm";
import { PageTitle, Section } from "@/components/layout";
import { ErrorNotice, Loading, PageError } from "@/components/states";
import { useUserName } from "@/features/account/userName";
import { pluralize } from "@/lib/format";
import { LabelResults } from "./LabelResults";
import { QuestionCard } from "./QuestionCard";
import { StartForm } from "./StartForm";

/** Label judged runs, without seeing what the judge said. */
export function ReviewPage() {
  const { id = "" } = useParams();
  const { data, error, refetch } = useQuery(queries.batch(id));
  if (error) return <PageError title="Review" error={error} onRetry={refetch} />;
  if (!data) return <Loading label="the batch" />;
  return (
    <>
      <p className="mb-1 text-sm">
        <TextLink to={`/scenarios/batches/${data.batch.batch_id}`}>Batch {data.batch.batch_id}</TextLink>
      </p>
      <PageTitle lead="You see what happened and what must hold, never what the judge or another reviewer said. Runs are drawn at random, so that the judge’s pass rate can be corrected by your answers.">
        {`Review ${data.summary.scenario_id}`}
      </PageTitle>
      <Labelling batchId={data.batch.batch_id} />
    </>
  );
}

function Labelling({ batchId }: { batchId: string }) {
  const client = useQueryClient();
  const user = useUserName();
  const [request, setRequest] = useState<Draw | null>(null);
  const [progress, setProgress] = useState<LabelProgress | null>(null);
  const [previous, setPrevious] = useState<BlindQuestion | null>(null);
  const [isBack, setBack] = useState(false);
  const start = useMutation({
    mutationFn: (wanted: Draw) => api.nextLabel(batchId, wanted),
    onSuccess: (next, wanted) => {
      setRequest(wanted);
      setProgress(next);
      setPrevious(null);
    },
  });
  const save = useMutation({
    mutationFn: ({ question, answer, note }: { question: BlindQuestion; answer: LabelAnswer; note: string }) => {
      if (!request) throw new Error("The name is missing.");
      return api.addLabel(batchId, { ...request, key: question.key, answer, note });
    },
    onSuccess: (next, { question }) => {
      setProgress(next);
      setPrevious(question);
      setBack(false);
      void client.invalidateQueries({ queryKey: ["batches"] });
    },
  });
  const question = isBack ? previous : progress?.question;
  return (
    <>
      {!request || !progress?.question ? (
        <StartForm
          user={user}
          onStart={(wanted) => start.mutate(wanted)}
          isPending={start.isPending}
          done={
            request && progress ? { name: request.reviewer, labelled: progress.labelled, wanted: request.number } : null
          }
        />
      ) : null}
      {start.error ? <ErrorNotice error={start.error} /> : null}
      {request && progress && question ? (
        <QuestionCard
          key={`${question.key} ${isBack}`}
          question={question}
          status={`${pluralize(progress.remaining, "question")} left, ${pluralize(progress.labelled, "run")} labelled by ${request.reviewer}`}
          // The next question may be answered although the page still fetches what has changed.
          isPending={save.isPending && save.variables.question.key === question.key}
          onAnswer={(answer, note) => save.mutate({ question, answer, note })}
          {...(previous && !isBack ? { onBack: () => setBack(true) } : {})}
        />
      ) : null}
      {save.error ? <ErrorNotice error={save.error} /> : null}
      {/* It names runs and verdicts, which nobody may see who is still labelling. */}
      {question ? null : (
        <Section title="What the labels show">
          <LabelResults batchId={batchId} />
        </Section>
      )}
    </>
  );
}
