import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { queries } from "@/api/queries";
import type { BatchRow, Series, Verdict } from "@/api/types";
import { Label } from "@/components/Badge";
import { Button, TextLink } from "@/components/Button";
import { ClickableRow } from "@/components/ClickableRow";
import { CompareSelection, SelectionCheckbox, toggleSelection } from "@/components/CompareSelection";
import { FilterSearch, FilterSelect } from "@/components/Filter";
import { PageTitle, Section, Table, TD } from "@/components/layout";
import { Pagination } from "@/components/Pagination";
import { Empty, ErrorNotice, Loading, Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatTime, pluralize } from "@/lib/format";
import { type FilterChange, useFilters } from "@/lib/useFilters";
import { VerdictBadge } from "../Badges";
import { Command } from "../Command";
import { ConnectionStatus } from "../ConnectionStatus";
import { formatLatencies, formatSpending, modelName } from "../format";
import { completionCounts } from "../labels";
import { PassRate } from "../PassRate";
import { useAnnouncement, useLiveBatches, useNewestBatch } from "../useLiveBatches";
import { INITIAL_CARDS, SeriesCards, sortByName } from "./SeriesCards";

const LIMIT = 50;
const COLUMNS = ["Select", "When", "Scenario, model", "Verdict", "Pass rate, 95%", "Completed", "Cost", "p50 / p95"];
const VERDICTS: Verdict[] = ["passed", "failed", "inconclusive", "open", "error"];

export function ScenariosPage() {
  const [params, update] = useFilters();
  const offset = Number(params.get("offset")) || 0;
  const filters = {
    scenario: params.get("scenario") ?? "",
    model: params.get("model") ?? "",
    verdict: (params.get("verdict") ?? "") as Verdict | "",
    search: params.get("search") ?? "",
  };
  const [selected, setSelected] = useState<readonly string[]>([]);
  const connection = useLiveBatches();
  const series = useQuery(queries.series());
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    ...queries.batches({ ...filters, offset, limit: LIMIT }),
    placeholderData: keepPreviousData,
  });
  const key = JSON.stringify([filters, offset]);
  const rows = isPlaceholderData ? undefined : data?.rows;
  const announcement = useAnnouncement(rows, key);
  const newest = useNewestBatch(rows, key);
  const filtered = Object.values(filters).some(Boolean);
  const charts = useMemo(
    () => sortByName(series.data?.series ?? []).filter((item) => matches(item, filters.scenario, filters.model)),
    [series.data, filters.scenario, filters.model],
  );
  // Many charts come after the list: they would push it off the screen.
  const overTime = charts.length ? (
    <Section title="Over time">
      <SeriesCards series={charts} />
    </Section>
  ) : null;
  const isEmpty = data && !data.rows.length && !filtered && !offset;
  return (
    <>
      <PageTitle lead="Each batch is one scenario run many times. Open one, or select two to compare them. New runs appear automatically.">
        Batches of runs
      </PageTitle>
      <ConnectionStatus connection={connection} announcement={announcement} />
      {isEmpty ? (
        <NoRuns folder={data.place} />
      ) : (
        <Filters filters={filters} series={series.data?.series ?? []} onChange={update} />
      )}
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="the batches" /> : null}
      {charts.length <= INITIAL_CARDS ? overTime : null}
      {data && !isEmpty ? (
        <Section title="Batches">
          <CompareSelection selected={selected} path="/scenarios/compare" onClear={() => setSelected([])} />
          {data.skipped ? (
            <div className="mb-3">
              <Notice>
                {pluralize(data.skipped, "run")} could not be read and {data.skipped === 1 ? "is" : "are"} not included.
              </Notice>
            </div>
          ) : null}
          {data.rows.length ? (
            <div aria-busy={isFetching}>
              <BatchTable
                rows={data.rows}
                selected={selected}
                onSelect={(id) => setSelected((current) => toggleSelection(current, id))}
                newest={newest}
              />
              <Pagination offset={offset} limit={LIMIT} more={data.more} onChange={update} />
            </div>
          ) : (
            <Empty title="No batches match">
              <Button onClick={() => update({ scenario: "", model: "", verdict: "", search: "" })}>
                Clear filters
              </Button>
            </Empty>
          )}
        </Section>
      ) : null}
      {charts.length > INITIAL_CARDS ? overTime : null}
    </>
  );
}

function matches(series: Series, scenario: string, model: string): boolean {
  return (
    (!scenario || series.scenario_id === scenario) && (!model || model === series.model || model === modelName(series))
  );
}

interface FilterProps {
  filters: { scenario: string; model: string; verdict: string; search: string };
  series: readonly Series[];
  onChange: (change: FilterChange) => void;
}

function Filters({ filters, series, onChange }: FilterProps) {
  const onSearch = useCallback((search: string) => onChange({ search }), [onChange]);
  const scenarios = [...new Set(series.map(({ scenario_id }) => scenario_id))].sort();
  const models = [...new Set(series.map(modelName))].sort();
  const toOptions = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
  return (
    <search className="mb-4 flex flex-wrap gap-4">
      <FilterSearch placeholder="Scenario, model or id" value={filters.search} onChange={onSearch} />
      <FilterSelect
        label="Scenario"
        allLabel="All scenarios"
        value={filters.scenario}
        onChange={(scenario) => onChange({ scenario })}
        options={toOptions(scenarios)}
      />
      <FilterSelect
        label="Model"
        allLabel="All models"
        value={filters.model}
        onChange={(model) => onChange({ model })}
        options={toOptions(models)}
      />
      <FilterSelect
        label="Verdict"
        allLabel="All verdicts"
        value={filters.verdict}
        onChange={(verdict) => onChange({ verdict })}
        options={toOptions(VERDICTS)}
      />
    </search>
  );
}

function NoRuns({ folder }: { folder: string }) {
  return (
    <Empty title="No runs are stored in this folder yet">
      <p>
        Runs appear here as they finish. Make some with <Command text="salvo run" />
      </p>
      <p className="mt-2 text-sm [overflow-wrap:anywhere]">
        Looking in{" "}
        <code>
          <VisibleText>{folder}</VisibleText>
        </code>
        . <code>salvo init</code> creates an example.
      </p>
    </Empty>
  );
}

interface TableProps {
  rows: readonly BatchRow[];
  selected: readonly string[];
  onSelect: (id: string) => void;
  newest: string | null;
}

function BatchTable({ rows, selected, onSelect, newest }: TableProps) {
  return (
    <Table label="Batches" columns={COLUMNS}>
      {rows.map((row) => (
        <Row
          key={row.batch_id}
          row={row}
          isNew={newest !== null && row.batch_id > newest}
          selected={selected.includes(row.batch_id)}
          onSelect={onSelect}
        />
      ))}
    </Table>
  );
}

interface RowProps {
  row: BatchRow;
  isNew: boolean;
  selected: boolean;
  onSelect: (id: string) => void;
}

function Row({ row, isNew, selected, onSelect }: RowProps) {
  const to = `/scenarios/batches/${row.batch_id}`;
  const [completed, ...notes] = completionCounts(row);
  return (
    <ClickableRow to={to} selected={selected}>
      <td className={TD}>
        <SelectionCheckbox
          name={`${row.scenario_id} ${row.batch_id}`}
          checked={selected}
          onChange={() => onSelect(row.batch_id)}
        />
      </td>
      <td className={`${TD} whitespace-nowrap`}>
        <TextLink to={to}>{formatTime(row.created_at)}</TextLink>
      </td>
      <td className={`${TD} min-w-56 [overflow-wrap:anywhere]`}>
        <VisibleText>{row.scenario_id}</VisibleText>
        <span className="block text-sm text-soft">
          <VisibleText>{modelName(row)}</VisibleText>
        </span>
      </td>
      <td className={TD}>
        <span className="flex flex-wrap gap-1.5">
          <VerdictBadge verdict={row.verdict} />
          {row.running ? <Label tone="blue">running</Label> : null}
          {isNew ? <Label tone="plain">new</Label> : null}
        </span>
      </td>
      <td className={TD}>
        <PassRate rate={row.pass_rate} interval={row.interval} labels={row.labels} minimum={row.min_pass_rate} />
      </td>
      <td className={`${TD} tabular-nums`}>
        <span className="whitespace-nowrap">{completed}</span>
        {notes.map((text) => (
          <span key={text} className="block whitespace-nowrap text-sm text-soft">
            {text}
          </span>
        ))}
      </td>
      <td className={`${TD} whitespace-nowrap tabular-nums`}>{formatSpending(row.cost.total, row.cost.at_least)}</td>
      <td className={`${TD} whitespace-nowrap tabular-nums`}>{formatLatencies(row.latency?.p50, row.latency?.p95)}</td>
    </ClickableRow>
  );
}
