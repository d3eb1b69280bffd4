import { useNavigate } from "react-router";
import { Button } from "./Button";

/** At most two of a list, the last two that were picked. */
export function toggleSelection(selected: readonly string[], id: string): readonly string[] {
  return selected.includes(id) ? selected.filter((other) => other !== id) : [...selected, id].slice(-2);
}

/** What two of a list are picked for: to be compared, at `address`. */
export function CompareSelection({
  selected,
  path,
  onClear,
}: {
  selected: readonly string[];
  path: string;
  onClear: () => void;
}) {
  const navigate = useNavigate();
  // Ids grow with time: the older one is the first.
  const [a, b] = [...selected].sort();
  return (
    <div role="status" className="mb-3 flex min-h-10 flex-wrap items-center gap-3">
      {selected.length === 0 ? <span className="text-soft">Pick two to compare them.</span> : null}
      {selected.length === 1 ? <span className="text-soft">One is picked; pick another to compare.</span> : null}
      {a && b ? (
        <Button variant="primary" onClick={() => navigate(`${path}?a=${a}&b=${b}`)}>
          Compare the two
        </Button>
      ) : null}
      {selected.length ? (
        <Button variant="text" onClick={onClear}>
          Clear
        </Button>
      ) : null}
    </div>
  );
}
