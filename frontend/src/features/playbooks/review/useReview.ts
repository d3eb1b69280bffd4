import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { ReportReview, ReviewCreate } from "@/api/types";
import { useSharedReview } from "@/features/account/sharedView";
import { useReviewerName } from "./reviewer";

/** A step without its actor. Without `seen`, the reviewer has seen what the page shows now. */
export type StepDraft = Omit<ReviewCreate, "actor">;

export interface ReviewActions {
  review: ReportReview | undefined;
  error: Error | null;
  /** Why the last step was refused. */
  refusal: Error | null;
  isPending: boolean;
  add: (step: StepDraft, onDone?: () => void) => void;
}

/** The review of a report, and how to add a step to it in the reviewer's name. */
export function useReview(reportId: string): ReviewActions {
  const client = useQueryClient();
  const [actor] = useReviewerName();
  const shared = useSharedReview();
  const { data, error } = useQuery({ ...queries.review(reportId), enabled: shared === null });
  const review = shared ?? data;
  const mutation = useMutation({
    mutationFn: (step: StepDraft) =>
      api.addReviewEvent(reportId, { seen: review?.last_sequence ?? 0, ...step, actor: actor.trim() }),
    onSuccess: (updated) => {
      client.setQueryData(queries.review(reportId).queryKey, updated);
      return client.invalidateQueries({ queryKey: ["review-queue"] });
    },
    // It may have been refused because somebody else was faster: show what they did.
    onError: () => client.invalidateQueries({ queryKey: queries.review(reportId).queryKey }),
  });
  return {
    review,
    error,
    refusal: mutation.error,
    isPending: mutation.isPending,
    add: (step, onDone) => mutation.mutate(step, onDone ? { onSuccess: onDone } : undefined),
  };
}
