import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { Link, useNavigate } from "react-router";
import { queries } from "@/api/queries";
import type { BatchRow, Series, Verdict } from "@/api/types";
import { Label } from "@/components/Badge";
import { Button } from "@/components/Button";
import { Copy } from "@/components/Copy";
import { Choice, Search } from "@/components/Filter";
import { PageTitle, Section, Table, TD } from "@/components/layout";
import { Picked, pickedWith } from "@/components/Picked";
import { Seen } from "@/components/Seen";
import { Empty, Failure, Loading, Notice } from "@/components/states";
import { type Change, useFilters } from "@/lib/filters";
import { counted, time } from "@/lib/format";
import { Live } from "../Live";
import { useLive, useNewest, useNews } from "../live";
import { VerdictBadge } from "../Marks";
import { Rate } from "../Rate";
import { counts, latencies, modelName, spent } from "../words";
import { inOrder, SeriesCards } from "./SeriesCards";

const LIMIT = 50;
const COLUMNS = ["Pick", "When", "Scenario, model", "Verdict", "Pass rate, 95%", "Completed", "Cost", "p50 / p95"];
const VERDICTS: Verdict[] = ["passed", "failed", "inconclusive", "open", "error"];

export function ScenariosPage() {
  const [address, go] = useFilters();
  const offset = Number(address.get("offset")) || 0;
  const asked = {
    scenario: address.get("scenario") ?? "",
    model: address.get("model") ?? "",
    verdict: (address.get("verdict") ?? "") as Verdict | "",
    search: address.get("search") ?? "",
  };
  const [picked, setPicked] = useState<readonly string[]>([]);
  const connection = useLive();
  const series = useQuery(queries.series());
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    ...queries.batches({ ...asked, offset, limit: LIMIT }),
    placeholderData: keepPreviousData,
  });
  const about = JSON.stringify([asked, offset]);
  const rows = isPlaceholderData ? undefined : data?.rows;
  const news = useNews(rows, about);
  const newest = useNewest(rows, about);
  const filtered = Object.values(asked).some(Boolean);
  const charts = useMemo(
    () => inOrder(series.data?.series ?? []).filter((of) => matches(of, asked.scenario, asked.model)),
    [series.data, asked.scenario, asked.model],
  );
  const nothing = data && !data.rows.length && !filtered && !offset;
  return (
    <>
      <PageTitle lead="Each batch is one scenario run many times. Open one, or pick two to compare them. New runs appear by themselves.">
        Batches of runs
      </PageTitle>
      <Live connection={connection} news={news} />
      {nothing ? (
        <NothingYet place={data.place} />
      ) : (
        <Filters asked={asked} series={series.data?.series ?? []} go={go} />
      )}
      {error ? <Failure fault={error} retry={refetch} /> : null}
      {!data && !error ? <Loading what="the batches" /> : null}
      {charts.length ? (
        <Section title="Over time">
          <SeriesCards of={charts} />
        </Section>
      ) : null}
      {data && !nothing ? (
        <Section title="Batches">
          <Picked of={picked} address="/scenarios/compare" clear={() => setPicked([])} />
          {data.skipped ? (
            <div className="mb-3">
              <Notice>{counted(data.skipped, "run")} cannot be read and are in no number here.</Notice>
            </div>
          ) : null}
          {data.rows.length ? (
            <div aria-busy={isFetching}>
              <Batches
                rows={data.rows}
                picked={picked}
                pick={(id) => setPicked((now) => pickedWith(now, id))}
                newest={newest}
              />
              <Pages offset={offset} more={data.more} go={go} />
            </div>
          ) : (
            <Empty title="Nothing matches">
              <Button onClick={() => go({ scenario: "", model: "", verdict: "", search: "" })}>Show everything</Button>
            </Empty>
          )}
        </Section>
      ) : null}
    </>
  );
}

function matches(of: Series, scenario: string, model: string): boolean {
  return (!scenario || of.scenario_id === scenario) && (!model || model === of.model || model === modelName(of));
}

interface FilterProps {
  asked: { scenario: string; model: string; verdict: string; search: string };
  series: readonly Series[];
  go: (change: Change) => void;
}

function Filters({ asked, series, go }: FilterProps) {
  const look = useCallback((search: string) => go({ search }), [go]);
  const scenarios = [...new Set(series.map(({ scenario_id }) => scenario_id))].sort();
  const models = [...new Set(series.map(modelName))].sort();
  const choices = (of: readonly string[]) => of.map((value) => ({ value, text: value }));
  return (
    <search className="mb-4 flex flex-wrap gap-4">
      <Search placeholder="Scenario, model or id" value={asked.search} change={look} />
      <Choice
        label="Scenario"
        all="All scenarios"
        value={asked.scenario}
        change={(scenario) => go({ scenario })}
        of={choices(scenarios)}
      />
      <Choice
        label="Model"
        all="All models"
        value={asked.model}
        change={(model) => go({ model })}
        of={choices(models)}
      />
      <Choice
        label="Verdict"
        all="All verdicts"
        value={asked.verdict}
        change={(verdict) => go({ verdict })}
        of={choices(VERDICTS)}
      />
    </search>
  );
}

function NothingYet({ place }: { place: string }) {
  return (
    <Empty title="No runs are stored in this folder yet">
      <p>
        <code>salvo run</code> makes some; they appear here while they are made.{" "}
        <Copy text="salvo run" what="the command" />
      </p>
      <p className="mt-2 text-sm [overflow-wrap:anywhere]">
        The folder is{" "}
        <code>
          <Seen>{place}</Seen>
        </code>
        . <code>salvo init</code> makes an example.
      </p>
    </Empty>
  );
}

function Pages({ offset, more, go }: { offset: number; more: boolean; go: (change: Change) => void }) {
  return (
    <div className="mt-4 flex gap-3">
      {offset > 0 ? <Button onClick={() => go({ offset: String(Math.max(offset - LIMIT, 0)) })}>Newer</Button> : null}
      {more ? <Button onClick={() => go({ offset: String(offset + LIMIT) })}>Older</Button> : null}
    </div>
  );
}

interface TableProps {
  rows: readonly BatchRow[];
  picked: readonly string[];
  pick: (id: string) => void;
  newest: string | null;
}

function Batches({ rows, picked, pick, newest }: TableProps) {
  return (
    <Table label="Batches" columns={COLUMNS}>
      {rows.map((row) => (
        <Row
          key={row.batch_id}
          row={row}
          fresh={newest !== null && row.batch_id > newest}
          picked={picked.includes(row.batch_id)}
          pick={pick}
        />
      ))}
    </Table>
  );
}

interface RowProps {
  row: BatchRow;
  fresh: boolean;
  picked: boolean;
  pick: (id: string) => void;
}

function Row({ row, fresh, picked, pick }: RowProps) {
  const navigate = useNavigate();
  const to = `/scenarios/batches/${row.batch_id}`;
  const [completed, ...others] = counts(row);
  return (
    // The click is for the mouse; by keyboard the link in the row does the same.
    <tr
      className={`cursor-pointer hover:bg-well ${picked ? "bg-blue-tint" : ""}`}
      onClick={(event) => {
        if (!(event.target as Element).closest("a, input, label")) navigate(to);
      }}
    >
      <td className={TD}>
        <input
          type="checkbox"
          className="size-4 accent-link"
          aria-label={`Pick ${row.scenario_id} ${row.batch_id} to compare`}
          checked={picked}
          onChange={() => pick(row.batch_id)}
        />
      </td>
      <td className={`${TD} whitespace-nowrap`}>
        <Link to={to} className="text-link underline">
          {time(row.created_at)}
        </Link>
      </td>
      <td className={`${TD} min-w-56 [overflow-wrap:anywhere]`}>
        <Seen>{row.scenario_id}</Seen>
        <span className="block text-sm text-soft">
          <Seen>{modelName(row)}</Seen>
        </span>
      </td>
      <td className={TD}>
        <span className="flex flex-wrap gap-1.5">
          <VerdictBadge of={row.verdict} />
          {row.running ? <Label tone="blue">running</Label> : null}
          {fresh ? <Label tone="plain">new</Label> : null}
        </span>
      </td>
      <td className={TD}>
        <Rate rate={row.pass_rate} interval={row.interval} least={row.min_pass_rate} />
      </td>
      <td className={`${TD} tabular-nums`}>
        <span className="whitespace-nowrap">{completed}</span>
        {others.map((text) => (
          <span key={text} className="block whitespace-nowrap text-sm text-soft">
            {text}
          </span>
        ))}
      </td>
      <td className={`${TD} whitespace-nowrap tabular-nums`}>{spent(row.cost.total, row.cost.at_least)}</td>
      <td className={`${TD} whitespace-nowrap tabular-nums`}>{latencies(row.latency?.p50, row.latency?.p95)}</td>
    </tr>
  );
}
