import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { api } from "@/api/client";
import type { StoredReport } from "@/api/types";
import { Button, DownloadLink } from "@/components/Button";
import { ErrorNotice } from "@/components/states";
import { formatTime } from "@/lib/format";

/** The actions on a report. */
export function Actions({ stored }: { stored: StoredReport }) {
  const { report_id: id, subject } = stored.report;
  return (
    <div className="mt-5 flex flex-wrap items-center gap-2 print:hidden">
      <Baseline stored={stored} />
      <DownloadLink href={api.reportExportUrl(id, "json")}>Export JSON</DownloadLink>
      <DownloadLink href={api.reportExportUrl(id, "html")}>HTML</DownloadLink>
      <DownloadLink href={api.reportExportUrl(id, "md")}>Markdown</DownloadLink>
      <Button onClick={() => window.print()}>Print</Button>
      <Link to={`/timeline?subject=${encodeURIComponent(subject)}`} className="px-2 text-link underline">
        Timeline of this subject
      </Link>
    </div>
  );
}

/** The series of texts whose subject nobody named. Its reports are listed, but never compared. */
const UNNAMED_SUBJECT = "default";

function Baseline({ stored }: { stored: StoredReport }) {
  const client = useQueryClient();
  const { report, baseline_since: since, baseline_refused: refused } = stored;
  const id = report.report_id;
  const change = useMutation({
    mutationFn: () => (since ? api.clearBaseline(id) : api.saveBaseline(id)),
    onSuccess: () => client.invalidateQueries(),
  });
  if (refused && !since) return <span className="text-sm text-soft">{refused}</span>;
  return (
    <>
      <Button variant={since ? "secondary" : "primary"} onClick={() => change.mutate()} disabled={change.isPending}>
        {since ? "Remove as Baseline" : "Save as Baseline"}
      </Button>
      <span role="status" className="text-sm text-soft empty:hidden">
        {since ? `Baseline since ${formatTime(since)}.` : ""}
        {since && report.subject === UNNAMED_SUBJECT ? " Nothing is compared with it: no subject was named." : ""}
      </span>
      {change.error ? <ErrorNotice error={change.error} /> : null}
    </>
  );
}
