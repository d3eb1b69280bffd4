import type { Report, ReportLabels } from "@/api/types";
import type { Tone } from "@/components/Badge";
import { FactRows, Section, TextList } from "@/components/layout";
import { Tooltip } from "@/components/Tooltip";
import { formatScore } from "@/lib/format";

export function Variance({ report, labels }: { report: Report; labels: ReportLabels }) {
  const variance = report.variance_summary;
  if (report.execution_mode === "screening") return null;
  return (
    <Section
      title="Variance"
      id="variance"
      aside={<Tooltip label="About variance">{labels.evaluator_variance}</Tooltip>}
    >
      {labels.shows_consistency && variance.consistency_score !== null ? (
        <ConsistencyScale
          value={variance.consistency_score}
          ok={variance.threshold_ok}
          warn={variance.threshold_warn}
        />
      ) : null}
      <FactRows facts={labels.variance} />
      <p className="mt-3 text-soft">{variance.note}</p>
      <p className="hidden print:block">{labels.evaluator_variance}</p>
      {labels.shows_consistency ? (
        <>
          <h3 className="mt-4 mb-1 font-semibold">Divergent findings</h3>
          <TextList items={variance.divergent_findings} emptyText="None." />
        </>
      ) : null}
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
