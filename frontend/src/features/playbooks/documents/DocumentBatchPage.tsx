import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { BatchMatrix, DocumentRow, Result, ShownStatus } from "@/api/types";
import { Badge, badgeSign, badgeTone, StateLabel } from "@/components/Badge";
import { Button, DownloadLink, TextLink } from "@/components/Button";
import { Disclaimers } from "@/components/Disclaimers";
import { Facts, PageTitle, ScrollRegion, Section, TH } from "@/components/layout";
import { ErrorNotice, Loading, Notice, PageError, ProblemNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { ForRole, useHasRole } from "@/features/account/roles";
import { formatTime, pluralize } from "@/lib/format";
import { useDraft } from "../evaluate/draft";
import { KeyField } from "../KeyField";
import { usePrintMargins } from "../report/printing";
import { type Handover, useHandover } from "./handover";

const POLL_MS = 1500;

export function DocumentBatchPage() {
  const { id = "" } = useParams();
  const handover = useHandover(id);
  const isHandingOver = Boolean(handover && handover.done < handover.total && !handover.problem);
  const { data, error, refetch } = useQuery({
    ...queries.documentBatch(id),
    refetchInterval: ({ state }) => (isHandingOver || state.data?.totals.open ? POLL_MS : false),
  });
  const handedOver = handover?.done;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each document that was handed over changes the matrix
  useEffect(() => {
    refetch();
  }, [handedOver, refetch]);
  if (error) return <PageError title="Documents" error={error} onRetry={refetch} />;
  if (!data) return <Loading label="the documents" />;
  return <BatchView matrix={data} handover={handover} isHandingOver={isHandingOver} />;
}

interface BatchViewProps {
  matrix: BatchMatrix;
  handover: Handover | undefined;
  isHandingOver: boolean;
}

function BatchView({ matrix, handover, isHandingOver }: BatchViewProps) {
  const { batch, totals } = matrix;
  const done = totals.reports + totals.unread;
  usePrintMargins(batch.title);
  return (
    <>
      <Disclaimers />
      <PageTitle>{batch.title}</PageTitle>
      <Facts
        facts={[
          ...(batch.subject === "default" ? [] : [{ name: "Subject", value: batch.subject }]),
          { name: "Started", value: formatTime(batch.created_at) },
        ]}
      />
      <div className="mt-5 space-y-4">
        <p role="status" className="font-semibold text-lg">
          {matrix.summary}
        </p>
        {done < totals.planned ? (
          <progress value={done} max={Math.max(totals.planned, 1)} aria-label="Documents with a result" />
        ) : null}
        {isHandingOver && handover ? (
          <Notice tone="blue">
            Handing over document {Math.min(handover.done + 1, handover.total)} of {handover.total}. Keep this page open
            until all are handed over; after that the server goes on without it.
          </Notice>
        ) : null}
        {handover?.problem ? <ErrorNotice error={handover.problem} /> : null}
        {!isHandingOver && totals.missing ? (
          <Notice>
            {pluralize(totals.missing, "document was", "documents were")} not handed over, because the page was closed
            or stopped before. Evaluate them again from Many documents.
          </Notice>
        ) : null}
        <Actions matrix={matrix} />
      </div>
      {matrix.rows.length ? <Matrix matrix={matrix} /> : null}
      {batch.unread.length ? (
        <Section title="Files that could not be read">
          <ul className="list-disc space-y-1.5 pl-5">
            {batch.unread.map(({ file_name, message }) => (
              <li key={file_name} className="[overflow-wrap:anywhere]">
                <strong>
                  <VisibleText>{file_name}</VisibleText>
                </strong>
                : <VisibleText>{message}</VisibleText>
              </li>
            ))}
          </ul>
        </Section>
      ) : null}
    </>
  );
}

function Actions({ matrix }: { matrix: BatchMatrix }) {
  const mayRun = useHasRole("reviewer");
  const { apiKey } = useDraft();
  const client = useQueryClient();
  const id = matrix.batch.id;
  const onSuccess = (changed: BatchMatrix) => client.setQueryData(queries.documentBatch(id).queryKey, changed);
  const cancel = useMutation({ mutationFn: () => api.cancelDocumentBatch(id), onSuccess });
  const resume = useMutation({
    mutationFn: () => api.resumeDocumentBatch(id, matrix.needs_key ? apiKey.trim() : ""),
    gcTime: 0,
    onSuccess,
  });
  const problem = cancel.data?.problem ?? resume.data?.problem;
  return (
    <div className="space-y-3 print:hidden">
      {mayRun && matrix.resumable && matrix.needs_key ? (
        <div className="max-w-md">
          <KeyField provider="the evaluator" />
        </div>
      ) : null}
      <div className="flex flex-wrap gap-3">
        {mayRun && matrix.totals.open ? (
          <Button onClick={() => cancel.mutate()} disabled={cancel.isPending}>
            {cancel.isPending ? "Cancelling …" : "Cancel all"}
          </Button>
        ) : null}
        {mayRun && matrix.resumable ? (
          <Button
            variant="primary"
            onClick={() => resume.mutate()}
            disabled={resume.isPending || (matrix.needs_key && !apiKey.trim())}
          >
            {resume.isPending ? "Resuming …" : `Resume ${pluralize(matrix.resumable, "document")}`}
          </Button>
        ) : null}
        {(["csv", "html", "json"] as const).map((format) => (
          <DownloadLink key={format} href={api.documentBatchExportUrl(id, format)}>
            {FORMAT_NAMES[format]}
          </DownloadLink>
        ))}
        {matrix.totals.open ? null : (
          <ForRole needs="admin">
            <DeleteBatch matrix={matrix} />
          </ForRole>
        )}
      </div>
      {cancel.error || resume.error ? <ErrorNotice error={cancel.error ?? resume.error} /> : null}
      {problem ? <ProblemNotice problem={problem} /> : null}
    </div>
  );
}

const FORMAT_NAMES = { csv: "Spreadsheet (CSV)", html: "Web page (HTML)", json: "Data (JSON)" };

function DeleteBatch({ matrix }: { matrix: BatchMatrix }) {
  const [asks, setAsks] = useState(false);
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.deleteDocumentBatch(matrix.batch.id),
    onSuccess: () => {
      for (const name of ["document-batches", "history", "subjects"]) client.removeQueries({ queryKey: [name] });
      navigate("/documents");
    },
  });
  if (!asks) return <Button onClick={() => setAsks(true)}>Delete all …</Button>;
  return (
    <div role="alertdialog" aria-labelledby="delete-batch" className="w-full rounded border border-red bg-card p-4">
      <p id="delete-batch" className="font-semibold">
        Delete {pluralize(matrix.rows.length, "evaluation")} of this batch?
      </p>
      <p className="my-2 max-w-prose text-sm">
        Their texts, votes and reports are erased, and the list of files that could not be read. This cannot be undone.
        The audit log stays: it has hashes, results and names such as the subject, no texts, and records who erased what
        and when.
      </p>
      <div className="flex flex-wrap gap-3">
        <Button onClick={() => remove.mutate()} disabled={remove.isPending}>
          {remove.isPending ? "Deleting …" : "Delete them"}
        </Button>
        <Button variant="text" onClick={() => setAsks(false)}>
          Keep them
        </Button>
      </div>
      {remove.error ? <ErrorNotice error={remove.error} /> : null}
    </div>
  );
}

const HEAD = "sticky left-0 z-10 border-rule border-r border-b bg-card px-3 py-2 text-left align-top font-normal";
const CELL = "whitespace-nowrap border-rule border-b px-2 py-2 text-center align-top";
const WORDS: Record<Result, string> = { pass: "Pass", fail: "Fail", indeterminate: "Undecided" };

function Matrix({ matrix }: { matrix: BatchMatrix }) {
  const several = new Set(matrix.rows.map(({ evaluator }) => evaluator)).size > 1;
  return (
    <Section title="Documents and checks">
      <ScrollRegion label="Documents and checks">
        <table className="w-full text-sm">
          <caption className="sr-only">The result of each check in each document.</caption>
          <thead>
            <tr>
              <th scope="col" className={`${TH} sticky left-0 z-20 min-w-36 border-r sm:min-w-52`}>
                Document
              </th>
              <th scope="col" className={`${TH} text-center`}>
                Overall
              </th>
              {matrix.checks.map((check) => (
                <th
                  key={check.check_id}
                  scope="col"
                  title={check.question}
                  className="min-w-24 border-rule border-b bg-well px-2 py-2 text-center align-top font-semibold text-[0.8rem] text-soft"
                >
                  <VisibleText>{check.title}</VisibleText>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {matrix.rows.map((row) => (
              <Row key={row.evaluation_id} row={row} checks={matrix.checks} showEvaluator={several} />
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" className={`${HEAD} border-b-0 font-semibold`}>
                Failed
              </th>
              <td className={`${CELL} border-b-0`} />
              {matrix.checks.map((check) => (
                <td key={check.check_id} className={`${CELL} border-b-0 font-semibold tabular-nums`}>
                  {matrix.totals.results[check.check_id]?.fail ?? 0}
                </td>
              ))}
            </tr>
          </tfoot>
        </table>
      </ScrollRegion>
    </Section>
  );
}

interface RowProps {
  row: DocumentRow;
  checks: BatchMatrix["checks"];
  showEvaluator: boolean;
}

function Row({ row, checks, showEvaluator }: RowProps) {
  const to = row.status ? `/reports/${row.evaluation_id}` : `/evaluations/${row.evaluation_id}`;
  return (
    <tr>
      <th scope="row" className={`${HEAD} [overflow-wrap:anywhere]`}>
        <TextLink to={to}>
          <VisibleText>{row.title}</VisibleText>
        </TextLink>
        {showEvaluator ? <span className="block text-soft">{row.evaluator}</span> : null}
      </th>
      <td className={CELL}>
        {row.status ? (
          <Badge value={row.status as ShownStatus} />
        ) : (
          <>
            <StateLabel state={row.state} />
            {row.state === "running" ? (
              <span className="block text-soft tabular-nums">
                {row.answered} of {row.questions}
              </span>
            ) : null}
          </>
        )}
      </td>
      {checks.map((check) => (
        <Outcome key={check.check_id} result={row.outcomes[check.check_id]} />
      ))}
    </tr>
  );
}

function Outcome({ result }: { result: Result | undefined }) {
  if (!result) {
    return (
      <td className={`${CELL} text-soft`}>
        <span aria-hidden="true">–</span>
        <span className="sr-only">no result</span>
      </td>
    );
  }
  return (
    <td data-tone={badgeTone(result)} className={`${CELL} bg-(--tint) font-semibold text-(--tone)`}>
      <span aria-hidden="true">{badgeSign(result)} </span>
      {WORDS[result]}
    </td>
  );
}
