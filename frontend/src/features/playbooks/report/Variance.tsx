import type { Report } from "@/api/types";
import type { Tone } from "@/components/Badge";
import { FactRows, Section, TextList } from "@/components/layout";
import { Tooltip } from "@/components/Tooltip";
import { formatScore } from "@/lib/format";
import { AGGREGATION_LABELS, consistencyLabel, EVALUATOR_VARIANCE } from "./labels";

export function Variance({ report }: { report: Report }) {
  const variance = report.variance_summary;
  const measured =
    variance.consistency_score === null
      ? consistencyLabel(report)
      : `${formatScore(variance.consistency_score)} – ${consistencyLabel(report)}`;
  return (
    <Section title="Variance" id="variance" aside={<Tooltip label="About variance">{EVALUATOR_VARIANCE}</Tooltip>}>
      {variance.consistency_score !== null ? (
        <ConsistencyScale
          value={variance.consistency_score}
          ok={variance.threshold_ok}
          warn={variance.threshold_warn}
        />
      ) : null}
      <FactRows
        facts={[
          { name: "Runs of each judged check", value: String(variance.num_runs) },
          { name: "Overall consistency", value: measured },
          { name: "Stable from", value: formatScore(variance.threshold_ok) },
          { name: "Not reliable for decisions below", value: formatScore(variance.threshold_warn) },
          { name: "How runs become a result", value: AGGREGATION_LABELS[variance.aggregation] },
        ]}
      />
      <p className="mt-3 text-soft">{variance.note}</p>
      <p className="hidden print:block">{EVALUATOR_VARIANCE}</p>
      <h3 className="mt-4 mb-1 font-semibold">Divergent findings</h3>
      <TextList items={variance.divergent_findings} emptyText="None." />
    </Section>
  );
}

/** The score between 0 and 1, with the two thresholds. */
function ConsistencyScale({ value, ok, warn }: { value: number; ok: number; warn: number }) {
  const tone: Tone = value >= ok ? "green" : value < warn ? "red" : "amber";
  const x = (share: number) => 4 + 392 * share;
  return (
    <svg
      viewBox="0 0 400 46"
      role="img"
      data-tone={tone}
      aria-label={`Consistency ${formatScore(value)}; thresholds ${formatScore(warn)} and ${formatScore(ok)}`}
      className="mb-3 block w-full max-w-lg"
    >
      <rect x="4" y="6" width="392" height="14" rx="3" className="fill-well stroke-rule" />
      <rect x="4" y="6" width={392 * value} height="14" rx="3" className="fill-(--tone)" />
      {[warn, ok].map((threshold) => (
        <g key={threshold}>
          <line x1={x(threshold)} x2={x(threshold)} y1="2" y2="26" className="stroke-ink" strokeWidth="1.5" />
          <text x={x(threshold)} y="40" textAnchor="middle" className="fill-soft text-[11px]">
            {formatScore(threshold)}
          </text>
        </g>
      ))}
    </svg>
  );
}
