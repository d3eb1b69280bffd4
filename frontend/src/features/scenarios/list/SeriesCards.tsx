import { useState } from "react";
import type { Series, SeriesPoint } from "@/api/types";
import { Button, TextLink } from "@/components/Button";
import { Table, TD } from "@/components/layout";
import { VisibleText } from "@/components/VisibleText";
import { formatSeconds, formatTime, pluralize } from "@/lib/format";
import { VerdictBadge } from "../Badges";
import { formatDollars, formatLatencies, modelName } from "../format";
import { describeRate, Legend, RateChart, Sparkline } from "./charts";
import { latestPoints, MAX_POINTS } from "./geometry";

/** The charts that are shown before one asks for all of them. */
export const INITIAL_CARDS = 6;

/** Sort by name, so that a card keeps its place when a batch is added. */
export function sortByName(series: readonly Series[]): Series[] {
  const key = (item: Series) => `${item.scenario_id}\n${modelName(item)}`;
  return [...series].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** A card with charts over time for each scenario and model. */
export function SeriesCards({ series }: { series: readonly Series[] }) {
  const [showAll, setShowAll] = useState(false);
  const visible = showAll ? series : series.slice(0, INITIAL_CARDS);
  return (
    <>
      <Legend />
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(22rem,100%),1fr))] items-start gap-4">
        {visible.map((item) => (
          <SeriesCard key={`${item.scenario_id} ${modelName(item)}`} series={item} />
        ))}
      </ul>
      {visible.length < series.length ? (
        <Button className="mt-4" onClick={() => setShowAll(true)}>
          Show all {series.length}
        </Button>
      ) : null}
    </>
  );
}

function SeriesCard({ series }: { series: Series }) {
  const [open, setOpen] = useState(false);
  const points = latestPoints(series.points);
  const last = points.at(-1);
  if (!last) return null;
  const name = `${series.scenario_id} with ${modelName(series)}`;
  return (
    <li className="min-w-0 rounded border border-rule bg-card p-4">
      <h3 className="font-semibold [overflow-wrap:anywhere]">
        <VisibleText>{series.scenario_id}</VisibleText>
      </h3>
      <p className="text-sm text-soft [overflow-wrap:anywhere]">
        <VisibleText>{modelName(series)}</VisibleText>
      </p>
      <p className="mt-2 flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="font-semibold text-2xl tabular-nums">{last.pass_rate === null ? "–" : last.labels.rate}</span>
        <span className="text-sm text-soft">{last.pass_rate === null ? "no run completed" : last.labels.interval}</span>
        <span className="ml-auto">
          <VerdictBadge verdict={last.verdict} />
        </span>
      </p>
      <RateChart points={points} name={name} />
      <div className="mt-1 grid grid-cols-2 gap-4 text-sm">
        <div>
          <p className="text-soft">Cost per run</p>
          <p className="tabular-nums">{formatDollars(last.average_cost)}</p>
          {points.length > 1 ? <Sparkline lower={points.map(({ average_cost }) => average_cost)} /> : null}
        </div>
        <div>
          <p className="text-soft">Latency p50 / p95</p>
          <p className="tabular-nums">{formatLatencies(last.latency_p50, last.latency_p95)}</p>
          {points.length > 1 ? (
            <Sparkline
              lower={points.map(({ latency_p50 }) => latency_p50)}
              upper={points.map(({ latency_p95 }) => latency_p95)}
            />
          ) : null}
        </div>
      </div>
      <details className="mt-2" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="text-link text-sm underline">
          {series.points.length > MAX_POINTS
            ? `The last ${MAX_POINTS} of ${series.points.length} batches`
            : pluralize(points.length, "batch", "batches")}{" "}
          as a table
        </summary>
        <div className="mt-2">{open ? <PointTable points={points} name={name} /> : null}</div>
      </details>
    </li>
  );
}

const COLUMNS = ["When", "Verdict", "Pass rate", "Runs", "Cost per run", "p50", "p95"];

function PointTable({ points, name }: { points: readonly SeriesPoint[]; name: string }) {
  return (
    <Table label={`Batches of ${name}`} columns={COLUMNS} small>
      {points.map((point) => (
        <tr key={point.batch_id}>
          <td className={`${TD} whitespace-nowrap`}>
            <TextLink to={`/scenarios/batches/${point.batch_id}`}>{formatTime(point.created_at)}</TextLink>
          </td>
          <td className={TD}>{point.verdict}</td>
          <td className={`${TD} whitespace-nowrap tabular-nums`}>{describeRate(point)}</td>
          <td className={`${TD} tabular-nums`}>{point.runs}</td>
          <td className={`${TD} tabular-nums`}>{formatDollars(point.average_cost)}</td>
          <td className={`${TD} whitespace-nowrap tabular-nums`}>{formatSeconds(point.latency_p50)}</td>
          <td className={`${TD} whitespace-nowrap tabular-nums`}>{formatSeconds(point.latency_p95)}</td>
        </tr>
      ))}
    </Table>
  );
}
