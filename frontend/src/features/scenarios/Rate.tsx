import type { Interval } from "@/api/types";
import { percent, interval as words } from "./words";

interface Props {
  rate: number | null;
  interval: Interval | null;
  least?: number | undefined;
  wide?: boolean;
}

const WIDTH = 120;
const HEIGHT = 12;

/** A pass rate in words, and the same drawn: the rate as a dot, its interval as a bar, what is asked for as a tick. */
export function Rate({ rate, interval, least, wide = false }: Props) {
  if (rate === null || interval === null) return <span className="text-soft">no run completed</span>;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3 tabular-nums">
      <span className="flex items-center gap-3 whitespace-nowrap">
        <span className={`min-w-11 font-semibold ${wide ? "text-xl" : ""}`}>{percent(rate)}</span>
        <Drawn rate={rate} interval={interval} least={least} />
      </span>
      <span className="whitespace-nowrap text-sm text-soft">{words(interval)}</span>
    </span>
  );
}

function Drawn({
  rate,
  interval: [low, high],
  least,
}: {
  rate: number;
  interval: Interval;
  least: number | undefined;
}) {
  const at = (share: number) => 4 + share * (WIDTH - 8);
  const middle = HEIGHT / 2;
  return (
    <svg width={WIDTH} height={HEIGHT} aria-hidden="true" className="shrink-0">
      <line x1={at(0)} x2={at(1)} y1={middle} y2={middle} strokeWidth="1" className="stroke-rule" />
      <line x1={at(low)} x2={at(high)} y1={middle} y2={middle} strokeWidth="5" className="stroke-blue-tint" />
      <path
        d={`M${at(low)} 2V${HEIGHT - 2}M${at(high)} 2V${HEIGHT - 2}M${at(low)} ${middle}H${at(high)}`}
        strokeWidth="1.5"
        className="stroke-link"
      />
      {least === undefined ? null : (
        <line x1={at(least)} x2={at(least)} y1="0" y2={HEIGHT} strokeDasharray="2 2" className="stroke-ink" />
      )}
      <circle cx={at(rate)} cy={middle} r="4" className="fill-link" />
    </svg>
  );
}
