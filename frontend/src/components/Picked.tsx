import { useNavigate } from "react-router";
import { Button } from "./Button";

/** At most two of a list, the last two that were picked. */
export function pickedWith(now: readonly string[], id: string): readonly string[] {
  return now.includes(id) ? now.filter((one) => one !== id) : [...now, id].slice(-2);
}

/** What two of a list are picked for: to be compared, at `address`. */
export function Picked({ of, address, clear }: { of: readonly string[]; address: string; clear: () => void }) {
  const navigate = useNavigate();
  // Ids grow with time: the older one is the first.
  const [a, b] = [...of].sort();
  return (
    <div role="status" className="mb-3 flex min-h-10 flex-wrap items-center gap-3">
      {of.length === 0 ? <span className="text-soft">Pick two to compare them.</span> : null}
      {of.length === 1 ? <span className="text-soft">One is picked; pick another to compare.</span> : null}
      {a && b ? (
        <Button look="main" onClick={() => navigate(`${address}?a=${a}&b=${b}`)}>
          Compare the two
        </Button>
      ) : null}
      {of.length ? (
        <Button look="quiet" onClick={clear}>
          Clear
        </Button>
      ) : null}
    </div>
  );
}
