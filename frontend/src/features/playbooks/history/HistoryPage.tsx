import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { queries } from "@/api/queries";
import type { HistoryQuery, HistoryRow, Mode, ShownStatus } from "@/api/types";
import { Badge, Label, StateLabel, shownStatus } from "@/components/Badge";
import { Button, ButtonLink, TextLink } from "@/components/Button";
import { ClickableRow } from "@/components/ClickableRow";
import { CompareSelection, SelectionCheckbox, toggleSelection } from "@/components/CompareSelection";
import { FilterSearch, FilterSelect } from "@/components/Filter";
import { PageTitle, Table, TD } from "@/components/layout";
import { Pagination } from "@/components/Pagination";
import { Empty, ErrorNotice, Loading, Warnings } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatConsistency, formatTime } from "@/lib/format";
import { type FilterChange, useFilters } from "@/lib/useFilters";

const LIMIT = 50;
const COLUMNS = ["Select", "Time", "Status", "Consistency", "Mode", "Subject", "Evaluator", "Playbook"];

const STATUSES: readonly ShownStatus[] = ["ALERT", "REVIEW", "OBSERVE", "STABLE", "INCOMPLETE"];
const MODES: readonly Mode[] = ["full", "screening"];

const FILTERS = ["search", "subject", "status", "mode"] as const;
type HistoryFilters = Record<(typeof FILTERS)[number], string>;
const NO_FILTERS: HistoryFilters = { search: "", subject: "", status: "", mode: "" };

/** The filters as query parameters. Empty ones are dropped; the API rejects invalid values from the URL. */
function toQuery(filters: HistoryFilters): HistoryQuery {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value));
}

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
      <PageTitle lead="All evaluations, newest first. Open one, or select two to compare them.">History</PageTitle>
      <Filters filters={filters} onChange={update} />
      <CompareSelection selected={selected} path="/compare" onClear={() => setSelected([])} />
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="the history" /> : null}
      {data?.damaged.length ? (
        <div className="mb-4">
          <Warnings warnings={data.damaged.map(({ message }) => message)} />
        </div>
      ) : null}
      {data && !data.rows.length && !data.damaged.length ? (
        <NoEvaluations filtered={Object.values(filters).some(Boolean)} onClear={() => update(NO_FILTERS)} />
      ) : null}
      {data?.rows.length || data?.damaged.length ? (
        <div aria-busy={isFetching}>
          <EvaluationTable
            rows={data.rows}
            selected={selected}
            onSelect={(id) => setSelected((current) => toggleSelection(current, id))}
          />
          <Pagination offset={offset} limit={LIMIT} more={data.more} onChange={update} />
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
    <search className="mb-4 flex flex-wrap gap-4">
      <FilterSearch
        placeholder="Subject, evaluator, status, playbook or id"
        value={filters.search}
        onChange={onSearch}
      />
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
      <ButtonLink to="/" variant="primary">
        Evaluate a text
      </ButtonLink>
    </Empty>
  );
}

interface TableProps {
  rows: readonly HistoryRow[];
  selected: readonly string[];
  onSelect: (id: string) => void;
}

function EvaluationTable({ rows, selected, onSelect }: TableProps) {
  return (
    <Table label="Evaluations" columns={COLUMNS}>
      {rows.map((row) => (
        <Row key={row.id} row={row} selected={selected.includes(row.id)} onSelect={onSelect} />
      ))}
    </Table>
  );
}

interface RowProps {
  row: HistoryRow;
  selected: boolean;
  onSelect: (id: string) => void;
}

function Row({ row, selected, onSelect }: RowProps) {
  const to = row.status ? `/reports/${row.id}` : `/evaluations/${row.id}`;
  return (
    <ClickableRow to={to} selected={selected}>
      <td className={TD}>
        {row.status ? <SelectionCheckbox name={row.id} checked={selected} onChange={() => onSelect(row.id)} /> : null}
      </td>
      <td className={`${TD} whitespace-nowrap`}>
        <TextLink to={to}>{formatTime(row.created_at)}</TextLink>
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
      <td className={`${TD} tabular-nums`}>{formatConsistency(row)}</td>
      <td className={TD}>{row.mode}</td>
      <td className={`${TD} min-w-44 [overflow-wrap:anywhere]`}>
        <VisibleText>{row.subject}</VisibleText>
      </td>
      <td className={`${TD} whitespace-nowrap`}>
        <VisibleText>{row.evaluator}</VisibleText>
      </td>
      <td className={`${TD} whitespace-nowrap`}>
        <VisibleText>{`${row.playbook_id} ${row.playbook_version}`}</VisibleText>
      </td>
    </ClickableRow>
  );
}
