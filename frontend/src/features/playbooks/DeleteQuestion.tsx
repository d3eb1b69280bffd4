import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "@/api/client";
import { Button } from "@/components/Button";
import { ErrorNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";

interface DeleteQuestionProps {
  id: string;
  title: string;
  /** Whether the report is a baseline. */
  baseline: boolean;
  onDeleted?: () => void;
  /** Without it, there is no button to keep the evaluation. */
  onClose?: () => void;
}

/** Says what is erased and what stays, before anything is. */
export function DeleteQuestion({ id, title, baseline, onDeleted, onClose }: DeleteQuestionProps) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.deleteReport(id),
    onSuccess: () => {
      onDeleted?.();
      return Promise.all(CHANGED.map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
  });
  return (
    <div role="alertdialog" aria-label={`Delete ${title}`} className="rounded border border-red p-4">
      <p className="font-semibold [overflow-wrap:anywhere]">
        Delete <VisibleText>{title}</VisibleText>?
      </p>
      <p className="my-2 max-w-prose text-sm">
        Its texts, votes, report and what reviewers wrote about it are erased
        {baseline ? ", and it is no longer a baseline" : ""}. This cannot be undone. The audit log stays: it has hashes,
        results and names such as the subject, no texts, and records who erased what and when.
      </p>
      <div className="flex flex-wrap gap-3">
        <Button onClick={() => remove.mutate()} disabled={remove.isPending}>
          {remove.isPending ? "Deleting …" : "Delete it"}
        </Button>
        {onClose ? (
          <Button variant="text" onClick={onClose}>
            Keep it
          </Button>
        ) : null}
      </div>
      {remove.error ? <ErrorNotice error={remove.error} /> : null}
    </div>
  );
}

/** The lists that show the evaluation. */
const CHANGED = ["history", "subjects", "timeline", "document-batches", "review-queue", "audit-log"];
