import { useMutation, useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { useLocation } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { SharedReport } from "@/api/types";
import { Button } from "@/components/Button";
import { Disclaimers } from "@/components/Disclaimers";
import { PageTitle } from "@/components/layout";
import { ErrorNotice, Loading, Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { SharedReviewContext } from "@/features/account/sharedView";
import { formatTime } from "@/lib/format";
import { ReportView } from "../report/ReportView";

const TOKEN = /^#([\w-]{43})$/;

/** One report for whoever has its link. It needs no login, and asks the server for nothing but this report. */
export function SharedPage() {
  const { hash } = useLocation();
  // Links within the page also change what follows the #.
  const token = useRef("");
  token.current = TOKEN.exec(hash)?.[1] ?? token.current;
  return (
    <div className="mx-auto w-full max-w-[92rem] px-4 py-6 sm:px-8 print:p-0">
      <p className="mb-4 font-semibold font-serif text-2xl print:hidden">Salvo</p>
      <main>{token.current ? <Shared key={token.current} token={token.current} /> : <BrokenLink />}</main>
      <footer className="mt-9 text-sm text-soft">
        <p className="border-rule border-t pt-4">BYOP (Bring Your Own Playbook) by Vasile Tiple, CC BY 4.0.</p>
      </footer>
    </div>
  );
}

function BrokenLink() {
  return (
    <PageTitle lead="Part of its address is missing. Copy the whole link, with all that follows the #.">
      This link is incomplete
    </PageTitle>
  );
}

function Shared({ token }: { token: string }) {
  const { data, error, refetch } = useQuery(queries.sharedReport(token));
  if (error) {
    return (
      <>
        <Disclaimers />
        <PageTitle>Shared report</PageTitle>
        <ErrorNotice error={error} onRetry={() => refetch()} />
      </>
    );
  }
  if (!data) return <Loading label="the shared report" />;
  return (
    <SharedReviewContext value={data.review}>
      <ReportView stored={data.report} actions={<SharedActions shared={data} token={token} />} />
    </SharedReviewContext>
  );
}

const FORMATS = [
  { format: "html", text: "HTML" },
  { format: "md", text: "Markdown" },
  { format: "json", text: "Export JSON" },
] as const;

function SharedActions({ shared, token }: { shared: SharedReport; token: string }) {
  const id = shared.report.report.report_id;
  const download = useMutation({
    mutationFn: async (format: (typeof FORMATS)[number]["format"]) =>
      save(await api.sharedExport(token, format), `byop-report-${id}.${format}`),
  });
  return (
    <>
      <div className="mt-5">
        <Notice tone="grey">
          <strong>Shared view, until {formatTime(shared.expires_at)}.</strong> Shared by{" "}
          <VisibleText>{shared.shared_by}</VisibleText>
          {shared.authenticated ? "" : " (name not authenticated)"}. You can read and export this report; the link opens
          nothing else.
        </Notice>
      </div>
      <div className="mt-3 flex flex-wrap items-center gap-2 print:hidden">
        <Button variant="primary" onClick={() => window.print()}>
          Print or save as PDF
        </Button>
        {FORMATS.map(({ format, text }) => (
          <Button key={format} disabled={download.isPending} onClick={() => download.mutate(format)}>
            {text}
          </Button>
        ))}
      </div>
      {download.error ? <ErrorNotice error={download.error} /> : null}
    </>
  );
}

/** Save a file that was fetched. */
function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
