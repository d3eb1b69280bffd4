import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { queries } from "@/api/queries";
import type { QueueItem } from "@/api/types";
import { Badge } from "@/components/Badge";
import { TextLink } from "@/components/Button";
import { ErrorNotice, Loading } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { checkTitle } from "@/lib/format";
import { EvaluatorNote, WithheldProvider } from "../report/EvaluatorNote";
import { positionLabel } from "../report/positionLabel";
import { CheckReviewPanel, type OpenForm } from "./CheckReviewControls";
import { useReviewerName } from "./reviewer";
import { useKeys } from "./useKeys";
import { useReview } from "./useReview";

const MAX_QUOTES = 5;
const DONE: Record<Exclude<OpenForm, null>, string> = {
  accept: "accepted",
  override: "changed",
  comment: "commented on",
  assign: "assigned",
};

interface QueueDetailProps {
  item: QueueItem;
  shortcuts: boolean;
  /** What was just done, for people who do not see the list change. */
  onDone: (sentence: string) => void;
}

/** The selected check with its quotes, and the buttons to decide it. */
export function QueueDetail({ item, shortcuts, onDone }: QueueDetailProps) {
  const [name] = useReviewerName();
  const [open, setOpen] = useState<OpenForm>(null);
  const { data, error, refetch } = useQuery(queries.report(item.report_id));
  const withheld = useMemo(() => ({ texts: new Set(data?.withheld), notice: data?.withheld_notice ?? "" }), [data]);
  const actions = useReview(item.report_id);
  const title = checkTitle(item.check_id);
  const finish = (form: OpenForm) => {
    if (form) onDone(`“${title}” was ${DONE[form]} at ${new Date().toLocaleTimeString()}.`);
  };
  const accept = () =>
    name.trim()
      ? actions.add({ action: "accept", check_id: item.check_id }, () => finish("accept"))
      : setOpen("accept");
  // A key pressed while the check is still loading opens its form: nothing is accepted that was not seen.
  const isLoaded = Boolean(data && actions.review);
  const openForm = (form: OpenForm) => setOpen((current) => (isLoaded ? form : (current ?? form)));
  useKeys(shortcuts, {
    a: () => (isLoaded ? accept() : openForm("accept")),
    o: () => openForm("override"),
    c: () => openForm("comment"),
  });
  if (error) return <ErrorNotice error={error} onRetry={refetch} />;
  if (!data) return <Loading label="the check" />;
  const check = data.report.check_results.find(({ check_id }) => check_id === item.check_id);
  if (!check) return null;
  return (
    <section aria-labelledby="selected-check" className="min-w-0 rounded border border-rule bg-card px-5 py-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="selected-check" className="text-xl">
          <VisibleText>{title}</VisibleText>
        </h2>
        <Badge value={check.result} />
      </div>
      <p className="foreign mt-1 text-soft">
        <VisibleText>{check.question}</VisibleText>
      </p>
      <p className="mt-2 text-sm">
        <TextLink to={`/reports/${item.report_id}`}>
          <VisibleText>{`Open the report: ${data.labels.title}`}</VisibleText>
        </TextLink>
      </p>
      <ul className="mt-3 space-y-2">
        {check.evidence_citations.slice(0, MAX_QUOTES).map((citation) => (
          <li
            key={`${citation.location?.start} ${citation.span}`}
            className="foreign border-(--color-mark-deep) border-l-[3px] pl-3"
          >
            <VisibleText>{`“${citation.span}”`}</VisibleText>
            {citation.location ? (
              <span className="block text-sm text-soft">
                <VisibleText>{positionLabel(citation.location)}</VisibleText>
              </span>
            ) : null}
          </li>
        ))}
      </ul>
      {check.evidence_citations.length > MAX_QUOTES ? (
        <p className="mt-1 text-sm text-soft">
          {check.evidence_citations.length - MAX_QUOTES} more passages are below and in the report.
        </p>
      ) : null}
      {check.evidence_citations.length ? null : <p className="mt-3 text-soft">No passage is quoted.</p>}
      {check.notes ? (
        <p className="foreign mt-3 text-sm">
          <span className="text-soft">The evaluator says: </span>
          <WithheldProvider value={withheld}>
            <EvaluatorNote>{check.notes}</EvaluatorNote>
          </WithheldProvider>
        </p>
      ) : null}
      <CheckReviewPanel actions={actions} check={check} open={open} onOpen={setOpen} onDone={finish} />
    </section>
  );
}
