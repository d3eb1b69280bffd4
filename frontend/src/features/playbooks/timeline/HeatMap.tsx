import type { Result, TimelineReport } from "@/api/types";
import { Badge, badgeSign, badgeTone, Label, shownStatus } from "@/components/Badge";
import { TextLink } from "@/components/Button";
import { ScrollRegion, TH } from "@/components/layout";
import { VisibleText } from "@/components/VisibleText";
import { checkTitle, formatConsistency, formatTime, meaningfulConsistency } from "@/lib/format";
import { checksOf, textChange } from "./columns";

const HEAD = "sticky left-0 z-10 border-rule border-r border-b bg-card px-3 py-2 text-left align-top";
const CELL = "border-rule border-b px-2 py-1.5 text-center align-top";

/**
 * Checks in rows, reports in columns with the newest first. A colour is never the only cue: each cell has the word.
 * `newestFirst` are all reports that are known, of which the first `shown` get a column.
 */
export function HeatMap({ newestFirst, shown }: { newestFirst: readonly TimelineReport[]; shown: number }) {
  const reports = newestFirst.slice(0, shown);
  const showConsistency = reports.some((report) => meaningfulConsistency(report) !== null);
  return (
    <ScrollRegion label="Results over time">
      <table className="w-full text-sm">
        <caption className="sr-only">
          The result of each check in each report. Each row is a check, each column a report, the newest first.
        </caption>
        <thead>
          <tr>
            <th scope="col" className={`${TH} sticky left-0 z-20 min-w-36 border-r align-top sm:min-w-52`}>
              Check
            </th>
            {reports.map((report) => (
              <th
                key={report.id}
                scope="col"
                className="min-w-30 border-rule border-b bg-well px-2 py-2 text-center align-top font-semibold text-[0.8rem]"
              >
                <TextLink to={`/reports/${report.id}`}>{formatTime(report.created_at)}</TextLink>
                {report.title ? (
                  <span className="block font-normal text-soft [overflow-wrap:anywhere]">
                    <VisibleText>{report.title}</VisibleText>
                  </span>
                ) : null}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row" className={`${HEAD} font-semibold`}>
              Overall
            </th>
            {reports.map((report) => (
              <td key={report.id} className={CELL}>
                <Overall report={report} />
              </td>
            ))}
          </tr>
          {checksOf(reports).map((check) => (
            <tr key={check}>
              <th scope="row" className={`${HEAD} font-normal`}>
                <VisibleText>{checkTitle(check)}</VisibleText>
              </th>
              {reports.map((report) => (
                <Outcome key={report.id} result={report.outcomes[check]} />
              ))}
            </tr>
          ))}
          <tr>
            <th scope="row" className={`${HEAD} font-normal text-soft`}>
              Text since its last report
            </th>
            {reports.map((report, index) => (
              <td key={report.id} className={`${CELL} text-soft`}>
                {textChange(newestFirst, index)}
              </td>
            ))}
          </tr>
          {showConsistency ? (
            <tr>
              <th scope="row" className={`${HEAD} font-normal text-soft`}>
                Agreement between the votes
              </th>
              {reports.map((report) => (
                <td key={report.id} className={`${CELL} text-soft tabular-nums`}>
                  {formatConsistency(report)}
                </td>
              ))}
            </tr>
          ) : null}
          <tr>
            <th scope="row" className={`${HEAD} border-b-0 font-normal text-soft`}>
              Evaluator
            </th>
            {reports.map((report) => (
              <td key={report.id} className={`${CELL} border-b-0 text-soft [overflow-wrap:anywhere]`}>
                <VisibleText>{report.evaluator}</VisibleText>
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function Overall({ report }: { report: TimelineReport }) {
  return (
    <span className="flex flex-col items-center gap-1">
      <Badge value={shownStatus(report)} />
      {report.baseline ? <Label tone="plain">baseline</Label> : null}
      {report.mode === "screening" ? <Label tone="plain">screening</Label> : null}
    </span>
  );
}

const WORDS: Record<Result, string> = { pass: "Pass", fail: "Fail", indeterminate: "Undecided" };

function Outcome({ result }: { result: Result | undefined }) {
  if (!result) return <td className={`${CELL} text-soft`}>not asked</td>;
  return (
    <td data-tone={badgeTone(result)} className={`${CELL} bg-(--tint) font-semibold text-(--tone)`}>
      <span aria-hidden="true">{badgeSign(result)} </span>
      {WORDS[result]}
    </td>
  );
}
