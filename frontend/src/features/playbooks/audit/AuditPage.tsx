import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { AuditLogRow } from "@/api/types";
import { Label } from "@/components/Badge";
import { Button, TextLink } from "@/components/Button";
import { FilterSearch, FilterSelect } from "@/components/Filter";
import { PageTitle, Table, TD } from "@/components/layout";
import { Pagination } from "@/components/Pagination";
import { Empty, ErrorNotice, Loading, Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatTime, pluralize } from "@/lib/format";
import { useFilters } from "@/lib/useFilters";
import { VerificationResult } from "./VerificationResult";

const LIMIT = 50;
const LEAD =
  "Who did what, when, to which evaluation. Each entry has the hash of the one before it, so a changed entry is detected. The log has no texts, and it stays when an evaluation is deleted.";
const NO_FILTERS = { action: "", search: "", evaluation: "" };

export function AuditPage() {
  const [params, update] = useFilters();
  const action = params.get("action") ?? "";
  const search = params.get("search") ?? "";
  const evaluation = params.get("evaluation") ?? "";
  const offset = Number(params.get("offset")) || 0;
  const { data, error, refetch, isFetching } = useQuery({
    ...queries.auditLog({ action, search, evaluation, offset, limit: LIMIT }),
    placeholderData: keepPreviousData,
  });
  const onSearch = useCallback((text: string) => update({ search: text }), [update]);
  const isFiltered = Boolean(action || search || evaluation);
  return (
    <>
      <PageTitle lead={LEAD}>Audit log</PageTitle>
      <VerifyEverything />
      <search className="mb-4 flex flex-wrap gap-4">
        <FilterSearch placeholder="Name of a person, subject, hash or id" value={search} onChange={onSearch} />
        <FilterSelect
          label="What happened"
          allLabel="Everything"
          value={action}
          onChange={(name) => update({ action: name })}
          options={(data?.actions ?? []).map(({ name, title }) => ({ value: name, label: title }))}
        />
      </search>
      {evaluation ? (
        <p className="mb-3">
          Only the evaluation <code className="[overflow-wrap:anywhere]">{evaluation}</code>.{" "}
          <Button variant="inline" onClick={() => update({ evaluation: "" })}>
            Show all
          </Button>
        </p>
      ) : null}
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="the audit log" /> : null}
      {data && !data.rows.length ? (
        <Empty title={isFiltered ? "No entries match" : "The audit log is empty"}>
          {isFiltered ? (
            <Button onClick={() => update(NO_FILTERS)}>Clear filters</Button>
          ) : (
            "Its first entry is made with the first evaluation."
          )}
        </Empty>
      ) : null}
      {data?.rows.length ? (
        <div aria-busy={isFetching}>
          <p role="status" className="mb-2 text-soft">
            {data.total > LIMIT
              ? `${(offset + 1).toLocaleString("en")} to ${(offset + data.rows.length).toLocaleString("en")} of `
              : ""}
            {pluralize(data.total, "entry", "entries")}, the newest first.
          </p>
          <div className="mb-3">
            <Notice tone={data.rows.some(isBroken) ? "red" : "blue"}>{data.sentence}</Notice>
          </div>
          <Table label="Entries" columns={["Number", "What", "Who", "Evaluation", "State"]} small>
            {data.rows.map((row) => (
              <EntryRow key={row.number} row={row} />
            ))}
          </Table>
          <Pagination offset={offset} limit={LIMIT} more={data.total > offset + data.rows.length} onChange={update} />
        </div>
      ) : null}
    </>
  );
}

function isBroken(row: AuditLogRow): boolean {
  return Boolean(row.problem || row.signature.problem);
}

function VerifyEverything() {
  const verify = useMutation({ mutationFn: api.verifyEverything, gcTime: 0 });
  return (
    <section aria-label="Verify everything" className="mb-6 max-w-4xl space-y-3">
      <Button onClick={() => verify.mutate()} disabled={verify.isPending}>
        {verify.isPending ? "Verifying …" : "Verify everything that is stored"}
      </Button>
      <p className="text-sm text-soft">
        All evaluations, votes, reviews and baselines are compared with the whole log, and every signature is checked.
        In a large database this takes minutes.
      </p>
      {verify.error ? <ErrorNotice error={verify.error} /> : null}
      {verify.data ? <VerificationResult verification={verify.data} /> : null}
    </section>
  );
}

function EntryRow({ row }: { row: AuditLogRow }) {
  const { description } = row;
  return (
    <tr>
      <td className={`${TD} whitespace-nowrap`}>
        {row.number.toLocaleString("en")}
        <span className="block text-soft">{formatTime(row.at)}</span>
      </td>
      <td className={`${TD} min-w-48 [overflow-wrap:anywhere]`}>
        <VisibleText>{description.title}</VisibleText>
        {description.details ? (
          <span className="block text-soft">
            <VisibleText>{description.details}</VisibleText>
          </span>
        ) : null}
      </td>
      <td className={`${TD} min-w-28 [overflow-wrap:anywhere]`}>
        {description.who ? (
          <VisibleText>{description.who}</VisibleText>
        ) : (
          <span className="text-soft">not recorded</span>
        )}
        {description.who && !description.authenticated ? (
          <span className="block text-soft">name not authenticated</span>
        ) : null}
      </td>
      <td className={`${TD} min-w-36 [overflow-wrap:anywhere]`}>
        <EvaluationLink row={row} />
      </td>
      <td className={`${TD} min-w-36 [overflow-wrap:anywhere]`}>
        <EntryState row={row} />
      </td>
    </tr>
  );
}

function EvaluationLink({ row }: { row: AuditLogRow }) {
  if (!row.evaluation_id) return null;
  const name = `… ${row.evaluation_id.slice(-8)}`;
  if (!row.stored) return <span className="whitespace-nowrap">{name} (erased)</span>;
  return (
    <>
      <TextLink to={`/evaluations/${row.evaluation_id}`}>
        <VisibleText>{row.document || "Untitled text"}</VisibleText>
      </TextLink>
      <span className="block whitespace-nowrap text-soft">{name}</span>
    </>
  );
}

function EntryState({ row }: { row: AuditLogRow }) {
  const { public_keys: keys, problem } = row.signature;
  if (isBroken(row)) {
    return (
      <>
        <Label tone="red">does not hold</Label>
        <span className="block">
          <VisibleText>{[row.problem, problem].filter(Boolean).join(" ")}</VisibleText>
        </span>
      </>
    );
  }
  return (
    <>
      <Label tone="green">{keys.length ? "holds, signed" : "holds"}</Label>
      <code className="block whitespace-nowrap text-soft" title={row.hash}>
        {row.hash.slice(0, 19)}…
      </code>
    </>
  );
}
