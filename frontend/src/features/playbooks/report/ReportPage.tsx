import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import { ApiError } from "@/api/errors";
import { queries } from "@/api/queries";
import { ButtonLink } from "@/components/Button";
import { Loading, PageError } from "@/components/states";
import { JudgesSection } from "../judges/JudgesSection";
import { Actions } from "./Actions";
import { ReportView } from "./ReportView";

export function ReportPage() {
  const { id = "" } = useParams();
  const { data, error, refetch } = useQuery(queries.report(id));
  if (error) {
    return (
      <PageError title="Report" error={error} onRetry={refetch}>
        <p className="mt-4">
          {error instanceof ApiError && error.status === 404 ? (
            <ButtonLink to="/history">Look for it in the history</ButtonLink>
          ) : (
            <ButtonLink to={`/evaluations/${id}`}>Show the status of the evaluation</ButtonLink>
          )}
        </p>
      </PageError>
    );
  }
  if (!data) return <Loading label="the report" />;
  return (
    <ReportView
      key={id}
      stored={data}
      actions={<Actions stored={data} />}
      judges={<JudgesSection reportId={data.report.report_id} hasTexts={data.texts !== null} />}
    />
  );
}
