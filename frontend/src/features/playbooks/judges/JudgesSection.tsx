import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { JudgeTable } from "@/api/types";
import { Badge, Label } from "@/components/Badge";
import { Button } from "@/components/Button";
import { Details } from "@/components/Details";
import { ScrollRegion, Section } from "@/components/layout";
import { ErrorNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { ForRole } from "@/features/account/roles";
import { type Judge, judgeRequest, useDraft } from "../evaluate/draft";
import { EvaluatorFields } from "../evaluate/EvaluatorChoice";

/** Who else judged the same text, where they agree, and a form to ask another one. */
export function JudgesSection({ reportId, hasTexts }: { reportId: string; hasTexts: boolean }) {
  const { data, error, refetch } = useQuery(queries.judges(reportId));
  return (
    <Section title="Other judges">
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {data && data.reports.length > 1 ? <Agreement table={data} current={reportId} /> : null}
      {data && data.reports.length === 1 ? (
        <p className="text-soft">Nobody else has judged this text with this playbook.</p>
      ) : null}
      <ForRole needs="reviewer">
        {" "}
        <div className="mt-4 print:hidden">
          {hasTexts ? (
            <Details title="Evaluate again with another judge">
              <AgainForm reportId={reportId} />
            </Details>
          ) : (
            <p className="text-soft">Only hashes of the text are stored, so it cannot be evaluated again.</p>
          )}
        </div>
      </ForRole>{" "}
    </Section>
  );
}

function Agreement({ table, current }: { table: JudgeTable; current: string }) {
  return (
    <>
      <p className="mb-3">{table.summary}</p>
      <ScrollRegion label="Results by judge">
        <table className="w-full text-left">
          <thead>
            <tr className="border-edge border-b align-bottom">
              <th scope="col" className="px-3 py-2">
                Check
              </th>
              {table.reports.map((report) => (
                <th key={report.report_id} scope="col" className="px-3 py-2 font-normal">
                  {report.report_id === current ? (
                    <span>
                      <VisibleText>{report.evaluator}</VisibleText> <span className="text-soft">(this report)</span>
                    </span>
                  ) : (
                    <Link to={`/reports/${report.report_id}`} className="text-link underline">
                      <VisibleText>{report.evaluator}</VisibleText>
                    </Link>
                  )}
                  <span className="mt-1 block">
                    <Badge value={report.status} />
                  </span>
                </th>
              ))}
              <th scope="col" className="px-3 py-2">
                Agreement
              </th>
            </tr>
          </thead>
          <tbody>
            {table.checks.map((check) => (
              <tr key={check.check_id} className="border-rule border-b">
                <th scope="row" className="px-3 py-2 font-normal">
                  <VisibleText>{check.title}</VisibleText> <span className="text-sm text-soft">{check.severity}</span>
                </th>
                {check.results.map((result, index) => (
                  <td key={table.reports[index]?.report_id} className="px-3 py-2">
                    {result ? <Badge value={result} /> : <span className="text-soft">–</span>}
                  </td>
                ))}
                <td className="px-3 py-2">
                  {check.agree === null ? <span className="text-soft">not judged by all</span> : null}
                  {check.agree === true ? <Label tone="green">agree</Label> : null}
                  {check.agree === false ? <Label tone="amber">split</Label> : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </>
  );
}

/** The key of this judge is kept in the page's memory, apart from that of the first one. */
function AgainForm({ reportId }: { reportId: string }) {
  const { secondKey, setSecondKey } = useDraft();
  const [judge, setJudge] = useState<Judge>({ evaluator: "rules", base_url: "", timeout: "" });
  const navigate = useNavigate();
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: () =>
      api.evaluateAgain(reportId, judgeRequest(judge), judge.evaluator === "rules" ? "" : secondKey.trim()),
    gcTime: 0,
    onSuccess: ({ id }) => {
      client.removeQueries({ queryKey: ["judges"] });
      navigate(`/evaluations/${id}`);
    },
  });
  return (
    <div className="max-w-md space-y-3">
      <p className="text-sm text-soft">
        The text, the playbook, the number of runs and the subject stay the same. The result is a report of its own.
      </p>
      <EvaluatorFields
        legend="Judge"
        judge={judge}
        onJudge={(part) => setJudge((now) => ({ ...now, ...part }))}
        apiKey={secondKey}
        onKey={setSecondKey}
      />
      <Button variant="primary" disabled={start.isPending} onClick={() => start.mutate()}>
        {start.isPending ? "Starting …" : "Evaluate again"}
      </Button>
      {start.error ? <ErrorNotice error={start.error} /> : null}
    </div>
  );
}
