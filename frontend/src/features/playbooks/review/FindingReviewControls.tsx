import { useState } from "react";
import type { FindingReview, ReviewEvent } from "@/api/types";
import { Button } from "@/components/Button";
import { VisibleText } from "@/components/VisibleText";
import { ForRole } from "@/features/account/roles";
import { formatTime } from "@/lib/format";
import { StepForm } from "./forms";
import { useReviewerName } from "./reviewer";
import type { ReviewActions } from "./useReview";

export function Comments({ events }: { events: readonly ReviewEvent[] }) {
  if (!events.length) return null;
  return (
    <ul className="mt-2 space-y-1.5">
      {events.map((event) => (
        <li key={event.event_id} className="foreign border-edge border-l-2 pl-3">
          <span className="text-sm text-soft">
            <VisibleText>{event.actor}</VisibleText>, {formatTime(event.at)}:
          </span>{" "}
          <VisibleText>{event.reason || "(the text was erased)"}</VisibleText>
        </li>
      ))}
    </ul>
  );
}

const PASSAGE_STATES: Record<FindingReview["standing"], string> = {
  undecided: "",
  accepted: "Accepted",
  overridden: "Rejected",
  disputed: "The reviewers disagree",
};

interface FindingReviewControlsProps {
  actions: ReviewActions;
  /** The check that quotes it; null for a finding in the text that no check made. */
  checkId: string | null;
  /** What it is called: "passage" or "finding". */
  name: string;
  quote: string;
  finding: FindingReview;
}

/** One passage or finding with its own decision and comments. */
export function FindingReviewControls({ actions, checkId, name, quote, finding }: FindingReviewControlsProps) {
  const [reviewer] = useReviewerName();
  const [open, setOpen] = useState<"accept" | "override" | "comment" | null>(null);
  const { number, standing, decisions, comments } = finding;
  const place = { check_id: checkId, finding: number };
  const close = () => setOpen(null);
  const accept = () => actions.add({ action: "accept", ...place }, close);
  const common = { isPending: actions.isPending, onCancel: close };
  return (
    <li>
      <blockquote className="foreign border-(--color-mark-deep) border-l-[3px] pl-3">
        <VisibleText>{quote}</VisibleText>
      </blockquote>
      {decisions.map((decision) => (
        <p key={decision.event_id} className="foreign mt-1 font-semibold">
          {standing === "disputed"
            ? decision.action === "accept"
              ? "Accepted"
              : "Rejected"
            : PASSAGE_STATES[standing]}{" "}
          by <VisibleText>{`${decision.actor}${decision.reason ? `: ${decision.reason}` : ""}`}</VisibleText>
        </p>
      ))}
      <Comments events={comments} />
      <ForRole needs="reviewer">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a visible legend for every passage */}
        <div
          role="group"
          aria-label={`${name === "passage" ? "Passage" : "Finding"} ${number}`}
          className="mt-1 flex flex-wrap gap-2 print:hidden"
        >
          <Button
            variant="text"
            disabled={actions.isPending}
            onClick={() => (reviewer.trim() ? accept() : setOpen("accept"))}
          >
            Accept
          </Button>
          <Button variant="text" onClick={() => setOpen("override")}>
            Reject …
          </Button>
          <Button variant="text" onClick={() => setOpen("comment")}>
            Comment …
          </Button>
        </div>
      </ForRole>
      {open === "accept" ? (
        <StepForm {...common} label={`Accept ${name} ${number}`} submit="Accept" onSubmit={accept} />
      ) : null}
      {open === "override" ? (
        <StepForm
          {...common}
          label={`Reject ${name} ${number}`}
          text={`Why is this ${name} rejected?`}
          isTextRequired
          submit={`Reject the ${name}`}
          onSubmit={({ text }) => actions.add({ action: "override", ...place, reason: text }, close)}
        />
      ) : null}
      {open === "comment" ? (
        <StepForm
          {...common}
          label={`Comment on ${name} ${number}`}
          text="Comment"
          isTextRequired
          submit="Add the comment"
          onSubmit={({ text }) => actions.add({ action: "comment", ...place, reason: text }, close)}
        />
      ) : null}
    </li>
  );
}
