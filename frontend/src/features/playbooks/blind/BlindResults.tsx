import { useQuery } from "@tanstack/react-query";
import { queries } from "@/api/queries";
import type { BlindCheckResult, BlindReviewResult, BlindSeries } from "@/api/types";
import { TextLink } from "@/components/Button";
import { Details } from "@/components/Details";
import { FactRows, Table, TD, TextList } from "@/components/layout";
import { ErrorNotice, Loading, Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { capitalize, pluralize } from "@/lib/format";

const KINDS = { passed: "Passed", failed: "Failed", split: "Split votes" };

/** How well people agree with each other and with the evaluator, by check. */
export function BlindResults({ series, reviewer }: { series: BlindSeries; reviewer: string }) {
  const { playbook_hash, evaluator } = series;
  const { data, error, isPending, refetch } = useQuery(queries.blindResults({ playbook_hash, evaluator, reviewer }));
  if (error) return <ErrorNotice error={error} onRetry={refetch} />;
  if (isPending) return <Loading label="the results" />;
  return <Results result={data} />;
}

function Results({ result }: { result: BlindReviewResult }) {
  const isDecided = ({ kinds }: BlindCheckResult) => kinds.some(({ decided }) => decided > 0);
  if (!result.checks.some(isDecided)) {
    return (
      <>
        <p className="text-soft">Nobody has decided a check blind.</p>
        <Notes notes={result.notes} />
      </>
    );
  }
  return (
    <div className="space-y-6">
      <div>
        <h3 className="mb-2 font-semibold">Reviewers with each other</h3>
        <TextList items={result.reviewers} emptyText="No two reviewers have decided the same check yet." />
      </div>
      <Notes notes={result.notes} />
      {result.checks.map((check) => (
        <CheckResult key={check.check_id} check={check} />
      ))}
    </div>
  );
}

function Notes({ notes }: { notes: readonly string[] }) {
  if (!notes.length) return null;
  return (
    <div className="mt-2">
      <h3 className="mb-2 font-semibold">Not counted</h3>
      <TextList items={notes} emptyText="" />
    </div>
  );
}

function CheckResult({ check }: { check: BlindCheckResult }) {
  return (
    <section aria-label={check.title} className="space-y-3">
      <h3 className="font-semibold">
        <VisibleText>{check.title}</VisibleText>: the evaluator and people
      </h3>
      {check.notices.map((notice) => (
        <Notice key={notice}>{notice}</Notice>
      ))}
      <FactRows
        facts={[
          { name: "Passed by the evaluator", value: check.passed_by_evaluator },
          { name: "People would pass", value: check.corrected },
          ...(check.advice ? [{ name: "To settle it", value: check.advice }] : []),
          ...check.measures.map((measure) => ({ ...measure, name: capitalize(measure.name) })),
        ]}
      />
      <Table
        label={`Decisions on ${check.title}`}
        small
        columns={["By the evaluator", "Texts", "Decided", "Pass", "Fail", "Unclear"]}
      >
        {check.kinds.map((row) => (
          <tr key={row.kind}>
            <td className={TD}>{KINDS[row.kind]}</td>
            <td className={TD}>{row.questions}</td>
            <td className={TD}>{row.decided}</td>
            <td className={TD}>{row.passed}</td>
            <td className={TD}>{row.failed}</td>
            <td className={TD}>{row.unclear}</td>
          </tr>
        ))}
      </Table>
      <WrongResults title="Passed by the evaluator, failed by people" reports={check.wrongly_passed} />
      <WrongResults title="Failed by the evaluator, passed by people" reports={check.wrongly_failed} />
    </section>
  );
}

function WrongResults({ title, reports }: { title: string; reports: readonly string[] }) {
  if (!reports.length) return null;
  return (
    <Details title={`${title}: ${pluralize(reports.length, "report")}`}>
      <ul className="space-y-1">
        {reports.map((report) => (
          <li key={report}>
            <TextLink to={`/reports/${report}`}>{`Report ${report}`}</TextLink>
          </li>
        ))}
      </ul>
    </Details>
  );
}
