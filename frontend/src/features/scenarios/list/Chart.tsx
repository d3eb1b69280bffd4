import { useNavigate } from "react-router";
import type { SeriesPoint, Verdict } from "@/api/types";
import { time } from "@/lib/format";
import { lines, up } from "@/lib/plot";
import { verdictTone } from "../Marks";
import { interval, percent } from "../words";
import { bars, largest, RATES, SMALL, small } from "./geometry";

const FLOOR = RATES.height - RATES.bottom;

/** Pass rates with their intervals, one batch after the other. The table beside it tells the same in words. */
export function RateChart({ points, name }: { points: readonly SeriesPoint[]; name: string }) {
  const navigate = useNavigate();
  const drawn = bars(points);
  const least = points.at(-1)?.min_pass_rate;
  return (
    <svg
      viewBox={`0 0 ${RATES.width} ${RATES.height}`}
      role="img"
      aria-label={`Pass rate of ${name} in ${points.length} batches, with its interval; the table below holds the same.`}
      className="block w-full"
    >
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <line
            x1={RATES.left}
            x2={RATES.width - RATES.right}
            y1={up(share, RATES)}
            y2={up(share, RATES)}
            className="stroke-rule"
          />
          <text x={RATES.left - 5} y={up(share, RATES) + 4} textAnchor="end" className="fill-soft text-[11px]">
            {percent(share)}
          </text>
        </g>
      ))}
      {least === undefined ? null : (
        <g>
          <line
            x1={RATES.left}
            x2={RATES.width - RATES.right}
            y1={up(least, RATES)}
            y2={up(least, RATES)}
            strokeDasharray="4 4"
            className="stroke-edge"
          />
          <title>{`Asked for: ${percent(least)}`}</title>
        </g>
      )}
      {lines(drawn).map((path) => (
        <path key={path} d={path} fill="none" strokeWidth="1" className="stroke-edge" />
      ))}
      {drawn.map(({ point, x, y, low, high }) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: for the mouse; by keyboard the table's links do the same
        <g
          key={point.batch_id}
          data-tone={verdictTone(point.verdict)}
          className="cursor-pointer"
          onClick={() => navigate(`/scenarios/batches/${point.batch_id}`)}
        >
          <title>{`${time(point.created_at)}: ${point.verdict}, ${rateWords(point)}`}</title>
          <rect x={x - 5} y={RATES.top} width="10" height={FLOOR - RATES.top} fill="transparent" />
          {low !== null && high !== null ? (
            <path
              d={`M${x} ${low}V${high}M${x - 3} ${low}h6M${x - 3} ${high}h6`}
              strokeWidth="1.5"
              className="stroke-(--tone)"
            />
          ) : null}
          <Shape of={point.verdict} x={x} y={y ?? FLOOR} />
        </g>
      ))}
      <Ends of={points} />
    </svg>
  );
}

export function rateWords(point: SeriesPoint): string {
  if (point.pass_rate === null) return "no run completed";
  return `${percent(point.pass_rate)} (${interval(point.interval)})`;
}

const SHAPES: Record<Verdict, string> = {
  passed: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
  failed: "M-4 -4L4 4M-4 4L4 -4",
  inconclusive: "M0 -5L5 0L0 5L-5 0Z",
  open: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
  error: "M0 -5L5 4H-5Z",
};

/** A verdict's own form: a disc, a cross, a diamond, a ring, a triangle. */
function Shape({ of, x, y }: { of: Verdict; x: number; y: number }) {
  const look =
    of === "failed" ? "fill-none [stroke-width:2.5]" : of === "open" ? "fill-card [stroke-width:2]" : "fill-(--tone)";
  return <path d={SHAPES[of]} transform={`translate(${x} ${y})`} className={`stroke-(--tone) ${look}`} />;
}

export function Legend() {
  return (
    <ul className="mb-4 flex flex-wrap gap-x-5 gap-y-1 text-sm text-soft">
      {(Object.keys(SHAPES) as Verdict[]).map((verdict) => (
        <li key={verdict} data-tone={verdictTone(verdict)} className="flex items-center gap-1.5">
          <svg width="14" height="14" aria-hidden="true">
            <Shape of={verdict} x={7} y={7} />
          </svg>
          {verdict}
        </li>
      ))}
      <li>Bars are 95% intervals; the dashed line is what is asked for now.</li>
    </ul>
  );
}

function Ends({ of }: { of: readonly SeriesPoint[] }) {
  const first = of[0];
  const last = of.at(-1);
  const y = RATES.height - 7;
  return (
    <>
      {first ? (
        <text x={RATES.left} y={y} className="fill-soft text-[11px]">
          {day(first.created_at)}
        </text>
      ) : null}
      {last && last !== first ? (
        <text x={RATES.width - RATES.right} y={y} textAnchor="end" className="fill-soft text-[11px]">
          {day(last.created_at)}
        </text>
      ) : null}
    </>
  );
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

function day(stamp: string): string {
  const date = new Date(stamp);
  return Number.isNaN(date.getTime()) ? stamp : DAY.format(date);
}

/** A line or two of how something grew, from 0 to the largest; its words stand beside it. */
export function SmallChart({
  lower,
  upper,
}: {
  lower: readonly (number | null)[];
  upper?: readonly (number | null)[];
}) {
  const most = largest([...lower, ...(upper ?? [])]);
  const below = small(lower, most);
  return (
    <svg viewBox={`0 0 ${SMALL.width} ${SMALL.height}`} aria-hidden="true" className="block w-full max-w-60">
      <line
        x1={SMALL.left}
        x2={SMALL.width - SMALL.right}
        y1={up(0, SMALL)}
        y2={up(0, SMALL)}
        className="stroke-rule"
      />
      {upper
        ? lines(small(upper, most)).map((path) => (
            <path key={path} d={path} fill="none" strokeDasharray="3 3" className="stroke-link" />
          ))
        : null}
      {lines(below).map((path) => (
        <path key={path} d={path} fill="none" strokeWidth="1.5" className="stroke-link" />
      ))}
      {below.map(({ x, y }) => (y === null ? null : <circle key={x} cx={x} cy={y} r="2" className="fill-link" />))}
    </svg>
  );
}
