import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { queries } from "@/api/queries";
import type { EvaluatorQuality } from "@/api/types";
import { TextLink } from "@/components/Button";
import { Details } from "@/components/Details";
import { FactRows, PageTitle, Table, TD } from "@/components/layout";
import { Empty, Loading, Notice, PageError } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { checkTitle, pluralize } from "@/lib/format";
import { useFilters } from "@/lib/useFilters";

const TITLE = "Evaluator quality";
const KINDS: Record<string, string> = { passed: "Passed", failed: "Failed", split: "Votes were split" };

/** How well evaluators agree with the people who review their reports. */
export function CalibrationPage() {
  const id = useId();
  const [params, update] = useFilters();
  const blind = params.get("blind") === "1";
  const { data, error, refetch } = useQuery(queries.calibration(blind));
  if (error) return <PageError title={TITLE} error={error} onRetry={refetch} />;
  return (
    <>
      <PageTitle lead="How often an evaluator and the people who review its reports come to the same result, and the share of texts that pass once its errors are corrected. Every figure has an interval: with few reviews it is wide.">
        {TITLE}
      </PageTitle>
      <p className="mb-5 flex items-center gap-2">
        <input
          id={id}
          type="checkbox"
          checked={blind}
          onChange={(event) => update({ blind: event.target.checked ? "1" : "" })}
        />
        <label htmlFor={id}>Count only decisions that were made without seeing the evaluator’s result</label>
      </p>
      {data ? <Rows rows={data.checks} /> : <Loading label="the reviews" />}
    </>
  );
}

function Rows({ rows }: { rows: readonly EvaluatorQuality[] }) {
  if (!rows.length) {
    return (
      <Empty title="Nothing was reviewed yet">
        Review a report: accept or change the result of a check. What reviewers decide is compared with the evaluator
        here.
      </Empty>
    );
  }
  return (
    <div className="space-y-8">
      {rows.map((row) => (
        <QualityCard key={`${row.playbook_hash} ${row.check_id} ${row.evaluator}`} row={row} />
      ))}
    </div>
  );
}

function QualityCard({ row }: { row: EvaluatorQuality }) {
  const id = useId();
  return (
    <article aria-labelledby={id} className="rounded border border-rule bg-card px-5 py-4">
      <h2 id={id} className="text-xl [overflow-wrap:anywhere]">
        <VisibleText>{checkTitle(row.check_id)}</VisibleText>
      </h2>
      <p className="mt-1 text-soft">
        <VisibleText>{`${row.evaluator}, playbook ${row.playbook_id} ${row.playbook_version}`}</VisibleText>
      </p>
      <p className="mt-3">{row.reviewed_sentence}</p>
      {row.notices.map((notice) => (
        <div key={notice} className="mt-3">
          <Notice>{notice}</Notice>
        </div>
      ))}
      <div className="mt-3">
        <FactRows
          facts={[
            { name: "Texts that pass, by the evaluator", value: row.judged_pass_rate },
            { name: "Texts that pass, corrected by reviews", value: row.corrected_pass_rate },
            ...row.measures.map(({ name, value }) => ({ name: capitalize(name), value })),
          ]}
        />
      </div>
      <div className="mt-4">
        <Table
          label={`Reviews of ${checkTitle(row.check_id)} by ${row.evaluator}`}
          columns={["Evaluator’s result", "Reports", "Drawn and reviewed", "Pass", "Fail", "Unclear"]}
          small
        >
          {row.counts.map((item) => (
            <tr key={item.verdict}>
              <td className={TD}>{KINDS[item.verdict] ?? item.verdict}</td>
              <td className={TD}>{item.reports}</td>
              <td className={TD}>{item.drawn}</td>
              <td className={TD}>{item.passed}</td>
              <td className={TD}>{item.failed}</td>
              <td className={TD}>{item.unclear}</td>
            </tr>
          ))}
        </Table>
      </div>
      {row.reviewers.map((sentence) => (
        <p key={sentence} className="mt-3">
          <VisibleText>{sentence}</VisibleText>
        </p>
      ))}
      <div className="mt-4 space-y-2">
        <Reports title="Passed by the evaluator, failed by reviewers" reports={row.wrongly_passed} />
        <Reports title="Failed by the evaluator, passed by reviewers" reports={row.wrongly_failed} />
        <Reports title="Review next, drawn at random" reports={row.review_next} />
      </div>
    </article>
  );
}

function Reports({ title, reports }: { title: string; reports: readonly string[] }) {
  if (!reports.length) return null;
  return (
    <Details title={`${title}: ${pluralize(reports.length, "report")}`}>
      <ul className="space-y-1">
        {reports.map((id) => (
          <li key={id}>
            <TextLink to={`/reports/${encodeURIComponent(id)}`}>{id}</TextLink>
          </li>
        ))}
      </ul>
    </Details>
  );
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
