import { Link } from "react-router";
import { api } from "@/api/client";
import type { StoredReport } from "@/api/types";
import { Button, DownloadLink } from "@/components/Button";
import { ForRole } from "@/features/account/roles";
import { IntegrityMenu } from "../audit/IntegrityMenu";
import { ShareMenu } from "../sharing/ShareMenu";
import { BaselineMenu } from "./BaselineMenu";
import { DeleteMenu } from "./DeleteMenu";

/** The actions on a report. To hand it on is the first of them. */
export function Actions({ stored }: { stored: StoredReport }) {
  const { report_id: id, subject } = stored.report;
  return (
    <div className="mt-5 flex flex-wrap items-center gap-2 print:hidden">
      <Button variant="primary" onClick={() => window.print()}>
        Print or save as PDF
      </Button>
      <ForRole needs="reviewer">
        <Button onClick={goToReview}>Review and sign off</Button>
      </ForRole>
      <DownloadLink href={api.reportExportUrl(id, "html")}>HTML</DownloadLink>
      <DownloadLink href={api.reportExportUrl(id, "md")}>Markdown</DownloadLink>
      <DownloadLink href={api.reportExportUrl(id, "json")}>Export JSON</DownloadLink>
      <IntegrityMenu reportId={id} />
      <ForRole needs="reviewer">
        <ShareMenu reportId={id} />
        <BaselineMenu stored={stored} />
      </ForRole>
      <ForRole needs="admin">
        <DeleteMenu stored={stored} />
      </ForRole>
      <Link to={`/timeline?subject=${encodeURIComponent(subject)}`} className="px-2 text-link underline">
        Timeline of this subject
      </Link>
    </div>
  );
}

function goToReview(): void {
  const section = document.getElementById("review");
  section?.scrollIntoView({ block: "start" });
  section?.querySelector<HTMLElement>("input, button")?.focus({ preventScroll: true });
}
