import { useEffect } from "react";
import { TextInput } from "@/components/TextInput";
import { VisibleText } from "@/components/VisibleText";
import { useUserName } from "@/features/account/userName";
import { useReviewerName } from "../review/reviewer";
import { useDraft } from "./draft";

/** Who is named as the reviewer in the report: who is logged in, or else a name that is typed once per browser. */
export function ReviewerField() {
  const { draft, change } = useDraft();
  const user = useUserName();
  const [reviewer, rememberReviewer] = useReviewerName();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, so that the field can be emptied
  useEffect(() => change((current) => ({ reviewer: current.reviewer || reviewer })), []);
  if (user !== null) {
    return (
      <div>
        <p className="font-semibold">Reviewer</p>
        <p className="mt-1">
          <VisibleText>{user}</VisibleText>
        </p>
        <p className="text-sm text-soft">Reports have the name with which you are logged in.</p>
      </div>
    );
  }
  return (
    <TextInput
      prominent
      label="Reviewer"
      hint="Your name, as it should stand in the report. This browser remembers it."
      value={draft.reviewer}
      maxLength={500}
      autoComplete="off"
      onChange={(name) => {
        change({ reviewer: name });
        rememberReviewer(name);
      }}
    />
  );
}
