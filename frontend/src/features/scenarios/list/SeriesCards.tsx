import { useState } from "react";
import { Link } from "react-router";
import type { Series } from "@/api/types";
import { Button } from "@/components/Button";
import { Scroll, TD, TH } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { counted, seconds, time } from "@/lib/format";
import { VerdictBadge } from "../Marks";
import { dollars, interval, latencies, modelName, percent } from "../words";
import { Legend, RateChart, rateWords, SmallChart } from "./Chart";
import { latest, MOST } from "./geometry";

const AT_FIRST = 6;

/** By name, so that a card keeps its place when a batch comes. */
export function inOrder(series: readonly Series[]): Series[] {
  const key = (of: Series) => `${of.scenario_id}\n${modelName(of)}`;
  return [...series].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Each scenario and model over time. */
export function SeriesCards({ of }: { of: readonly Series[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? of : of.slice(0, AT_FIRST);
  return (
    <>
      <Legend />
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(22rem,100%),1fr))] items-start gap-4">
        {shown.map((series) => (
          <Card key={`${series.scenario_id} ${modelName(series)}`} of={series} />
        ))}
      </ul>
      {shown.length < of.length ? (
        <Button className="mt-4" onClick={() => setAll(true)}>
          Show all {of.length}
        </Button>
      ) : null}
    </>
  );
}

function Card({ of }: { of: Series }) {
  const [open, setOpen] = useState(false);
  const points = latest(of.points);
  const last = points.at(-1);
  if (!last) return null;
  const name = `${of.scenario_id} with ${modelName(of)}`;
  return (
    <li className="min-w-0 rounded border border-rule bg-card p-4">
      <h3 className="font-semibold [overflow-wrap:anywhere]">
        <Seen>{of.scenario_id}</Seen>
      </h3>
      <p className="text-sm text-soft [overflow-wrap:anywhere]">
        <Seen>{modelName(of)}</Seen>
      </p>
      <p className="mt-2 flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="font-semibold text-2xl tabular-nums">
          {last.pass_rate === null ? "–" : percent(last.pass_rate)}
        </span>
        <span className="text-sm text-soft">
          {last.pass_rate === null ? "no run completed" : interval(last.interval)}
        </span>
        <span className="ml-auto">
          <VerdictBadge of={last.verdict} />
        </span>
      </p>
      <RateChart points={points} name={name} />
      <div className="mt-1 grid grid-cols-2 gap-4 text-sm">
        <div>
          <p className="text-soft">Cost a run</p>
          <p className="tabular-nums">{dollars(last.average_cost)}</p>
          {points.length > 1 ? <SmallChart lower={points.map(({ average_cost }) => average_cost)} /> : null}
        </div>
        <div>
          <p className="text-soft">Latency p50 / p95</p>
          <p className="tabular-nums">{latencies(last.latency_p50, last.latency_p95)}</p>
          {points.length > 1 ? (
            <SmallChart
              lower={points.map(({ latency_p50 }) => latency_p50)}
              upper={points.map(({ latency_p95 }) => latency_p95)}
            />
          ) : null}
        </div>
      </div>
      <details className="mt-2" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="text-link text-sm underline">
          {of.points.length > MOST
            ? `The last ${MOST} of ${of.points.length} batches`
            : counted(points.length, "batch", "batches")}{" "}
          as a table
        </summary>
        <div className="mt-2">{open ? <PointTable of={points} name={name} /> : null}</div>
      </details>
    </li>
  );
}

function PointTable({ of, name }: { of: Series["points"] | ReturnType<typeof latest>; name: string }) {
  return (
    <Scroll label={`Batches of ${name}`}>
      <table className="w-full text-sm">
        <thead>
          <tr>
            {["When", "Verdict", "Pass rate", "Runs", "Cost a run", "p50", "p95"].map((column) => (
              <th key={column} scope="col" className={TH}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.map((point) => (
            <tr key={point.batch_id}>
              <td className={`${TD} whitespace-nowrap`}>
                <Link to={`/scenarios/batches/${point.batch_id}`} className="text-link underline">
                  {time(point.created_at)}
                </Link>
              </td>
              <td className={TD}>{point.verdict}</td>
              <td className={`${TD} whitespace-nowrap tabular-nums`}>{rateWords(point)}</td>
              <td className={`${TD} tabular-nums`}>{point.runs}</td>
              <td className={`${TD} tabular-nums`}>{dollars(point.average_cost)}</td>
              <td className={`${TD} whitespace-nowrap tabular-nums`}>{seconds(point.latency_p50)}</td>
              <td className={`${TD} whitespace-nowrap tabular-nums`}>{seconds(point.latency_p95)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
