import { Link } from "react-router";
import type { Report } from "@/api/types";
import { Badge } from "@/components/Badge";
import { Listed, Rows, Section, Table, TD } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { title } from "@/lib/format";
import { DRIFTS, driftFacts } from "./words";

export function Drift({ report }: { report: Report }) {
  const of = report.drift_summary;
  return (
    <Section title="Drift" id="drift">
      <p className="mb-2 font-semibold">{DRIFTS[of.kind]}</p>
      {of.baseline_id ? (
        <>
          <Rows of={driftFacts(of)} />
          <p className="mt-3 flex flex-wrap gap-x-5 print:hidden">
            <Link to={`/reports/${of.baseline_id}`} className="text-link underline">
              Open the baseline
            </Link>
            <Link to={`/compare?a=${of.baseline_id}&b=${report.report_id}`} className="text-link underline">
              Compare with it side by side
            </Link>
          </p>
        </>
      ) : null}
      {of.changed_checks.length ? (
        <div className="mt-3">
          <Table
            label="Checks that changed against the baseline"
            columns={["Check", "Severity", "Before", "Now", "Change"]}
            small
          >
            {of.changed_checks.map((check) => (
              <tr key={check.check_id}>
                <td className={TD}>
                  <Seen>{title(check.check_id)}</Seen>
                </td>
                <td className={TD}>{check.severity}</td>
                <td className={TD}>
                  <Badge of={check.before} />
                </td>
                <td className={TD}>
                  <Badge of={check.now} />
                </td>
                <td className={TD}>{check.worse ? "worse" : "not worse"}</td>
              </tr>
            ))}
          </Table>
        </div>
      ) : null}
      {of.notes.length ? (
        <div className="mt-3">
          <Listed of={of.notes} none="" />
        </div>
      ) : null}
    </Section>
  );
}
