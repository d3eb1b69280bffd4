import { useQuery } from "@tanstack/react-query";
import { queries } from "@/api/queries";
import type { LabelResult } from "@/api/types";
import { Details } from "@/components/Details";
import { FactRows, Table, TD } from "@/components/layout";
import { StatusBanner } from "@/components/StatusBanner";
import { ErrorNotice, Loading, Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { capitalize, pluralize } from "@/lib/format";
import { VerdictBadge, verdictTone } from "../Badges";
import { RunLink } from "../RunLink";

const VERDICTS = { pass: "passed", fail: "failed", inconclusive: "inconclusive" } as const;
const KINDS = { passed: "Judged passed", failed: "Judged failed", split: "Split votes" };

/** The corrected pass rate with its interval, and how well the judge agrees with people. */
export function LabelResults({ batchId }: { batchId: string }) {
  const { data, error, isPending, refetch } = useQuery(queries.labels(batchId));
  if (error) return <ErrorNotice error={error} onRetry={refetch} />;
  if (isPending) return <Loading label="the labels" />;
  if (!data) return <p className="text-soft">No run was completed, so there is nothing to label.</p>;
  return <Results result={data} />;
}

function Results({ result }: { result: LabelResult }) {
  const verdict = VERDICTS[result.verdict];
  return (
    <div className="space-y-5">
      <StatusBanner
        label="Verdict by labels"
        tone={verdictTone(verdict)}
        badge={<VerdictBadge verdict={verdict} large />}
      >
        <p className="font-semibold first-letter:uppercase">{result.sentence}.</p>
        {result.required ? null : <p className="mt-1">The verdict of the batch is the judge’s.</p>}
      </StatusBanner>
      <FactRows facts={[{ name: "Corrected pass rate", value: result.corrected }]} />
      <Table
        label="Labels by verdict"
        columns={["Verdict of the judge", "Runs", "Labelled", "Pass", "Fail", "Unclear"]}
      >
        {result.strata.map((row) => (
          <tr key={row.verdicts}>
            <td className={TD}>{KINDS[row.verdicts]}</td>
            <td className={TD}>{row.runs}</td>
            <td className={TD}>{row.labelled}</td>
            <td className={TD}>{row.passed}</td>
            <td className={TD}>{row.failed}</td>
            <td className={TD}>{row.unclear}</td>
          </tr>
        ))}
      </Table>
      {result.decided_without_judge ? (
        <p className="text-soft">
          {pluralize(result.decided_without_judge, "run")} whose outcome no judge can change: not labelled.
        </p>
      ) : null}
      {result.judges.map((judge) => (
        <div key={judge.assertion}>
          <h3 className="mb-2 font-semibold">
            The judge “<VisibleText>{judge.assertion}</VisibleText>” and people
          </h3>
          {judge.notices.map((notice) => (
            <Notice key={notice}>{notice}</Notice>
          ))}
          <FactRows facts={judge.measures.map(({ name, value }) => ({ name: capitalize(name), value }))} />
          <WrongVerdicts title="Passed by the judge, failed by people" runs={judge.wrongly_passed} />
          <WrongVerdicts title="Failed by the judge, passed by people" runs={judge.wrongly_failed} />
        </div>
      ))}
      {result.reviewers.map((sentence) => (
        <p key={sentence}>
          <VisibleText>{sentence}</VisibleText>
        </p>
      ))}
    </div>
  );
}

function WrongVerdicts({ title, runs }: { title: string; runs: readonly string[] }) {
  if (!runs.length) return null;
  return (
    <div className="mt-2">
      <Details title={`${title}: ${pluralize(runs.length, "run")}`}>
        <ul className="space-y-1">
          {runs.map((run) => (
            <li key={run}>
              <RunLink id={run} />
            </li>
          ))}
        </ul>
      </Details>
    </div>
  );
}
