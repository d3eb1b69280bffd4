import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Link, useNavigate } from "react-router";
import { queries } from "@/api/queries";
import type { HistoryQuery, HistoryRow, Mode, Status } from "@/api/types";
import { Badge, Label, StateLabel } from "@/components/Badge";
import { Button, ButtonLink } from "@/components/Button";
import { CompareSelection, toggleSelection } from "@/components/CompareSelection";
import { FilterSearch, FilterSelect } from "@/components/Filter";
import { PageTitle, Table, TD } from "@/components/layout";
import { Empty, ErrorNotice, Loading } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatScore, formatTime } from "@/lib/format";
import { type FilterChange, useFilters } from "@/lib/useFilters";

const LIMIT = 50;
const COLUMNS = ["Pick", "Time", "Status", "Consistency", "Mode", "Subject", "Evaluator", "Playbook"];

const STATUSES: readonly Status[] = ["ALERT", "REVIEW", "OBSERVE", "STABLE"];
const MODES: readonly Mode[] = ["full", "screening"];

const FILTERS = ["search", "subject", "status", "mode"] as const;
type HistoryFilters = Record<(typeof FILTERS)[number], string>;
const NO_FILTERS: HistoryFilters = { search: "", subject: "", status: "", mode: "" };

/** As the API takes them: what is not chosen is left out, and what the address made up is the API's to refuse. */
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
    // What is under way changes by itself.
    refetchInterval: ({ state }) => (state.data?.rows.some((row) => row.state === "running") ? 2000 : false),
  });
  return (
    <>
      <PageTitle lead="Every evaluation, the newest first. Open one, or pick two to compare them.">History</PageTitle>
      <Filters filters={filters} onChange={update} />
      <CompareSelection selected={selected} path="/compare" onClear={() => setSelected([])} />
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="the history" /> : null}
      {data && !data.rows.length ? (
        <NoEvaluations filtered={Object.values(filters).some(Boolean)} onClear={() => update(NO_FILTERS)} />
      ) : null}
      {data?.rows.length ? (
        <div aria-busy={isFetching}>
          <EvaluationTable
            rows={data.rows}
            selected={selected}
            onSelect={(id) => setSelected((now) => toggleSelection(now, id))}
          />
          <div className="mt-4 flex gap-3">
            {offset > 0 ? (
              <Button onClick={() => update({ offset: String(Math.max(offset - LIMIT, 0)) })}>Newer</Button>
            ) : null}
            {data.more ? <Button onClick={() => update({ offset: String(offset + LIMIT) })}>Older</Button> : null}
          </div>
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
  const search = useCallback((text: string) => onChange({ search: text }), [onChange]);
  return (
    <search className="mb-4 flex flex-wrap gap-4">
      <FilterSearch placeholder="Subject, evaluator, status, playbook or id" value={filters.search} onChange={search} />
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
      <Empty title="Nothing matches">
        <Button onClick={onClear}>Show everything</Button>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing was evaluated yet">
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
  const navigate = useNavigate();
  return (
    <Table label="Evaluations" columns={COLUMNS}>
      {rows.map((row) => (
        <Row
          key={row.id}
          row={row}
          selected={selected.includes(row.id)}
          onSelect={onSelect}
          open={(to) => navigate(to)}
        />
      ))}
    </Table>
  );
}

interface RowProps {
  row: HistoryRow;
  selected: boolean;
  onSelect: (id: string) => void;
  open: (to: string) => void;
}

function Row({ row, selected, onSelect, open }: RowProps) {
  const to = row.status ? `/reports/${row.id}` : `/evaluations/${row.id}`;
  return (
    // The click is for the mouse; by keyboard the link in the row does the same.
    <tr
      className={`cursor-pointer hover:bg-well ${selected ? "bg-blue-tint" : ""}`}
      onClick={(event) => {
        if (!(event.target as Element).closest("a, input, label")) open(to);
      }}
    >
      <td className={TD}>
        {row.status ? (
          <input
            type="checkbox"
            className="size-4 accent-link"
            aria-label={`Pick ${row.id} to compare`}
            checked={selected}
            onChange={() => onSelect(row.id)}
          />
        ) : null}
      </td>
      <td className={`${TD} whitespace-nowrap`}>
        <Link to={to} className="text-link underline">
          {formatTime(row.created_at)}
        </Link>
      </td>
      <td className={TD}>
        <span className="flex flex-wrap gap-1.5">
          {row.status ? <Badge value={row.status} /> : <StateLabel state={row.state} />}
          {row.baseline ? <Label tone="plain">baseline</Label> : null}
          {row.incomplete ? <Label tone="amber">incomplete</Label> : null}
        </span>
      </td>
      <td className={`${TD} tabular-nums`}>{row.status ? formatScore(row.consistency) : "–"}</td>
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
    </tr>
  );
}
