import type { TimelineReport } from "@/api/types";
import { badgeSign, badgeTone, shownStatus } from "@/components/Badge";
import { EndLabels, HorizontalLine } from "@/components/chart";
import { formatConsistency, formatScore, formatTime, pluralize } from "@/lib/format";
import { linePaths } from "@/lib/plot";
import { chartPoints, consistencyY, FRAME, NO_SCORE_Y, stepPath } from "./geometry";

const THRESHOLDS = [
  { field: "threshold_ok", label: "stable" },
  { field: "threshold_warn", label: "not reliable below" },
] as const;

/** Consistency as a line, status as a sign on it, baselines with a ring. The table below has the same data. */
export function TimelineChart({ points, onOpen }: { points: readonly TimelineReport[]; onOpen: (id: string) => void }) {
  const plotted = chartPoints(points);
  return (
    <svg
      viewBox={`0 0 ${FRAME.width} ${FRAME.height}`}
      role="img"
      aria-label={`Consistency and status of ${pluralize(points.length, "report")} over time. The table below has the same data.`}
      className="block w-full rounded border border-rule bg-card"
    >
      {[0, 0.5, 1].map((value) => (
        <HorizontalLine key={value} frame={FRAME} value={value} label={value.toFixed(1)} />
      ))}
      {THRESHOLDS.map(({ field, label }) => {
        const values = points.map((point) => point[field]);
        const latest = values.at(-1) ?? 0;
        return (
          <g key={field}>
            <path d={stepPath(values)} fill="none" strokeDasharray="4 4" className="stroke-edge" />
            <text
              x={FRAME.width - FRAME.right}
              y={consistencyY(latest) - 4}
              textAnchor="end"
              className="fill-soft text-[10px]"
            >
              {label} {formatScore(latest)}
            </text>
          </g>
        );
      })}
      {plotted.some(({ y }) => y === null) ? (
        <text x={FRAME.left - 5} y={NO_SCORE_Y + 4} textAnchor="end" className="fill-soft text-[11px]">
          none
        </text>
      ) : null}
      {linePaths(plotted).map((path) => (
        <path key={path} d={path} fill="none" strokeWidth="1.5" className="stroke-soft" />
      ))}
      {plotted.map(({ point, x, y }) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: for the mouse; keyboard users follow the links in the table
        <g
          key={point.id}
          data-tone={badgeTone(shownStatus(point))}
          className="cursor-pointer"
          onClick={() => onOpen(point.id)}
        >
          <title>{`${formatTime(point.created_at)}: ${shownStatus(point)}${y === null ? "" : `, consistency ${formatConsistency(point)}`}${point.baseline ? ", baseline" : ""}`}</title>
          {point.baseline ? (
            <circle cx={x} cy={y ?? NO_SCORE_Y} r="13" fill="none" strokeWidth="2" className="stroke-ink" />
          ) : null}
          <circle cx={x} cy={y ?? NO_SCORE_Y} r="9" strokeWidth="1.5" className="fill-(--tint) stroke-(--tone)" />
          <text x={x} y={(y ?? NO_SCORE_Y) + 3.5} textAnchor="middle" className="fill-(--tone) text-[10px]">
            {badgeSign(shownStatus(point))}
          </text>
        </g>
      ))}
      <EndLabels frame={FRAME} labels={points.map(({ created_at }) => formatTime(created_at))} />
      <text x={FRAME.left} y={16} className="fill-soft text-[11px]">
        Consistency
      </text>
    </svg>
  );
}
