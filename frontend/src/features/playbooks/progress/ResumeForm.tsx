import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { api } from "@/api/client";
import type { Evaluation } from "@/api/types";
import { Button } from "@/components/Button";
import { Form } from "@/components/Form";
import { ErrorNotice } from "@/components/states";
import { useDraft } from "../evaluate/draft";
import { KeyField } from "../KeyField";

/** Requests the missing votes. The server does not keep the API key, so it must be entered again. */
export function ResumeForm({
  evaluation,
  onResumed,
}: {
  evaluation: Pick<Evaluation, "id" | "evaluator" | "needs_key">;
  onResumed?: () => void;
}) {
  const { apiKey } = useDraft();
  const navigate = useNavigate();
  const client = useQueryClient();
  const resume = useMutation({
    mutationFn: () => api.resumeEvaluation(evaluation.id, evaluation.needs_key ? apiKey.trim() : ""),
    gcTime: 0,
    onSuccess: ({ id }) => {
      client.removeQueries({ queryKey: ["evaluations", id] });
      if (id === evaluation.id && onResumed) onResumed();
      else navigate(`/evaluations/${id}`);
    },
  });
  return (
    <Form
      className="space-y-3 rounded border border-rule bg-card p-4"
      isPending={resume.isPending}
      onSubmit={() => resume.mutate()}
    >
      {evaluation.needs_key ? <KeyField provider={evaluation.evaluator} /> : null}
      <Button type="submit" variant="primary" disabled={resume.isPending || (evaluation.needs_key && !apiKey.trim())}>
        {resume.isPending ? "Resuming …" : "Resume: request missing votes"}
      </Button>
      {resume.error ? <ErrorNotice error={resume.error} /> : null}
    </Form>
  );
}
