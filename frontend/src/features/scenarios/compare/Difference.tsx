import type { Interval } from "@/api/types";
import { points } from "../words";

const WIDTH = 140;
const HEIGHT = 14;

/** A difference with its interval, in words and drawn around "none". */
export function Difference({ of, interval }: { of: number | null; interval: Interval | null }) {
  if (of === null) return <span className="text-soft">unknown</span>;
  const at = (share: number) => WIDTH / 2 + share * (WIDTH / 2 - 4);
  const middle = HEIGHT / 2;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3 whitespace-nowrap tabular-nums">
      <span className="min-w-9 font-semibold">{points(of)}</span>
      <svg width={WIDTH} height={HEIGHT} aria-hidden="true" className="shrink-0">
        <line x1={at(-1)} x2={at(1)} y1={middle} y2={middle} className="stroke-rule" />
        <line x1={at(0)} x2={at(0)} y1="0" y2={HEIGHT} className="stroke-edge" />
        {interval ? (
          <path
            d={`M${at(interval[0])} 3V${HEIGHT - 3}M${at(interval[1])} 3V${HEIGHT - 3}M${at(interval[0])} ${middle}H${at(interval[1])}`}
            strokeWidth="1.5"
            className="stroke-link"
          />
        ) : null}
        <circle cx={at(of)} cy={middle} r="4" className="fill-link" />
      </svg>
      {interval ? (
        <span className="text-sm text-soft">
          {points(interval[0])} to {points(interval[1])}
        </span>
      ) : null}
    </span>
  );
}
