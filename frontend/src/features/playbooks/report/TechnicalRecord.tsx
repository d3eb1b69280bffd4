import { useMemo } from "react";
import type { Report, StoredReport } from "@/api/types";
import { Details } from "@/components/Details";
import { LongText } from "@/components/LongText";
import { type Fact, FactRows, Section, TextList } from "@/components/layout";
import { RawJson } from "@/components/RawJson";
import { Variance } from "./Variance";
import { Votes } from "./Votes";

/** How the results came about, for auditors: folded away from those who only read the results. */
export function TechnicalRecord({ stored }: { stored: StoredReport }) {
  const { report, labels, texts } = stored;
  const file = useMemo(() => ({ byop_report: stored.document }), [stored]);
  return (
    <Section title="Technical record">
      <Details title="Evaluation, variance, votes, hashes and raw JSON">
        <FactRows facts={evaluationFacts(report)} />
        <h3 className="mt-5 mb-1 font-semibold">Rules that gave the status</h3>
        <TextList items={labels.status_reasons} emptyText="None." />
        <h3 className="mt-5 mb-1 font-semibold">Key risks</h3>
        <TextList items={report.summary.key_risks} emptyText={labels.no_key_risks} />
        <h3 className="mt-5 mb-1 font-semibold">Uncertainty</h3>
        <TextList items={report.uncertainty} emptyText="None recorded." />
        <Variance report={report} labels={labels} />
        <h3 className="mt-5 mb-1 font-semibold">Votes</h3>
        <Votes checks={report.check_results} labels={labels} />
        <h3 className="mt-5 mb-1 font-semibold">Integrity</h3>
        <FactRows facts={labels.integrity.map((fact) => ({ ...fact, copy: fact.value.startsWith("sha256:") }))} />
        <h3 className="mt-5 mb-1 font-semibold">Evaluator (measured)</h3>
        <FactRows facts={labels.evaluator} />
        <h3 className="mt-5 mb-1 font-semibold">Producer (declared by the requester)</h3>
        <FactRows facts={labels.producer} />
        <h3 className="mt-5 mb-1 font-semibold">Spent</h3>
        <FactRows facts={labels.spending} />
        <div className="mt-5 space-y-2">
          {(["source_document", "prompt", "system_instructions"] as const).map((name) =>
            texts?.[name] ? (
              <Details key={name} title={INPUT_LABELS[name]}>
                <LongText text={texts[name]} label={INPUT_LABELS[name]} mono={false} expanded />
              </Details>
            ) : null,
          )}
          <RawJson value={file} />
        </div>
      </Details>
    </Section>
  );
}

function evaluationFacts(report: Report): Fact[] {
  return [
    { name: "Playbook", value: `${report.playbook_id} ${report.playbook_version}`, code: true },
    { name: "Mode", value: report.execution_mode },
    { name: "Subject", value: report.subject },
    { name: "Evaluator", value: report.evaluator, code: true },
    { name: "Report", value: report.report_id, code: true },
  ];
}

const INPUT_LABELS = {
  source_document: "Source document",
  prompt: "Prompt",
  system_instructions: "System instructions",
};
