import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { BlindAssignment, BlindProgress, BlindReviewRequest, Result } from "@/api/types";
import { TextLink } from "@/components/Button";
import { LazyDetails } from "@/components/Details";
import type { Draw } from "@/components/DrawForm";
import { PageTitle, Section } from "@/components/layout";
import { Empty, ErrorNotice, Loading } from "@/components/states";
import { pluralize } from "@/lib/format";
import { useReviewerName } from "../review/reviewer";
import { AssignmentCard } from "./AssignmentCard";
import { BlindResults } from "./BlindResults";
import { BlindStartForm } from "./BlindStartForm";

const LEAD =
  "You decide checks with the text beside them, and never see what the evaluator or another reviewer decided. Texts are drawn at random. So your decisions show how far the evaluator and your colleagues can be relied on.";

/** Decide checks without seeing any result, and see afterwards how well people and the evaluator agree. */
export function BlindReviewPage() {
  const { data, error, refetch } = useQuery(queries.blindSeries());
  return (
    <>
      <PageTitle lead={LEAD}>Blind review</PageTitle>
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="what can be decided" /> : null}
      {data?.length === 0 ? (
        <Empty title="Nothing can be decided blind yet">
          <TextLink to="/">Evaluate a text</TextLink> first. Its text must be stored.
        </Empty>
      ) : null}
      {data?.length ? <Deciding series={data} /> : null}
    </>
  );
}

type Series = React.ComponentProps<typeof BlindStartForm>["series"];

function Deciding({ series }: { series: Series }) {
  const client = useQueryClient();
  const [chosen, setChosen] = useState(0);
  const [request, setRequest] = useState<Required<BlindReviewRequest> | null>(null);
  const [progress, setProgress] = useState<BlindProgress | null>(null);
  const [previous, setPrevious] = useState<BlindAssignment | null>(null);
  const [isBack, setBack] = useState(false);
  const start = useMutation({
    mutationFn: (wanted: Required<BlindReviewRequest>) => api.nextBlindAssignment(wanted),
    onSuccess: (next, wanted) => {
      setRequest(wanted);
      setProgress(next);
      setPrevious(null);
      setBack(false);
    },
  });
  const save = useMutation({
    mutationFn: ({ assignment, result, reason }: { assignment: BlindAssignment; result: Result; reason: string }) => {
      if (!request) throw new Error("The name is missing.");
      const { report_id, check_id } = assignment;
      return api.addBlindDecision({ ...request, report_id, check_id, result, reason });
    },
    onSuccess: (next, { assignment }) => {
      setProgress(next);
      setPrevious(assignment);
      setBack(false);
      for (const key of ["blind-reviews", "review", "review-queue"]) void client.invalidateQueries({ queryKey: [key] });
    },
  });
  const selected = series[chosen] ?? series[0];
  const assignment = isBack ? previous : (progress?.assignment ?? null);
  const choose = (number: number) => {
    setChosen(number);
    setRequest(null);
    setProgress(null);
  };
  const begin = ({ reviewer, number }: Draw) =>
    selected &&
    start.mutate({ playbook_hash: selected.playbook_hash, evaluator: selected.evaluator, reviewer, number });
  const isDone = Boolean(request && progress && !assignment);
  return (
    <>
      {assignment ? null : (
        <BlindStartForm
          series={series}
          chosen={chosen}
          onChoose={choose}
          onStart={begin}
          isPending={start.isPending}
          done={isDone && request && progress ? { decided: progress.decided, wanted: request.number } : null}
        />
      )}
      {start.error ? <ErrorNotice error={start.error} /> : null}
      {request && progress && assignment ? (
        <AssignmentCard
          key={`${assignment.report_id} ${assignment.check_id} ${isBack}`}
          assignment={assignment}
          status={`${pluralize(progress.remaining, "check")} left, ${progress.decided} decided by ${request.reviewer}`}
          // The next one may be decided although the page still fetches what has changed.
          isPending={save.isPending && save.variables.assignment === assignment}
          onAnswer={(result, reason) => save.mutate({ assignment, result, reason })}
          {...(previous && !isBack ? { onBack: () => setBack(true) } : {})}
        />
      ) : null}
      {save.error ? <ErrorNotice error={save.error} /> : null}
      {/* They name reports and results, which nobody may see who is still deciding. */}
      {selected && !assignment ? (
        <Section title="What the decisions show">
          {isDone ? (
            <BlindResults series={selected} reviewer={request?.reviewer ?? ""} />
          ) : (
            <ResultsOnDemand key={chosen} series={selected} />
          )}
        </Section>
      ) : null}
    </>
  );
}

/** Before somebody begins: the results are neither shown nor fetched until they are asked for. */
function ResultsOnDemand({ series }: { series: Series[number] }) {
  const [isOpen, setOpen] = useState(false);
  const [name] = useReviewerName();
  return (
    <LazyDetails title="Show results of the evaluator and of people" onToggle={setOpen}>
      <p className="mb-4 text-soft">Who still wants to decide checks should do so first.</p>
      {isOpen ? <BlindResults series={series} reviewer={name.trim()} /> : null}
    </LazyDetails>
  );
}
