import { useNavigate } from "react-router";
import type { SeriesPoint, Verdict } from "@/api/types";
import { EndLabels, HorizontalLine } from "@/components/chart";
import { formatTime } from "@/lib/format";
import { linePaths } from "@/lib/plot";
import { verdictTone } from "../Badges";
import { formatPercent } from "../format";
import { maxValue, RATE_FRAME, rateBars, SPARKLINE_FRAME, sparklinePoints } from "./geometry";

const FLOOR = RATE_FRAME.height - RATE_FRAME.bottom;

/** Pass rates with their intervals, batch by batch. The table next to it has the same data. */
export function RateChart({ points, name }: { points: readonly SeriesPoint[]; name: string }) {
  const navigate = useNavigate();
  const bars = rateBars(points);
  const minimum = points.at(-1)?.min_pass_rate;
  return (
    <svg
      viewBox={`0 0 ${RATE_FRAME.width} ${RATE_FRAME.height}`}
      role="img"
      aria-label={`Pass rate of ${name} in ${points.length} batches, with intervals. The table below has the same data.`}
      className="block w-full"
    >
      {[0, 0.5, 1].map((share) => (
        <HorizontalLine key={share} frame={RATE_FRAME} value={share} label={formatPercent(share)} />
      ))}
      {minimum === undefined ? null : (
        <g>
          <HorizontalLine frame={RATE_FRAME} value={minimum} dashed />
          <title>{`Required: ${points.at(-1)?.labels.required}`}</title>
        </g>
      )}
      {linePaths(bars).map((path) => (
        <path key={path} d={path} fill="none" strokeWidth="1" className="stroke-edge" />
      ))}
      {bars.map(({ point, x, y, low, high }) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: for the mouse; keyboard users follow the links in the table
        <g
          key={point.batch_id}
          data-tone={verdictTone(point.verdict)}
          className="cursor-pointer"
          onClick={() => navigate(`/scenarios/batches/${point.batch_id}`)}
        >
          <title>{`${formatTime(point.created_at)}: ${point.verdict}, ${describeRate(point)}`}</title>
          <rect x={x - 5} y={RATE_FRAME.top} width="10" height={FLOOR - RATE_FRAME.top} fill="transparent" />
          {low !== null && high !== null ? (
            <path
              d={`M${x} ${low}V${high}M${x - 3} ${low}h6M${x - 3} ${high}h6`}
              strokeWidth="1.5"
              className="stroke-(--tone)"
            />
          ) : null}
          <VerdictShape verdict={point.verdict} x={x} y={y ?? FLOOR} />
        </g>
      ))}
      <EndLabels frame={RATE_FRAME} labels={points.map(({ created_at }) => formatDay(created_at))} />
    </svg>
  );
}

export function describeRate(point: SeriesPoint): string {
  if (point.pass_rate === null) return "no run completed";
  return `${point.labels.rate} (${point.labels.interval})`;
}

const VERDICT_SHAPES: Record<Verdict, string> = {
  passed: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
  failed: "M-4 -4L4 4M-4 4L4 -4",
  inconclusive: "M0 -5L5 0L0 5L-5 0Z",
  open: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
  error: "M0 -5L5 4H-5Z",
};

/** The shape of a verdict: disc, cross, diamond, ring or triangle. */
function VerdictShape({ verdict, x, y }: { verdict: Verdict; x: number; y: number }) {
  const fill =
    verdict === "failed"
      ? "fill-none [stroke-width:2.5]"
      : verdict === "open"
        ? "fill-card [stroke-width:2]"
        : "fill-(--tone)";
  return <path d={VERDICT_SHAPES[verdict]} transform={`translate(${x} ${y})`} className={`stroke-(--tone) ${fill}`} />;
}

export function Legend() {
  return (
    <ul className="mb-4 flex flex-wrap gap-x-5 gap-y-1 text-sm text-soft">
      {(Object.keys(VERDICT_SHAPES) as Verdict[]).map((verdict) => (
        <li key={verdict} data-tone={verdictTone(verdict)} className="flex items-center gap-1.5">
          <svg width="14" height="14" aria-hidden="true">
            <VerdictShape verdict={verdict} x={7} y={7} />
          </svg>
          {verdict}
        </li>
      ))}
      <li>Bars are 95% intervals; the dashed line is the current required pass rate.</li>
    </ul>
  );
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

function formatDay(stamp: string): string {
  const date = new Date(stamp);
  return Number.isNaN(date.getTime()) ? stamp : DAY.format(date);
}

/** One or two lines from 0 to the maximum; the values are written next to it. */
export function Sparkline({ lower, upper }: { lower: readonly (number | null)[]; upper?: readonly (number | null)[] }) {
  const max = maxValue([...lower, ...(upper ?? [])]);
  const lowerPoints = sparklinePoints(lower, max);
  return (
    <svg
      viewBox={`0 0 ${SPARKLINE_FRAME.width} ${SPARKLINE_FRAME.height}`}
      aria-hidden="true"
      className="block w-full max-w-60"
    >
      <HorizontalLine frame={SPARKLINE_FRAME} value={0} />
      {upper
        ? linePaths(sparklinePoints(upper, max)).map((path) => (
            <path key={path} d={path} fill="none" strokeDasharray="3 3" className="stroke-link" />
          ))
        : null}
      {linePaths(lowerPoints).map((path) => (
        <path key={path} d={path} fill="none" strokeWidth="1.5" className="stroke-link" />
      ))}
      {lowerPoints.map(({ x, y }) =>
        y === null ? null : <circle key={x} cx={x} cy={y} r="2" className="fill-link" />,
      )}
    </svg>
  );
}
