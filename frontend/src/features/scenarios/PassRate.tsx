import type { Interval, RateLabels } from "@/api/types";

interface Props {
  rate: number | null;
  interval: Interval | null;
  labels: RateLabels;
  minimum?: number | undefined;
  large?: boolean;
}

const WIDTH = 120;
const HEIGHT = 12;

/** A pass rate as text and as a chart: the rate as a dot, its interval as a bar, the minimum as a tick. */
export function PassRate({ rate, interval, labels, minimum, large = false }: Props) {
  if (rate === null || interval === null) return <span className="text-soft">no run completed</span>;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3 tabular-nums">
      <span className="flex items-center gap-3 whitespace-nowrap">
        <span className={`min-w-11 font-semibold ${large ? "text-xl" : ""}`}>{labels.rate}</span>
        <PassRateBar rate={rate} interval={interval} minimum={minimum} />
      </span>
      <span className="whitespace-nowrap text-sm text-soft">{labels.interval}</span>
    </span>
  );
}

function PassRateBar({
  rate,
  interval: [low, high],
  minimum,
}: {
  rate: number;
  interval: Interval;
  minimum: number | undefined;
}) {
  const x = (share: number) => 4 + share * (WIDTH - 8);
  const middle = HEIGHT / 2;
  return (
    <svg width={WIDTH} height={HEIGHT} aria-hidden="true" className="shrink-0">
      <line x1={x(0)} x2={x(1)} y1={middle} y2={middle} strokeWidth="1" className="stroke-rule" />
      <line x1={x(low)} x2={x(high)} y1={middle} y2={middle} strokeWidth="5" className="stroke-blue-tint" />
      <path
        d={`M${x(low)} 2V${HEIGHT - 2}M${x(high)} 2V${HEIGHT - 2}M${x(low)} ${middle}H${x(high)}`}
        strokeWidth="1.5"
        className="stroke-link"
      />
      {minimum === undefined ? null : (
        <line x1={x(minimum)} x2={x(minimum)} y1="0" y2={HEIGHT} strokeDasharray="2 2" className="stroke-ink" />
      )}
      <circle cx={x(rate)} cy={middle} r="4" className="fill-link" />
    </svg>
  );
}
