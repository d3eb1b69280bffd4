import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Link } from "react-router";
import { api } from "@/api/client";
import type { StoredReport } from "@/api/types";
import { Button } from "@/components/Button";
import { Menu } from "@/components/Menu";
import { ErrorNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatTime } from "@/lib/format";

/** The series of texts whose subject nobody named. Its reports are listed, but never compared. */
const UNNAMED_SUBJECT = "default";

/** Save the report as the baseline of its subject, after saying what that replaces; or remove it. */
export function BaselineMenu({ stored }: { stored: StoredReport }) {
  const { baseline_since: since, baseline_refused: refused } = stored;
  if (refused && !since) return <span className="text-sm text-soft">{refused}</span>;
  return (
    <Menu title="Baseline">
      {since ? <RemoveBaseline stored={stored} since={since} /> : <SaveBaseline stored={stored} />}
    </Menu>
  );
}

function RemoveBaseline({ stored, since }: { stored: StoredReport; since: string }) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.clearBaseline(stored.report.report_id),
    onSuccess: () => client.invalidateQueries(),
  });
  return (
    <>
      <p role="status">
        Baseline since {formatTime(since)}.
        {stored.report.subject === UNNAMED_SUBJECT ? " Nothing is compared with it: no subject was named." : ""}
      </p>
      <Button onClick={() => remove.mutate()} disabled={remove.isPending}>
        Remove as Baseline
      </Button>
      {remove.error ? <ErrorNotice error={remove.error} /> : null}
    </>
  );
}

function SaveBaseline({ stored }: { stored: StoredReport }) {
  const client = useQueryClient();
  const id = useId();
  const [reason, setReason] = useState("");
  const { report, labels, baseline_replaces: replaced } = stored;
  const needsReason = labels.status !== "STABLE";
  const missing = needsReason && !reason.trim();
  const save = useMutation({
    mutationFn: () => api.saveBaseline(report.report_id, reason.trim()),
    onSuccess: () => client.invalidateQueries(),
  });
  return (
    <>
      <p>
        Later reports on the subject “<VisibleText>{report.subject}</VisibleText>” are compared with the baseline.
        {report.subject === UNNAMED_SUBJECT ? " Nothing would be compared with this one: no subject was named." : ""}
      </p>
      <p>
        {replaced ? (
          <>
            It replaces the{" "}
            <Link to={`/reports/${replaced.evaluation_id}`} className="text-link underline">
              report of {formatTime(replaced.evaluated_at)}
            </Link>{" "}
            ({replaced.status}), which was saved as the baseline on {formatTime(replaced.saved_at)}.
          </>
        ) : (
          "It replaces nothing: no baseline is saved for this subject and playbook."
        )}
      </p>
      {needsReason ? (
        <div>
          <label htmlFor={id} className="font-semibold">
            Reason
          </label>
          <textarea
            id={id}
            rows={3}
            maxLength={2000}
            className="field"
            value={reason}
            aria-describedby={`${id}-about`}
            onChange={(event) => setReason(event.target.value)}
          />
          <p id={`${id}-about`} className="text-sm text-soft">
            This report is {labels.status}, not STABLE. Say why it is the baseline all the same. The audit log keeps the
            reason, also if the report is deleted.
          </p>
        </div>
      ) : null}
      <Button
        variant="primary"
        aria-disabled={missing || save.isPending}
        onClick={() => {
          if (!missing && !save.isPending) save.mutate();
        }}
      >
        Save as Baseline
      </Button>
      {save.error ? <ErrorNotice error={save.error} /> : null}
    </>
  );
}
