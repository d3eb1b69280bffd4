import type { Report } from "@/api/types";
import type { Tone } from "@/components/Badge";
import { Listed, Rows, Section } from "@/components/layout";
import { Tip } from "@/components/Tip";
import { score } from "@/lib/format";
import { AGGREGATIONS, band, EVALUATOR_VARIANCE } from "./words";

export function Variance({ report }: { report: Report }) {
  const of = report.variance_summary;
  const measured = of.consistency_score === null ? band(report) : `${score(of.consistency_score)} – ${band(report)}`;
  return (
    <Section title="Variance" id="variance" aside={<Tip label="About variance">{EVALUATOR_VARIANCE}</Tip>}>
      {of.consistency_score !== null ? (
        <Scale value={of.consistency_score} ok={of.threshold_ok} warn={of.threshold_warn} />
      ) : null}
      <Rows
        of={[
          { name: "Runs of each judged check", value: String(of.num_runs) },
          { name: "Overall consistency", value: measured },
          { name: "Stable from", value: score(of.threshold_ok) },
          { name: "Not reliable for decisions below", value: score(of.threshold_warn) },
          { name: "How runs become a result", value: AGGREGATIONS[of.aggregation] },
        ]}
      />
      <p className="mt-3 text-soft">{of.note}</p>
      <p className="hidden print:block">{EVALUATOR_VARIANCE}</p>
      <h3 className="mt-4 mb-1 font-semibold">Divergent findings</h3>
      <Listed of={of.divergent_findings} none="None." />
    </Section>
  );
}

/** Where the score stands between 0 and 1, with the two thresholds. */
function Scale({ value, ok, warn }: { value: number; ok: number; warn: number }) {
  const tone: Tone = value >= ok ? "green" : value < warn ? "red" : "amber";
  const at = (share: number) => 4 + 392 * share;
  return (
    <svg
      viewBox="0 0 400 46"
      role="img"
      data-tone={tone}
      aria-label={`Consistency ${score(value)}; thresholds ${score(warn)} and ${score(ok)}`}
      className="mb-3 block w-full max-w-lg"
    >
      <rect x="4" y="6" width="392" height="14" rx="3" className="fill-well stroke-rule" />
      <rect x="4" y="6" width={392 * value} height="14" rx="3" className="fill-(--tone)" />
      {[warn, ok].map((threshold) => (
        <g key={threshold}>
          <line x1={at(threshold)} x2={at(threshold)} y1="2" y2="26" className="stroke-ink" strokeWidth="1.5" />
          <text x={at(threshold)} y="40" textAnchor="middle" className="fill-soft text-[11px]">
            {score(threshold)}
          </text>
        </g>
      ))}
    </svg>
  );
}
