import { useId, useState } from "react";
import { Details } from "@/components/Details";
import { useDraft } from "./draft";
import { MAX_RUNS, usePlaybookRuns } from "./playbookRuns";

/** How many times each check is judged, and whether the texts are stored. */
export function StorageChoice() {
  const id = useId();
  const { draft, change } = useDraft();
  const fewest = usePlaybookRuns(draft) ?? 1;
  // Open when something is chosen here, and stay open when the user takes it back.
  const isChosen = Boolean(draft.runs || draft.hashes_only);
  const [opened, setOpened] = useState(isChosen);
  if (isChosen && !opened) setOpened(true);
  return (
    <Details title="Runs and storage" open={opened}>
      <div className="space-y-4">
        {draft.mode === "full" ? (
          <div>
            <label htmlFor={`${id}-runs`} className="font-semibold">
              Runs per check
            </label>
            <input
              id={`${id}-runs`}
              type="number"
              min={fewest}
              max={MAX_RUNS}
              className="field"
              value={draft.runs}
              placeholder="as the playbook says"
              aria-describedby={`${id}-about-runs`}
              onChange={(event) => change({ runs: event.target.value })}
            />
            <p id={`${id}-about-runs`} className="text-sm text-soft">
              How many times each check is judged, from {fewest} to {MAX_RUNS}. More runs show better how consistent the
              evaluator is, and cost more.
            </p>
          </div>
        ) : null}
        <label className="flex items-start gap-3">
          <input
            type="checkbox"
            className="mt-1.5 size-4 accent-link"
            checked={draft.hashes_only}
            onChange={(event) => change({ hashes_only: event.target.checked })}
          />
          <span>
            <span className="block font-semibold">Store no texts</span>
            <span className="block text-sm text-soft">
              Only hashes, results and positions are stored. The report then shows neither the text nor quotes, and an
              interrupted evaluation cannot be resumed. Whoever has the text can still prove that it is the one that was
              evaluated.
            </span>
          </span>
        </label>
      </div>
    </Details>
  );
}
