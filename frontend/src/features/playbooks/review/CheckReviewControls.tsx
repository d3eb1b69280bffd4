import { useState } from "react";
import type { CheckResult, CheckReview, FindingReview, Result } from "@/api/types";
import { Badge } from "@/components/Badge";
import { Button } from "@/components/Button";
import { Details } from "@/components/Details";
import { ErrorNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { ForRole } from "@/features/account/roles";
import { checkTitle, pluralize } from "@/lib/format";
import { Comments, FindingReviewControls } from "./FindingReviewControls";
import { RESULT_LABELS, reviewOneByOne, StepForm } from "./forms";
import { useReviewerName } from "./reviewer";
import { type ReviewActions, useReview } from "./useReview";

const RESULTS: readonly Result[] = ["pass", "fail", "indeterminate"];

export type OpenForm = "accept" | "override" | "comment" | "assign" | null;

/** What reviewers decided about a check, and the buttons to decide it: for a card of the report. */
export function CheckReviewControls({ reportId, check }: { reportId: string; check: CheckResult }) {
  const actions = useReview(reportId);
  const [open, setOpen] = useState<OpenForm>(null);
  return <CheckReviewPanel actions={actions} check={check} open={open} onOpen={setOpen} />;
}

interface CheckReviewPanelProps {
  actions: ReviewActions;
  check: CheckResult;
  open: OpenForm;
  onOpen: (form: OpenForm) => void;
  /** Called when a step was recorded. */
  onDone?: ((form: OpenForm) => void) | undefined;
}

export function CheckReviewPanel({ actions, check, open, onOpen, onDone }: CheckReviewPanelProps) {
  const [name] = useReviewerName();
  const detail = actions.review?.checks.find(({ review }) => review.check_id === check.check_id);
  if (!detail || !actions.review) return null;
  const { review, sentence } = detail;
  const title = checkTitle(check.check_id);
  const finish = (form: OpenForm) => () => {
    onOpen(null);
    onDone?.(form);
  };
  const accept = () => actions.add({ action: "accept", check_id: check.check_id }, finish("accept"));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a visible legend in every card
    <div role="group" aria-label={`Review of ${title}`} className="mt-4 border-rule border-t pt-3">
      <Decision review={review} sentence={sentence} />
      {review.assignee ? <p className="mt-1 text-sm">Assigned to {review.assignee}.</p> : null}
      <Comments events={review.comments} />
      <ForRole needs="reviewer">
        <div className="mt-2 flex flex-wrap gap-2 print:hidden">
          {review.derived ? null : (
            <>
              <Button
                className="text-sm"
                disabled={actions.isPending}
                onClick={() => (name.trim() ? accept() : onOpen("accept"))}
              >
                Accept {RESULT_LABELS[check.result]}
              </Button>
              <Button className="text-sm" aria-expanded={open === "override"} onClick={() => onOpen("override")}>
                Change the result …
              </Button>
            </>
          )}
          <Button className="text-sm" aria-expanded={open === "comment"} onClick={() => onOpen("comment")}>
            Comment …
          </Button>
          <Button className="text-sm" aria-expanded={open === "assign"} onClick={() => onOpen("assign")}>
            Assign …
          </Button>
        </div>
      </ForRole>
      {open ? (
        <CheckForm
          key={open}
          open={open}
          actions={actions}
          check={check}
          review={review}
          finish={finish}
          onOpen={onOpen}
        />
      ) : null}
      {actions.refusal ? (
        <div className="mt-2">
          <ErrorNotice error={actions.refusal} />
        </div>
      ) : null}
      <Passages actions={actions} check={check} findings={review.findings} />
    </div>
  );
}

function Decision({ review, sentence }: { review: CheckReview; sentence: string }) {
  if (!sentence) {
    return (
      <p className="text-sm text-soft">
        {review.derived
          ? "Reviewers do not decide this check: it is computed from the evaluator’s other results. Once people have decided every other check, it no longer counts in the result after review."
          : "No reviewer has decided this check yet."}
      </p>
    );
  }
  return (
    <p className="foreign font-semibold">
      <span className="mr-2">
        <Badge value={review.reviewed_result} />
      </span>
      <VisibleText>{sentence}</VisibleText>
    </p>
  );
}

interface CheckFormProps {
  open: Exclude<OpenForm, null>;
  actions: ReviewActions;
  check: CheckResult;
  review: CheckReview;
  finish: (form: OpenForm) => () => void;
  onOpen: (form: OpenForm) => void;
}

function CheckForm({ open, actions, check, review, finish, onOpen }: CheckFormProps) {
  const title = checkTitle(check.check_id);
  const common = { isPending: actions.isPending, onCancel: () => onOpen(null) };
  // What arrives while the reviewer writes was not seen, and is not replaced.
  const [seen] = useState(actions.review?.last_sequence ?? 0);
  const place = { check_id: check.check_id, seen };
  if (open === "accept") {
    return (
      <StepForm
        {...common}
        label={`Accept the result of ${title}`}
        submit={`Accept ${RESULT_LABELS[check.result]}`}
        onSubmit={() => actions.add({ action: "accept", ...place }, finish(open))}
      />
    );
  }
  if (open === "override") {
    return (
      <StepForm
        {...common}
        label={`Change the result of ${title}`}
        results={RESULTS.filter((result) => result !== check.result)}
        text="Reason"
        isTextRequired
        submit="Record the change"
        onSubmit={({ result, text }) =>
          actions.add({ action: "override", ...place, result, reason: text }, finish(open))
        }
      />
    );
  }
  if (open === "comment") {
    return (
      <StepForm
        {...common}
        label={`Comment on ${title}`}
        text="Comment"
        isTextRequired
        submit="Add the comment"
        onSubmit={({ text }) => actions.add({ action: "comment", ...place, reason: text }, finish(open))}
      />
    );
  }
  return (
    <StepForm
      {...common}
      label={`Assign ${title}`}
      person={{
        label: "Who should look at it? (empty: nobody)",
        suggestions: actions.review?.reviewers ?? [],
        initial: review.assignee ?? "",
      }}
      submit="Assign"
      onSubmit={({ person }) =>
        actions.add({ action: "assign", ...place, assignee: person.trim() || null }, finish(open))
      }
    />
  );
}

interface PassagesProps {
  actions: ReviewActions;
  check: CheckResult;
  findings: readonly FindingReview[];
}

/** Each quoted passage with its own decision: a reviewer may reject one of several. */
function Passages({ actions, check, findings }: PassagesProps) {
  if (!findings.length) return null;
  const decided = findings.filter(({ standing }) => standing !== "undecided").length;
  const title = `${pluralize(findings.length, "passage")}: ${reviewOneByOne(findings.length)}${decided ? ` (${decided} decided)` : ""}`;
  return (
    <div className={`mt-3 text-sm ${decided ? "" : "print:hidden"}`}>
      <Details title={title}>
        <ol className="space-y-3">
          {findings.map((finding) => (
            <FindingReviewControls
              key={finding.number}
              actions={actions}
              checkId={check.check_id}
              name="passage"
              quote={`“${check.evidence_citations[finding.number - 1]?.span ?? ""}”`}
              finding={finding}
            />
          ))}
        </ol>
      </Details>
    </div>
  );
}
