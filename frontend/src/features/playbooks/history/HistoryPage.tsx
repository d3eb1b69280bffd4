import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { queries } from "@/api/queries";
import type { HistoryQuery, HistoryRow, Mode, ShownStatus } from "@/api/types";
import { Badge, Label, StateLabel, shownStatus } from "@/components/Badge";
import { Button, ButtonLink, TextLink } from "@/components/Button";
import { ClickableRow } from "@/components/ClickableRow";
import { CompareSelection, SelectionCheckbox, toggleSelection } from "@/components/CompareSelection";
import { FilterSearch, FilterSelect } from "@/components/Filter";
import { PageTitle, ScrollRegion, TD, TH } from "@/components/layout";
import { Pagination } from "@/components/Pagination";
import { SelectField } from "@/components/SelectField";
import { Empty, ErrorNotice, Loading, Warnings } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { ForRole, useHasRole } from "@/features/account/roles";
import { formatConsistency, formatTime, meaningfulConsistency, pluralize } from "@/lib/format";
import { type FilterChange, useFilters } from "@/lib/useFilters";
import { DeleteQuestion } from "../DeleteQuestion";

const LIMIT = 50;

const STATUSES: readonly ShownStatus[] = ["ALERT", "REVIEW", "OBSERVE", "STABLE", "INCOMPLETE"];
const MODES: readonly Mode[] = ["full", "screening"];

const FILTERS = ["search", "in_texts", "subject", "status", "mode", "sort", "descending"] as const;
type HistoryFilters = Record<(typeof FILTERS)[number], string>;
const NO_FILTERS = { search: "", in_texts: "", subject: "", status: "", mode: "" };

/** The filters as query parameters. Empty ones are dropped; the API rejects invalid values from the URL. */
function toQuery(filters: HistoryFilters): HistoryQuery {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value));
}

const ORDERS = [
  { value: "", label: "Newest first" },
  { value: "date:false", label: "Oldest first" },
  { value: "title:false", label: "Title, A to Z" },
  { value: "subject:false", label: "Subject, A to Z" },
  { value: "status:true", label: "Most severe first" },
];

export function HistoryPage() {
  const [params, update] = useFilters();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? ""])) as HistoryFilters;
  const offset = Number(params.get("offset")) || 0;
  const [selected, setSelected] = useState<readonly string[]>([]);
  const { data, error, refetch, isFetching } = useQuery({
    ...queries.history({ ...toQuery(filters), offset, limit: LIMIT }),
    placeholderData: keepPreviousData,
    // Poll while an evaluation is running.
    refetchInterval: ({ state }) => (state.data?.rows.some((row) => row.state === "running") ? 2000 : false),
  });
  return (
    <>
      <PageTitle lead="All evaluations. Open one, or select two to compare them.">History</PageTitle>
      <Filters filters={filters} onChange={update} />
      <CompareSelection selected={selected} path="/compare" onClear={() => setSelected([])} />
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="the history" /> : null}
      {data?.damaged.length ? (
        <div className="mb-4">
          <Warnings warnings={data.damaged.map(({ message }) => message)} />
        </div>
      ) : null}
      {data?.unindexed ? (
        <p role="status" className="mb-4 text-soft">
          The texts of {pluralize(data.unindexed, "evaluation")} are still being indexed. They are searched, too, but
          until then it takes longer.
        </p>
      ) : null}
      {data && !data.rows.length && !data.damaged.length ? (
        <NoEvaluations
          filtered={Object.keys(NO_FILTERS).some((name) => filters[name as keyof HistoryFilters])}
          onClear={() => update(NO_FILTERS)}
        />
      ) : null}
      {data?.rows.length || data?.damaged.length ? (
        <div aria-busy={isFetching}>
          <p role="status" className="mb-2 text-soft">
            {data.total > LIMIT ? `${offset + 1} to ${offset + data.rows.length} of ` : ""}
            {pluralize(data.total, "evaluation")}
          </p>
          <EvaluationTable
            rows={data.rows}
            selected={selected}
            onSelect={(id) => setSelected((current) => toggleSelection(current, id))}
          />
          <Pagination
            offset={offset}
            limit={LIMIT}
            more={data.more}
            onChange={update}
            previous="Previous page"
            next="Next page"
          />
        </div>
      ) : null}
    </>
  );
}

interface FilterProps {
  filters: HistoryFilters;
  onChange: (change: FilterChange) => void;
}

function Filters({ filters, onChange }: FilterProps) {
  const { data } = useQuery(queries.subjects());
  const onSearch = useCallback((search: string) => onChange({ search }), [onChange]);
  return (
    <search className="mb-4 flex flex-wrap gap-x-4 gap-y-2 sm:gap-y-4">
      <FilterSearch
        placeholder="Title, subject, evaluator, status, playbook or id"
        value={filters.search}
        onChange={onSearch}
      />
      <label className="flex items-center gap-2 self-end pb-2.5 text-sm">
        <input
          type="checkbox"
          className="size-4 accent-link"
          checked={Boolean(filters.in_texts)}
          onChange={(event) => onChange({ in_texts: event.target.checked ? "true" : "" })}
        />
        Search the texts, too
      </label>
      <FilterSelect
        label="Subject"
        allLabel="All subjects"
        value={filters.subject}
        onChange={(name) => onChange({ subject: name })}
        options={(data ?? []).map(({ name, reports }) => ({ value: name, label: `${name} (${reports})` }))}
      />
      <FilterSelect
        label="Status"
        allLabel="Any status"
        value={filters.status}
        onChange={(status) => onChange({ status })}
        options={STATUSES.map((name) => ({ value: name, label: name }))}
      />
      <FilterSelect
        label="Mode"
        allLabel="Both modes"
        value={filters.mode}
        onChange={(mode) => onChange({ mode })}
        options={MODES.map((name) => ({ value: name, label: name }))}
      />
      <div className="w-full min-w-40 sm:w-auto">
        <SelectField
          label="Order"
          value={filters.sort ? `${filters.sort}:${filters.descending}` : ""}
          onChange={(order) => {
            const [sort = "", descending = ""] = order.split(":");
            onChange({ sort, descending });
          }}
          options={ORDERS}
        />
      </div>
    </search>
  );
}

function NoEvaluations({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  if (filtered) {
    return (
      <Empty title="No evaluations match">
        <Button onClick={onClear}>Clear filters</Button>
      </Empty>
    );
  }
  return (
    <Empty title="No evaluations yet">
      <ForRole needs="reviewer">
        <ButtonLink to="/" variant="primary">
          Evaluate a text
        </ButtonLink>
      </ForRole>
    </Empty>
  );
}

interface TableProps {
  rows: readonly HistoryRow[];
  selected: readonly string[];
  onSelect: (id: string) => void;
}

function EvaluationTable({ rows, selected, onSelect }: TableProps) {
  const differs = (name: "evaluator" | "playbook_id" | "mode") => new Set(rows.map((row) => row[name])).size > 1;
  const shown = { evaluator: differs("evaluator"), playbook_id: differs("playbook_id"), mode: differs("mode") };
  return (
    <ScrollRegion label="Evaluations">
      <table className="w-full text-[0.95rem]">
        <thead>
          <tr>
            <th scope="col" className={TH}>
              Document
            </th>
            <th scope="col" className={TH}>
              Result
            </th>
            <th scope="col" className={`${TH} ${NOT_ON_PHONES}`}>
              Evaluated
            </th>
            <th scope="col" className={`${TH} max-sm:px-1`}>
              <span className="max-sm:sr-only">Compare</span>
            </th>
            <th scope="col" className={TH}>
              Delete
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} shown={shown} selected={selected.includes(row.id)} onSelect={onSelect} />
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

/** The date stands below the title there. */
const NOT_ON_PHONES = "max-sm:hidden";

interface RowProps {
  row: HistoryRow;
  /** The details that differ between the rows of this page. What is the same in all of them is not repeated. */
  shown: Record<"evaluator" | "playbook_id" | "mode", boolean>;
  selected: boolean;
  onSelect: (id: string) => void;
}

function Row({ row, shown, selected, onSelect }: RowProps) {
  const [deleting, setDeleting] = useState(false);
  const mayDelete = useHasRole("admin");
  const to = row.status ? `/reports/${row.id}` : `/evaluations/${row.id}`;
  const title = row.title ?? `Untitled text ${row.id.slice(-6)}`;
  const isOpen = row.state === "running" || row.state === "queued";
  const details = [
    row.subject === "default" ? null : row.subject,
    shown.evaluator ? row.evaluator : null,
    shown.playbook_id ? `${row.playbook_id} ${row.playbook_version}` : null,
    shown.mode ? row.mode : null,
    meaningfulConsistency(row) === null ? null : `consistency ${formatConsistency(row)}`,
  ].filter((detail) => detail !== null);
  return (
    <>
      <ClickableRow to={to} selected={selected}>
        <td className={`${TD} w-full min-w-28 [overflow-wrap:anywhere]`}>
          <TextLink to={to}>
            <VisibleText>{title}</VisibleText>
          </TextLink>
          <span className="block text-sm text-soft sm:hidden">{formatTime(row.created_at)}</span>
          {details.length ? (
            <span className="block text-sm text-soft">
              <VisibleText>{details.join(" · ")}</VisibleText>
            </span>
          ) : null}
        </td>
        <td className={TD}>
          <span className="flex flex-wrap gap-1.5">
            {row.status ? (
              <Badge value={shownStatus({ status: row.status, incomplete: row.incomplete })} />
            ) : (
              <StateLabel state={row.state} />
            )}
            {row.baseline ? <Label tone="plain">baseline</Label> : null}
          </span>
        </td>
        <td className={`${TD} ${NOT_ON_PHONES} whitespace-nowrap text-sm`}>{formatTime(row.created_at)}</td>
        <td className={`${TD} max-sm:px-1`}>
          {row.status ? <SelectionCheckbox name={title} checked={selected} onChange={() => onSelect(row.id)} /> : null}
        </td>
        <td className={TD}>
          {isOpen || !mayDelete ? null : (
            <Button
              variant="inline"
              className="text-sm"
              aria-expanded={deleting}
              onClick={(event) => {
                event.stopPropagation();
                setDeleting(!deleting);
              }}
            >
              Delete<span className="sr-only"> {title}</span>
            </Button>
          )}
        </td>
      </ClickableRow>
      {deleting ? (
        <tr>
          <td colSpan={5} className={TD}>
            <DeleteQuestion id={row.id} title={title} baseline={row.baseline} onClose={() => setDeleting(false)} />
          </td>
        </tr>
      ) : null}
    </>
  );
}
