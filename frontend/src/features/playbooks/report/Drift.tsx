import type { Report, ReportLabels } from "@/api/types";
import { Badge } from "@/components/Badge";
import { TextLink } from "@/components/Button";
import { FactRows, Section, Table, TD, TextList } from "@/components/layout";
import { VisibleText } from "@/components/VisibleText";
import { useSharedReview } from "@/features/account/sharedView";
import { checkTitle, formatTime } from "@/lib/format";

export function Drift({ report, labels }: { report: Report; labels: ReportLabels }) {
  const drift = report.drift_summary;
  const isShared = useSharedReview() !== null;
  // The labels have the time as the exports print it; the page shows it in the local time zone.
  const facts = labels.drift_facts.map((fact) =>
    fact.value === drift.baseline_timestamp ? { ...fact, value: formatTime(fact.value) } : fact,
  );
  return (
    <Section title="Drift" id="drift">
      <p className="mb-2 font-semibold">{labels.drift}</p>
      {drift.baseline_id ? (
        <>
          <FactRows facts={facts} />
          {isShared ? null : (
            <p className="mt-3 flex flex-wrap gap-x-5 print:hidden">
              <TextLink to={`/reports/${drift.baseline_id}`}>Open the baseline</TextLink>
              <TextLink to={`/compare?a=${drift.baseline_id}&b=${report.report_id}`}>
                Compare with the baseline
              </TextLink>
            </p>
          )}
        </>
      ) : null}
      {drift.changed_checks.length ? (
        <div className="mt-3">
          <Table
            label="Checks that changed from the baseline"
            columns={["Check", "Severity", "Before", "Now", "Change"]}
            small
          >
            {drift.changed_checks.map((check) => (
              <tr key={check.check_id}>
                <td className={TD}>
                  <VisibleText>{checkTitle(check.check_id)}</VisibleText>
                </td>
                <td className={TD}>{check.severity}</td>
                <td className={TD}>
                  <Badge value={check.before} />
                </td>
                <td className={TD}>
                  <Badge value={check.now} />
                </td>
                <td className={TD}>{check.worse ? "worse" : "not worse"}</td>
              </tr>
            ))}
          </Table>
        </div>
      ) : null}
      {drift.notes.length ? (
        <div className="mt-3">
          <TextList items={drift.notes} emptyText="" />
        </div>
      ) : null}
    </Section>
  );
}
