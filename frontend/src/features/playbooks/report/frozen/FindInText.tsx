import { useId } from "react";
import { Button } from "@/components/Button";
import { pluralize } from "@/lib/format";
import { MAX_MATCHES } from "./matches";

interface FindInTextProps {
  query: string;
  onQuery: (query: string) => void;
  /** How many passages match, and the index of the one that is shown; -1 for none. */
  matches: number;
  current: number;
  onStep: (by: 1 | -1) => void;
}

/** Finds words in the evaluated text: of a long text, the browser's own search sees only the part on the screen. */
export function FindInText({ query, onQuery, matches, current, onStep }: FindInTextProps) {
  const id = useId();
  return (
    <search className="flex flex-wrap items-center gap-2 text-sm">
      <label htmlFor={id}>Find</label>
      <input
        id={id}
        type="search"
        className="field w-44 py-0.5"
        value={query}
        onChange={(event) => onQuery(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          onStep(event.shiftKey ? -1 : 1);
        }}
      />
      {query ? (
        <>
          <Button className="px-2 py-0.5 text-sm" onClick={() => onStep(-1)} disabled={!matches}>
            Previous match
          </Button>
          <Button className="px-2 py-0.5 text-sm" onClick={() => onStep(1)} disabled={!matches}>
            Next match
          </Button>
          <span role="status" className="text-soft">
            {current < 0 ? matchCount(matches) : `Match ${current + 1} of ${matches.toLocaleString("en")}`}
          </span>
        </>
      ) : null}
    </search>
  );
}

function matchCount(matches: number): string {
  if (!matches) return "No matches";
  return matches < MAX_MATCHES
    ? pluralize(matches, "match", "matches")
    : `The first ${pluralize(matches, "match", "matches")}`;
}
