import { useNavigate } from "react-router";
import { Button } from "./Button";

/** Toggle one id; the selection keeps the last two. */
export function toggleSelection(selected: readonly string[], id: string): readonly string[] {
  return selected.includes(id) ? selected.filter((other) => other !== id) : [...selected, id].slice(-2);
}

/** The checkbox that adds a row to the selection. */
export function SelectionCheckbox({
  name,
  checked,
  onChange,
}: {
  name: string;
  checked: boolean;
  onChange: () => void;
}) {
  return (
    <input
      type="checkbox"
      className="size-4 accent-link"
      aria-label={`Select ${name} to compare`}
      checked={checked}
      onChange={onChange}
    />
  );
}

/** The status of a selection of two, with a button that opens the comparison at `path`. */
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
  // Ids grow with time, so the older one comes first.
  const [a, b] = [...selected].sort();
  return (
    <div role="status" className="mb-3 flex min-h-10 flex-wrap items-center gap-3">
      {selected.length === 0 ? <span className="text-soft">Select two to compare them.</span> : null}
      {selected.length === 1 ? <span className="text-soft">One selected. Select another to compare.</span> : null}
      {a && b ? (
        <Button variant="primary" onClick={() => navigate(`${path}?a=${a}&b=${b}`)}>
          Compare selected
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
