import { useState } from "react";
import type { Report, ReportReview, Result, ReviewStep } from "@/api/types";
import { Badge, Label, type Tone } from "@/components/Badge";
import { Button, TextLink } from "@/components/Button";
import { Details } from "@/components/Details";
import { Section } from "@/components/layout";
import { ErrorNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { ForRole, useHasRole } from "@/features/account/roles";
import { pluralize } from "@/lib/format";
import { Comments, FindingReviewControls } from "./FindingReviewControls";
import { NameField, reviewOneByOne, StepForm } from "./forms";
import { useReviewerName } from "./reviewer";
import { type ReviewActions, useReview } from "./useReview";

/** The review of a report as a whole: both results, comments, who should look at it, sign-offs and the history. */
export function ReviewSection({ report }: { report: Report }) {
  const actions = useReview(report.report_id);
  const { review, error } = actions;
  if (error) return <ErrorNotice error={error} />;
  if (!review) return null;
  return (
    <Section
      title="Review and sign-off"
      id="review"
      aside={
        <ForRole needs="reviewer">
          <TextLink to="/review" className="text-link underline print:hidden">
            All that waits for review
          </TextLink>
        </ForRole>
      }
    >
      <p className="font-semibold">{review.headline}</p>
      {review.reviewed_status !== review.evaluator_status ? (
        <p className="mt-2 flex flex-wrap items-center gap-2">
          <Badge value={review.evaluator_status} /> by the evaluator, <Badge value={review.reviewed_status} /> after the
          review.
        </p>
      ) : null}
      {review.assignee ? <p className="mt-2">The report is assigned to {review.assignee}.</p> : null}
      <Comments events={review.comments} />
      <TextFindings actions={actions} report={report} review={review} />
      <SignOffs review={review} />
      <ForRole needs="reviewer">
        <ReportSteps actions={actions} review={review} />
      </ForRole>
      {actions.refusal ? (
        <div className="mt-3">
          <ErrorNotice error={actions.refusal} />
        </div>
      ) : null}
      {review.history.length ? (
        <div className="mt-4">
          <Details title={`Review history: ${pluralize(review.history.length, "step")}`}>
            <History actions={actions} steps={review.history} />
          </Details>
        </div>
      ) : null}
    </Section>
  );
}

/** Findings in the text that no check made, such as hidden text, each with its own decision. */
function TextFindings({ actions, report, review }: { actions: ReviewActions; report: Report; review: ReportReview }) {
  if (!review.findings.length) return null;
  return (
    <div className="mt-4 text-sm">
      <Details
        title={`${pluralize(review.findings.length, "finding")} in the text: ${reviewOneByOne(review.findings.length)}`}
      >
        <ol className="space-y-3">
          {review.findings.map((finding) => (
            <FindingReviewControls
              key={finding.number}
              actions={actions}
              checkId={null}
              name="finding"
              quote={report.artifact_findings[finding.number - 1]?.message ?? ""}
              finding={finding}
            />
          ))}
        </ol>
      </Details>
    </div>
  );
}

const SIGN_OFF_STATES: Record<ReportReview["sign_offs"][number]["sign_off"]["standing"], { text: string; tone: Tone }> =
  {
    valid: { text: "covers the current state", tone: "green" },
    stale: { text: "something changed since", tone: "amber" },
    withdrawn: { text: "withdrawn", tone: "grey" },
  };

function SignOffs({ review }: { review: ReportReview }) {
  if (!review.sign_offs.length) return <p className="mt-3 text-soft">Nobody has signed off this report.</p>;
  return (
    <ul className="mt-3 space-y-2" aria-label="Sign-offs">
      {review.sign_offs.map(({ sign_off: { event, standing }, sentence }) => (
        <li key={event.event_id} className="foreign rounded border border-rule bg-card px-4 py-2">
          <VisibleText>{sentence}</VisibleText>{" "}
          <Label tone={SIGN_OFF_STATES[standing].tone}>{SIGN_OFF_STATES[standing].text}</Label>
          <p className="mt-1 text-sm text-soft [overflow-wrap:anywhere]">
            What was signed: <code>{event.state_hash}</code>
          </p>
        </li>
      ))}
    </ul>
  );
}

type ReportForm = "comment" | "assign" | "sign_off" | null;

function ReportSteps({ actions, review }: { actions: ReviewActions; review: ReportReview }) {
  const [open, setOpen] = useState<ReportForm>(null);
  // What the reviewer saw when the form was opened is what they sign, whatever arrives while they write.
  const [seenHash, setSeenHash] = useState(review.state_hash);
  const close = () => setOpen(null);
  const common = { isPending: actions.isPending, onCancel: close };
  return (
    <div className="mt-4 print:hidden">
      <NameField />
      <div className="mt-3 flex flex-wrap gap-2">
        <Button
          variant="primary"
          aria-expanded={open === "sign_off"}
          onClick={() => {
            setSeenHash(review.state_hash);
            setOpen("sign_off");
          }}
        >
          Sign off …
        </Button>
        <Button aria-expanded={open === "comment"} onClick={() => setOpen("comment")}>
          Comment on the report …
        </Button>
        <Button aria-expanded={open === "assign"} onClick={() => setOpen("assign")}>
          Assign the report …
        </Button>
      </div>
      {open === "sign_off" ? (
        <>
          <p className="mt-3 max-w-prose text-sm">
            You sign this report with all decisions and comments so far
            {review.undecided ? `; ${pluralize(review.undecided, "check is", "checks are")} not decided yet` : ""}. Your
            sign-off stays in the history; you can withdraw or amend it. It is marked if something changes afterwards.
          </p>
          <StepForm
            {...common}
            label="Sign off the report"
            text="Statement (optional)"
            submit="Sign off"
            onSubmit={({ text }) => actions.add({ action: "sign_off", reason: text, state_hash: seenHash }, close)}
          />
        </>
      ) : null}
      {open === "comment" ? (
        <StepForm
          {...common}
          label="Comment on the report"
          text="Comment"
          isTextRequired
          submit="Add the comment"
          onSubmit={({ text }) => actions.add({ action: "comment", reason: text }, close)}
        />
      ) : null}
      {open === "assign" ? (
        <StepForm
          {...common}
          label="Assign the report"
          person={{
            label: "Who should look at it? (empty: nobody)",
            suggestions: review.reviewers,
            initial: review.assignee ?? "",
          }}
          submit="Assign"
          onSubmit={({ person }) => actions.add({ action: "assign", assignee: person.trim() || null }, close)}
        />
      ) : null}
    </div>
  );
}

function History({ actions, steps }: { actions: ReviewActions; steps: readonly ReviewStep[] }) {
  return (
    <ol className="space-y-2">
      {steps.map((step) => (
        <HistoryStep key={step.event.event_id} actions={actions} step={step} />
      ))}
    </ol>
  );
}

const OTHER_RESULTS: readonly Result[] = ["pass", "fail", "indeterminate"];

function HistoryStep({ actions, step }: { actions: ReviewActions; step: ReviewStep }) {
  const [name] = useReviewerName();
  const [open, setOpen] = useState<"withdraw" | "amend" | null>(null);
  const [seenHash, setSeenHash] = useState("");
  const { event, sentence, withdrawn, changeable } = step;
  const isOwn = useHasRole("reviewer") && changeable && event.actor === name.trim();
  const close = () => setOpen(null);
  const amend = () => {
    setSeenHash(actions.review?.state_hash ?? "");
    setOpen("amend");
  };
  const common = { isPending: actions.isPending, onCancel: close };
  const evaluatorResult = actions.review?.checks.find(({ review }) => review.check_id === event.check_id)?.review
    .evaluator_result;
  const isOverride = event.action === "override" && event.result !== null;
  const results = OTHER_RESULTS.filter((result) => result !== evaluatorResult);
  return (
    <li className="foreign">
      <span className={withdrawn ? "line-through" : ""}>
        <VisibleText>{sentence}</VisibleText>
      </span>
      {withdrawn ? " (withdrawn)" : ""}
      {isOwn ? (
        <span className="ml-2 print:hidden">
          <Button variant="inline" className="text-sm" onClick={amend}>
            Amend …
          </Button>
          <Button variant="inline" className="text-sm" onClick={() => setOpen("withdraw")}>
            Withdraw …
          </Button>
        </span>
      ) : null}
      {open === "withdraw" ? (
        <StepForm
          {...common}
          label={`Withdraw step ${event.sequence}`}
          text="Reason (optional)"
          submit="Withdraw it"
          onSubmit={({ text }) => actions.add({ action: "withdraw", target: event.event_id, reason: text }, close)}
        />
      ) : null}
      {open === "amend" ? (
        <StepForm
          {...common}
          label={`Amend step ${event.sequence}`}
          {...(isOverride ? { results: [...results].sort((a) => (a === event.result ? -1 : 0)) } : {})}
          {...(event.action === "assign"
            ? {
                person: {
                  label: "Who should look at it?",
                  suggestions: actions.review?.reviewers ?? [],
                  initial: event.assignee ?? "",
                },
              }
            : { text: "New text", isTextRequired: event.action !== "sign_off" })}
          initialText={event.reason}
          submit="Record the amendment"
          onSubmit={({ text, result, person }) =>
            actions.add(
              {
                action: "amend",
                target: event.event_id,
                reason: text,
                result,
                assignee: person.trim() || null,
                state_hash: event.action === "sign_off" ? seenHash : null,
              },
              close,
            )
          }
        />
      ) : null}
    </li>
  );
}
