import type { Interval, ScenarioLabels } from "@/api/types";

const WIDTH = 140;
const HEIGHT = 14;

/** A difference with its interval, as text and drawn around zero. */
export function Difference({
  value,
  interval,
  labels,
}: {
  value: number | null;
  interval: Interval | null;
  labels: ScenarioLabels;
}) {
  if (value === null) return <span className="text-soft">unknown</span>;
  const x = (share: number) => WIDTH / 2 + share * (WIDTH / 2 - 4);
  const middle = HEIGHT / 2;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3 whitespace-nowrap tabular-nums">
      <span className="min-w-9 font-semibold">{labels.difference}</span>
      <svg width={WIDTH} height={HEIGHT} aria-hidden="true" className="shrink-0">
        <line x1={x(-1)} x2={x(1)} y1={middle} y2={middle} className="stroke-rule" />
        <line x1={x(0)} x2={x(0)} y1="0" y2={HEIGHT} className="stroke-edge" />
        {interval ? (
          <path
            d={`M${x(interval[0])} 3V${HEIGHT - 3}M${x(interval[1])} 3V${HEIGHT - 3}M${x(interval[0])} ${middle}H${x(interval[1])}`}
            strokeWidth="1.5"
            className="stroke-link"
          />
        ) : null}
        <circle cx={x(value)} cy={middle} r="4" className="fill-link" />
      </svg>
      {interval ? <span className="text-sm text-soft">{labels.interval}</span> : null}
    </span>
  );
}
