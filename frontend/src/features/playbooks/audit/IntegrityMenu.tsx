import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import { Button, DownloadLink, TextLink } from "@/components/Button";
import { CopyButton } from "@/components/CopyButton";
import { Menu } from "@/components/Menu";
import { ErrorNotice } from "@/components/states";
import { VerificationResult } from "./VerificationResult";

/** Verify a report, and download a file of it that this server signed. */
export function IntegrityMenu({ reportId }: { reportId: string }) {
  const [opened, setOpened] = useState(false);
  return (
    <Menu title="Verify the record" onToggle={(open) => open && setOpened(true)}>
      {opened ? (
        <>
          <VerifyReport reportId={reportId} />
          <SignedFiles reportId={reportId} />
          <p>
            <TextLink to={`/audit?evaluation=${reportId}`}>Audit log of this evaluation</TextLink>
          </p>
        </>
      ) : null}
    </Menu>
  );
}

function VerifyReport({ reportId }: { reportId: string }) {
  const verify = useMutation({ mutationFn: () => api.verifyReport(reportId), gcTime: 0 });
  return (
    <section aria-label="Verify" className="space-y-2">
      <p className="text-sm">
        Everything that is stored of this report is hashed again and compared with the audit log.
      </p>
      <Button onClick={() => verify.mutate()} disabled={verify.isPending}>
        {verify.isPending ? "Verifying …" : "Verify this report"}
      </Button>
      {verify.error ? <ErrorNotice error={verify.error} /> : null}
      {verify.data ? <VerificationResult verification={verify.data} /> : null}
    </section>
  );
}

function SignedFiles({ reportId }: { reportId: string }) {
  const { data, error } = useQuery(queries.signingKey());
  return (
    <section aria-label="Sign" className="space-y-2 border-rule border-t pt-3">
      <h3 className="font-semibold">Signed file</h3>
      {error ? <ErrorNotice error={error} /> : null}
      {data && data.public_key === null ? <p className="text-sm text-soft">{data.problem}</p> : null}
      {data?.public_key ? (
        <>
          <p className="text-sm">
            This server signs every byte of the file, with the reviews so far. The signature shows that the file comes
            from this server and is unchanged. It does not show that a person agrees: that is a sign-off.
          </p>
          <div className="flex flex-wrap gap-2">
            <DownloadLink href={api.reportExportUrl(reportId, "html", true)}>Signed HTML</DownloadLink>
            <DownloadLink href={api.reportExportUrl(reportId, "md", true)}>Signed Markdown</DownloadLink>
            <DownloadLink href={api.reportExportUrl(reportId, "json", true)}>Signed JSON</DownloadLink>
          </div>
          <p className="text-sm [overflow-wrap:anywhere]">
            Public key: <code>{data.public_key}</code> <CopyButton text={data.public_key} label="the public key" />
            <br />
            Whoever receives the file checks it with <code>byop verify FILE --public-key KEY</code>.
          </p>
        </>
      ) : null}
    </section>
  );
}
